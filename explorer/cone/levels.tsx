/**
 * The levels of a Merkle path, from the leaf up to a root.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Level } from '../../src/stardust/provenance/provenance.ts';

/** Between two levels: slow enough to be followed. */
const LEVEL_MS = 180;

/** The hashes of a path, from the leaf up. */
export function Levels({
  levels: { leaf, levels },
}: {
  levels: { leaf: string; levels: readonly Level[] };
}) {
  const shown = useCountUp(levels.length + 1);
  return (
    <ol class="levels">
      <li>
        <span class="what">leaf</span>
        <span class="mono ours">{digits(leaf)}</span>
        <span class="hint">BLAKE2b-256 of 00 and the block’s ID</span>
      </li>
      {levels.map((level, i) => (
        <LevelRow key={level.hash} level={level} place={i + 1} isShown={i < shown} />
      ))}
    </ol>
  );
}

/** It has its place before it is shown: what stands below would move away from under the focus. */
function LevelRow({ level, place, isShown }: { level: Level; place: number; isShown: boolean }) {
  const { side, sibling, covers, isRight, hash } = level;
  const other = (
    <span class={isRight === false ? 'mono other bad' : 'mono other'}>{digits(sibling)}</span>
  );
  return (
    <li class={`${isRight === false ? 'wrong' : ''} ${isShown ? '' : 'later'}`}>
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
const digits = (hash: string): string => `${hash.slice(2, 10)}…${hash.slice(-6)}`;

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
