/**
 * A block by its ID, and the block of a transaction: where it stands, and its Merkle path.
 */

import { describeConflict } from '../cone/kinds.tsx';
import { MerklePathPanel } from '../cone/merkle-path-panel.tsx';
import { formatCount } from '../format.ts';
import {
  readBlockJson,
  readBlockMetadata,
  readExplanation,
  readIncludedBlock,
  readMilestone,
} from '../node/ledger.ts';
import type { BlockMetadata } from '../node/shapes.ts';
import { Awaited, Facts, Folded, Head, Id, To, Verdict } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';

export function BlockView({ id }: { id: string }) {
  const loaded = useLoad(() => readBlockMetadata(id), [id]);
  return (
    <Awaited
      loaded={loaded}
      kind="Block"
      id={id}
      missing="This node does not know the block: it never came, or it is older than what the node keeps."
    >
      {(metadata) => <BlockPage metadata={metadata} />}
    </Awaited>
  );
}

export function TransactionView({ id }: { id: string }) {
  const loaded = useLoad(() => readIncludedBlock(id), [id]);
  return (
    <Awaited
      loaded={loaded}
      kind="Transaction"
      id={id}
      missing="No transaction with this ID was applied here: it was in conflict, or it is older than what the node keeps."
    >
      {(metadata) => <BlockPage metadata={metadata} transactionId={id} />}
    </Awaited>
  );
}

function BlockPage({
  metadata,
  transactionId,
}: {
  metadata: BlockMetadata;
  transactionId?: string;
}) {
  const { blockId, parents, referencedByMilestoneIndex: index, whiteFlagIndex } = metadata;
  const json = useLoad(() => readBlockJson(blockId), [blockId]);
  return (
    <article class="page">
      <Head kind={transactionId === undefined ? 'Block' : 'Transaction'}>
        <Id
          id={transactionId ?? blockId}
          what={transactionId === undefined ? 'block ID' : 'transaction ID'}
        />
      </Head>
      <Facts
        rows={[
          [
            'In block',
            transactionId && (
              <Id id={blockId} what="block ID" view={{ name: 'block', id: blockId }} />
            ),
          ],
          [
            'Referenced by',
            index !== undefined && (
              <>
                <To view={{ name: 'milestone', milestone: String(index), block: blockId }}>
                  milestone {formatCount(index)}
                </To>
                {whiteFlagIndex !== undefined &&
                  `, at place ${whiteFlagIndex} of its white-flag order`}
              </>
            ),
          ],
          ['Transaction', index !== undefined && describeState(metadata)],
          [
            'Carries',
            metadata.milestoneIndex !== undefined && (
              <To view={{ name: 'milestone', milestone: String(metadata.milestoneIndex) }}>
                milestone {formatCount(metadata.milestoneIndex)}
              </To>
            ),
          ],
          [
            'Parents',
            parents.map((id) => (
              <p key={id}>
                <Id id={id} what="parent ID" view={{ name: 'block', id }} />
              </p>
            )),
          ],
        ].map(([term, value]) => [term as string, value || undefined] as const)}
      />
      {index === undefined ? (
        <Verdict tone="neutral">
          No milestone references this block yet, so there is nothing to prove about it.
        </Verdict>
      ) : (
        <Path blockId={blockId} index={index} />
      )}
      {json.state === 'done' && (
        <Folded title="Block as JSON" text={() => JSON.stringify(json.value, undefined, 2)} />
      )}
    </article>
  );
}

function describeState({ ledgerInclusionState, conflictReason }: BlockMetadata): string {
  if (ledgerInclusionState === 'included') return 'applied';
  if (ledgerInclusionState !== 'conflicting') return 'none';
  return describeConflict({
    blockId: '',
    whiteFlagIndex: 0,
    payload: 'transaction',
    ledgerInclusionState,
    conflictReason,
  });
}

/** The path needs the signed root, and all IDs of the milestone to say where it is wrong. */
function Path({ blockId, index }: { blockId: string; index: number }) {
  const read = useLoad(
    async () => ({
      milestone: await readMilestone(String(index)),
      explanation: await readExplanation(index),
    }),
    [index],
  );
  if (read.state === 'loading') return <p class="loading">Reading …</p>;
  if (read.state === 'failed') return <Verdict tone="neutral">{read.error.message}</Verdict>;
  const { milestone, explanation } = read.value;
  return (
    <MerklePathPanel
      heading="h2"
      blockId={blockId}
      ids={explanation.blocks.map((each) => each.blockId)}
      signedRoot={milestone.inclusionMerkleRoot}
    />
  );
}
