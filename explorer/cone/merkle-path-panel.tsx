/**
 * A Merkle path, hashed in the browser and shown level by level, from the block up to the root that
 * the network signed.
 */
import { useEffect, useState } from 'preact/hooks';
import { readProof } from '../node/ledger.ts';
import { Verdict } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';
import type { Level, MerklePath } from '../verify/merkle-levels.ts';

/** Between two levels: slow enough to be followed. */
const LEVEL_MS = 180;

export function MerklePathPanel({
  heading: Heading,
  blockId,
  ids,
  signedRoot,
}: {
  /** The level below what it is a part of. */
  heading: 'h2' | 'h3';
  blockId: string;
  ids: readonly string[];
  signedRoot: string;
}) {
  const path = useLoad(async () => {
    const [{ hashPath }, { proof }] = await Promise.all([
      import('../verify/verifier.ts'),
      readProof(blockId),
    ]);
    return hashPath(proof, blockId, ids, signedRoot);
  }, [blockId, signedRoot]);
  return (
    <section class="merkle" aria-labelledby="merkle-title">
      <Heading id="merkle-title">Merkle path to the signed root</Heading>
      {path.state === 'loading' && <p class="loading">Hashing …</p>}
      {path.state === 'failed' && <Verdict tone="bad">{path.error.message}</Verdict>}
      {path.state === 'done' && <Levels path={path.value} />}
    </section>
  );
}

function Levels({ path }: { path: MerklePath }) {
  const { leaf, levels, signedRoot, leadsToRoot } = path;
  const shown = useCountUp(levels.length + 1);
  const firstWrong = levels.findIndex(({ isRight }) => isRight === false);
  return (
    <>
      <ol class="levels">
        <li>
          <span class="what">leaf</span>
          <span class="mono ours">{digits(leaf)}</span>
          <span class="hint">BLAKE2b-256 of 00 and the block’s ID</span>
        </li>
        {levels.slice(0, shown).map((level, i) => (
          <LevelRow key={level.hash} level={level} place={i + 1} />
        ))}
      </ol>
      {shown > levels.length && (
        <div role="status">
          <p class="root">
            <span class="what">signed</span>
            <span class="mono">{digits(signedRoot)}</span>
          </p>
          {leadsToRoot ? (
            <Verdict tone="good">
              {levels.length === 0
                ? 'The leaf is the signed root.'
                : `${levels.length + 1} hashes lead to the signed root.`}
            </Verdict>
          ) : (
            <Verdict tone="bad">
              The path does not lead to the signed root
              {firstWrong < 0 ? '.' : `: the hash beside it is wrong at level ${firstWrong + 1}.`}
            </Verdict>
          )}
        </div>
      )}
    </>
  );
}

function LevelRow({ level, place }: { level: Level; place: number }) {
  const { side, sibling, covers, isRight, hash } = level;
  const other = (
    <span class={isRight === false ? 'mono other bad' : 'mono other'}>{digits(sibling)}</span>
  );
  return (
    <li class={isRight === false ? 'wrong' : ''}>
      <span class="what">{place}</span>
      <span class="pair">
        {side === 'left' && <>{other} + </>}
        <span class="mono ours">our hash</span>
        {side === 'right' && <> + {other}</>}
      </span>
      <span class="mono result">= {digits(hash)}</span>
      {covers !== undefined && (
        <span class="hint">
          beside it:{' '}
          {covers[0] === covers[1] ? `block ${covers[0]}` : `blocks ${covers[0]} to ${covers[1]}`}
          {isRight === false && <strong class="bad">, which hash to something else</strong>}
        </span>
      )}
    </li>
  );
}

/** Enough of a hash to compare it by eye. */
function digits(hash: string): string {
  return `${hash.slice(2, 10)}…${hash.slice(-6)}`;
}

/** Counts from 0 to `last`, a level at a time; at once for whoever wants no motion. */
function useCountUp(last: number): number {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const [count, setCount] = useState(isStill ? last : 0);
  useEffect(() => {
    if (count >= last) return undefined;
    const timer = setTimeout(() => setCount(count + 1), LEVEL_MS);
    return () => clearTimeout(timer);
  }, [count, last]);
  return count;
}
