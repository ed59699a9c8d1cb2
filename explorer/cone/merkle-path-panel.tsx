/**
 * A block by its bytes, and its Merkle path, hashed in the browser and shown level by level, from the
 * block up to a root. Only a root of a milestone that the chosen keys signed is called signed.
 */
import type { ComponentChildren } from 'preact';
import { provedValue, refute } from '../../src/stardust/provenance/proved.ts';
import type {
  BlockContent,
  BlockFacts,
  Finding,
  Proved,
} from '../../src/stardust/provenance/provenance.ts';
import { readBlockJson } from '../node/ledger.ts';
import { Folded, Id, LoadedPart, type Rows, To } from '../parts/parts.tsx';
import { CheckResult, NotChecked, ProvedFacts, SignedResult, Tick } from '../parts/standing.tsx';
import { type Loaded, useLoad } from '../use-load.ts';
import type { JudgedPath } from '../verify/judge-block.ts';
import { useKeyChoice, useNetworkName } from '../verify/key-choice.ts';
import { Levels } from './levels.tsx';

export interface Judged {
  block: Loaded<Finding<BlockContent>>;
  /** Done without a path where the block is not proved, or no milestone references it. */
  path: Loaded<JudgedPath | undefined>;
}

/** @param index of the milestone that references the block, as the node says */
export function useJudged(blockId: string, index: number | undefined): Judged {
  const choice = useKeyChoice();
  const networkName = useNetworkName();
  const block = useLoad(
    async () => (await import('../verify/verifier.ts')).readBlockContent(blockId),
    [blockId],
  );
  const proof =
    block.state === 'done' && block.value.standing === 'proved' ? block.value.proof : undefined;
  const path = useLoad(
    async () =>
      proof === undefined || index === undefined
        ? undefined
        : (await import('../verify/judge-block.ts')).judgePath(proof, index, choice, networkName),
    [proof, index, choice, networkName],
  );
  return { block, path };
}

export function JudgedBlockPanel({
  heading: Heading,
  blockId,
  judged: { block, path },
  children,
}: {
  /** The level below what it is a part of. */
  heading: 'h2' | 'h3';
  blockId: string;
  judged: Judged;
  /** What the block carries, where it is shown. */
  children?: (block: Proved<BlockContent>) => ComponentChildren;
}) {
  if (block.state === 'loading') return <p class="loading">Hashing …</p>;
  if (block.state === 'failed') return <NotChecked>{block.error.message}</NotChecked>;
  const finding = block.value;
  if (finding.standing !== 'proved') return <CheckResult finding={finding} words={() => ''} />;
  return (
    <>
      {children?.(finding.proof)}
      <ProvedFacts
        proof={finding.proof}
        label="Proved by your browser: the bytes hash to the block’s ID, and say this"
        rows={rowsOf}
      />
      {!(path.state === 'done' && path.value === undefined) && (
        <section class="merkle" aria-labelledby="merkle-title">
          <Heading id="merkle-title">Merkle path</Heading>
          <LoadedPart loaded={path}>
            {(path) => <>{path && <PathVerdicts path={path} block={finding.proof} />}</>}
          </LoadedPart>
        </section>
      )}
      <BlockJson blockId={blockId} />
    </>
  );
}

export const CARRIES = {
  none: 'nothing',
  transaction: 'a transaction',
  taggedData: 'tagged data',
  milestone: 'a milestone',
} as const;

function rowsOf({ payload, parents, transactionId, milestoneIndex }: BlockFacts): Rows {
  return [
    [
      'Carries',
      milestoneIndex === undefined ? (
        CARRIES[payload]
      ) : (
        <To view={{ name: 'milestone', milestone: String(milestoneIndex) }}>
          milestone {milestoneIndex}
        </To>
      ),
    ],
    ['Transaction ID', transactionId && <Id id={transactionId} what="transaction ID" />],
    [
      'Parents',
      parents.map((id) => (
        <p key={id}>
          <Id id={id} what="parent ID" view={{ name: 'block', id }} />
        </p>
      )),
    ],
  ];
}

/** As the node writes it: for reading, not for believing. */
function BlockJson({ blockId }: { blockId: string }) {
  const json = useLoad(() => readBlockJson(blockId), [blockId]);
  if (json.state === 'failed') return <p class="hint">{json.error.message}</p>;
  // there from the start: what stands below would move away from under the focus
  return (
    <div data-standing="said">
      <Folded
        title="Block as JSON, this node says"
        text={() =>
          json.state === 'loading' ? 'Reading …' : JSON.stringify(json.value, undefined, 2)
        }
      />
    </div>
  );
}

function PathVerdicts({ path, block }: { path: JudgedPath; block: Proved<BlockFacts> }) {
  const { signed, inclusion, applied, place, failed, levels } = path;
  const { payload } = provedValue(block);
  const firstWrong = levels?.levels.findIndex(({ isRight }) => isRight === false) ?? -1;
  return (
    <>
      <div role="status">
        <SignedResult finding={signed} />
        <CheckResult
          finding={
            inclusion.standing === 'refuted' && firstWrong >= 0
              ? refute(
                  `the path does not lead to the signed root: the hash beside it is wrong at level ${firstWrong + 1}`,
                )
              : inclusion
          }
          words={({ hashes, milestone }) =>
            `${hashes === 1 ? 'The leaf is the inclusion' : `${hashes} hashes lead to the inclusion`} root of milestone ${milestone.index} that was signed${place === undefined ? '' : `: the block is at place ${place} of its white-flag order`}.`
          }
        />
        {applied !== undefined && (
          <CheckResult
            finding={applied}
            words={({ hashes }) =>
              `${hashes === 1 ? 'The leaf is' : `${hashes} hashes lead to`} the applied root that was signed: the transaction was applied.`
            }
          />
        )}
        {applied === undefined && payload === 'transaction' && failed === undefined && (
          <NotChecked>
            what became of the transaction, as no path to the applied root came.
          </NotChecked>
        )}
        {failed !== undefined && (
          <Tick proof={failed}>
            {() =>
              'The transaction was not applied with this block, which is not among those that lead to the applied root that was signed.'
            }
          </Tick>
        )}
      </div>
      {levels !== undefined && <Levels levels={levels} />}
    </>
  );
}
