/**
 * A block by its ID, and the block of a transaction: what its bytes prove, and where it stands.
 */

import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { describeConflict } from '../cone/kinds.tsx';
import { JudgedBlock } from '../cone/merkle-path-panel.tsx';
import { NodeError } from '../node/ask.ts';
import { readBlockMetadata, readIncludedBlock } from '../node/ledger.ts';
import { type BlockMetadata, hasEnded, type Info } from '../node/shapes.ts';
import { Awaited, Facts, Head, Id, LoadedPart, To } from '../parts/parts.tsx';
import { NotChecked, SaidByNode } from '../parts/standing.tsx';
import { useLoad } from '../parts/use-load.ts';
import { useUnapplied } from '../verify/use-unapplied.ts';
import { PayloadView } from './transaction.tsx';

export function BlockView({ id, info }: { id: string; info: Info }) {
  const loaded = useLoad(() => readBlockMetadata(id), [id]);
  return (
    <Awaited
      loaded={loaded}
      kind="Block"
      id={id}
      missing={`This node does not know the block, it says: it never came, or it is older than what the node keeps.${ofThePast(info)}`}
    >
      {(metadata) => <BlockPage metadata={metadata} info={info} />}
    </Awaited>
  );
}

export function TransactionView({ id, info }: { id: string; info: Info }) {
  const loaded = useLoad(() => readIncludedBlock(id), [id]);
  const isMissing =
    loaded.state === 'failed' && loaded.error instanceof NodeError && loaded.error.status === 404;
  if (isMissing) return <UnappliedTransaction id={id} info={info} />;
  return (
    <Awaited loaded={loaded} kind="Transaction" id={id} missing="This is no transaction ID.">
      {(metadata) => <BlockPage metadata={metadata} transactionId={id.toLowerCase()} info={info} />}
    </Awaited>
  );
}

/** A node does not find by its ID what it did not apply: the page looks for it. */
function UnappliedTransaction({ id, info }: { id: string; info: Info }) {
  const { search, looked } = useUnapplied(id, info);
  const blockId = search.state === 'done' ? search.value.blockId : undefined;
  const metadata = useLoad(
    async () => (blockId === undefined ? undefined : readBlockMetadata(blockId)),
    [blockId],
  );
  if (search.state === 'loading')
    return (
      <section class="page">
        <Head kind="Transaction">Not applied</Head>
        <p class="loading" role="status">
          Looking among the transactions that failed or wait …
        </p>
      </section>
    );
  if (search.state === 'failed' || blockId === undefined)
    return (
      <section class="page missing">
        <Head kind="Transaction">{search.state === 'failed' ? 'Not answered' : 'Not found'}</Head>
        <p>
          <Id id={id} what="transaction ID" whole />
        </p>
        <p class="reason">
          This node says that it has applied no transaction with this ID, or none that it keeps:
          nothing before milestone {info.status.pruningIndex + 1}.{ofThePast(info)}
        </p>
        <p class="hint">{search.state === 'failed' ? search.error.message : looked}</p>
      </section>
    );
  return (
    <LoadedPart loaded={metadata}>
      {(found) => (
        // what was read for no block is dropped by now
        <BlockPage metadata={found!} transactionId={id.toLowerCase()} info={info} />
      )}
    </LoadedPart>
  );
}

/** What an ended network's node may lack. */
function ofThePast(info: Info): string {
  return hasEnded(info)
    ? ' The network has ended: this node has its last ledger, and of its past only what it kept.'
    : '';
}

function BlockPage({
  metadata,
  transactionId,
  info,
}: {
  metadata: Said<BlockMetadata>;
  transactionId?: string;
  info: Info;
}) {
  const { blockId, referencedByMilestoneIndex: index } = metadata.said;
  return (
    <article class="page">
      <Head
        kind={transactionId === undefined ? 'Block' : 'Transaction'}
        api={
          transactionId === undefined
            ? `/api/core/v2/blocks/${blockId}`
            : `/api/core/v2/transactions/${transactionId}/included-block`
        }
      >
        <Id
          id={transactionId ?? blockId}
          what={transactionId === undefined ? 'block ID' : 'transaction ID'}
        />
      </Head>
      <SaidByNode
        of={metadata}
        label="This node says. What of it was checked stands below."
        proof="the block’s bytes and its Merkle path."
      >
        {(said) => <SaidFacts metadata={said} isTransaction={transactionId !== undefined} />}
      </SaidByNode>
      <JudgedBlock
        heading="h2"
        blockId={blockId}
        {...(transactionId !== undefined && { transactionId })}
        milestoneIndex={index}
        said={metadata.said}
      >
        {(block) => <PayloadView block={block} metadata={metadata.said} info={info} />}
      </JudgedBlock>
      {index === undefined && (
        <NotChecked>
          where it stands. No milestone references this block{hasEnded(info) ? '' : ' yet'}, this
          node says, so there is nothing to prove about it.
        </NotChecked>
      )}
    </article>
  );
}

function SaidFacts({
  metadata,
  isTransaction,
}: {
  metadata: BlockMetadata;
  isTransaction: boolean;
}) {
  const { blockId, referencedByMilestoneIndex: index, whiteFlagIndex } = metadata;
  const conflict = metadata.conflictReason;
  return (
    <Facts
      rows={[
        [
          'In block',
          isTransaction && (
            <Id id={blockId} what="block ID" view={{ name: 'block', id: blockId }} />
          ),
        ],
        [
          'Referenced by',
          index !== undefined && (
            <>
              <To view={{ name: 'milestone', milestone: String(index), block: blockId }}>
                milestone {index}
              </To>
              {whiteFlagIndex !== undefined &&
                `, at place ${whiteFlagIndex} of its white-flag order`}
            </>
          ),
        ],
        [
          'Conflict',
          conflict !== undefined &&
            conflict !== 0 &&
            describeConflict({
              blockId,
              whiteFlagIndex: 0,
              payload: 'transaction',
              ledgerInclusionState: 'conflicting',
              conflictReason: conflict,
            }),
        ],
      ]}
    />
  );
}
