/**
 * A block by its ID, and the block of a transaction: what its bytes prove, and where it stands.
 */
import { useRef, useState } from 'preact/hooks';
import type { Sentence } from '../../client/words/sentence.ts';
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { describeReason } from '../../src/stardust/semantics/verdict.ts';
import { CARRIES, JudgedBlockPanel, useJudged } from '../cone/merkle-path-panel.tsx';
import { shorten } from '../format.ts';
import { isMissing } from '../node/ask.ts';
import { askIncludedBlock, readBlockMetadata } from '../node/ledger.ts';
import { type BlockMetadata, type Info, saysEnded } from '../node/shapes.ts';
import { Awaited, Facts, Head, Id, IdLink, LoadedPart, ReadingNote, To } from '../parts/parts.tsx';
import {
  CheckResult,
  NotChecked,
  OutcomeLine,
  RefutedMark,
  SaidByNode,
} from '../parts/standing.tsx';
import { PayloadView } from '../transaction/payload-view.tsx';
import { useLast, useLoad } from '../use-load.ts';
import type { JudgedPath } from '../verify/judge-block.ts';
import { useUnapplied } from '../verify/use-unapplied.ts';
import { networkWords } from '../words/network.tsx';
import { SentenceWords } from '../words/words.tsx';

/** Read again at each milestone of the ledger, until one references the block. */
function useMetadata(blockId: string, { status }: Info) {
  const last = useRef<{ metadata: Said<BlockMetadata>; at: number } | undefined>(undefined);
  const isSettled = last.current?.metadata.said.referencedByMilestoneIndex !== undefined;
  const at = isSettled ? last.current!.at : status.confirmedMilestone.index;
  const load = async () => {
    const metadata = await readBlockMetadata(blockId).catch((error: unknown) => {
      // the next reading may succeed
      if (last.current === undefined || isMissing(error)) throw error;
      return last.current.metadata;
    });
    last.current = { metadata, at };
    return metadata;
  };
  return useLast(useLoad(load, [blockId, at]))[0];
}

export function BlockView({ id, info }: { id: string; info: Info }) {
  const loaded = useMetadata(id, info);
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

export function TransactionOfBlock({ id, info }: { id: string; info: Info }) {
  const loaded = useLoad(() => askIncludedBlock(id), [id]);
  if (loaded.state === 'failed' && isMissing(loaded.error))
    return <UnappliedTransaction id={id} info={info} />;
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
  if (search.state === 'loading')
    return (
      <section class="page">
        <Head kind="Transaction">Looking for it</Head>
        <ReadingNote words="Looking among the transactions that failed or wait …" />
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
  return <UnappliedBlock transactionId={id.toLowerCase()} blockId={blockId} info={info} />;
}

function UnappliedBlock(props: { transactionId: string; blockId: string; info: Info }) {
  const metadata = useMetadata(props.blockId, props.info);
  return (
    <LoadedPart loaded={metadata}>
      {(found) => <BlockPage metadata={found} {...props} />}
    </LoadedPart>
  );
}

/** What an ended network's node may lack. */
function ofThePast(info: Info): string {
  return saysEnded(info)
    ? ' The network has ended: this node has its last ledger, and of its past only what it kept.'
    : '';
}

interface PageProps {
  metadata: Said<BlockMetadata>;
  transactionId?: string;
  info: Info;
}

function BlockPage({ metadata, transactionId, info }: PageProps) {
  const { blockId, referencedByMilestoneIndex: index, ledgerInclusionState } = metadata.said;
  const judged = useJudged(blockId, index);
  const [sentence, setSentence] = useState<Sentence>();
  const isTransaction = transactionId !== undefined;
  const isApplied = ledgerInclusionState === 'included';
  const facts =
    judged.block.state === 'done' && judged.block.value.standing === 'proved'
      ? provedValue(judged.block.value.proof)
      : undefined;
  const networkId = facts?.parsed.transaction?.value.essence.networkId;
  // what is proved of a block says nothing of a transaction that the block does not carry
  const isItsBlock = !isTransaction || facts?.transactionId === transactionId;
  const path = isItsBlock && judged.path.state === 'done' ? judged.path.value : undefined;
  const isOther = !isItsBlock && facts !== undefined;
  const { block } = judged;
  const isForged = block.state === 'done' && block.value.standing === 'refuted';
  const faults = isOther
    ? [`Block ${blockId} does not carry transaction ${transactionId}.`]
    : contradictionsOf(metadata.said, path);
  const shown = withProved(metadata.said, path);
  return (
    <article class="page">
      <Head
        kind={isTransaction ? 'Transaction' : 'Block'}
        title={shorten(transactionId ?? blockId)}
        api={
          isTransaction && isApplied
            ? `/api/core/v2/transactions/${transactionId}/included-block`
            : `/api/core/v2/blocks/${blockId}`
        }
        id={
          <Id id={transactionId ?? blockId} what={isTransaction ? 'transaction ID' : 'block ID'} />
        }
      >
        {!isTransaction ? (
          facts === undefined ? (
            'A block'
          ) : (
            `A block that carries ${CARRIES[facts.payload]}`
          )
        ) : sentence === undefined ? (
          'A transaction'
        ) : (
          <SentenceWords sentence={sentence} network={networkWords(networkId, info)} />
        )}
      </Head>
      <div role="status">
        {isForged && <CheckResult finding={block.value} words={() => ''} />}
        {faults.map((fault) => (
          <RefutedMark key={fault}>{fault}</RefutedMark>
        ))}
      </div>
      {!isOther && <BlockOutcome metadata={shown} judged={path} info={info} />}
      {(isTransaction || metadata.said.whiteFlagIndex !== undefined) && (
        <SaidByNode
          of={metadata}
          {...(facts !== undefined &&
            !isOther && { label: 'This node says. What of it was checked is below.' })}
          proof="the block’s bytes and its Merkle path."
        >
          {({ whiteFlagIndex }) => (
            <Facts
              rows={[
                ['In block', isTransaction && <IdLink name="block" id={blockId} />],
                ['White-flag order', whiteFlagIndex !== undefined && `place ${whiteFlagIndex}`],
              ]}
            />
          )}
        </SaidByNode>
      )}
      {!isOther && !isForged && (
        <JudgedBlockPanel heading="h2" blockId={blockId} judged={judged}>
          {(block) => (
            <PayloadView block={block} metadata={shown} info={info} onSummary={setSentence} />
          )}
        </JudgedBlockPanel>
      )}
      {index === undefined && (
        <NotChecked>
          where it stands. No milestone references this block{saysEnded(info) ? '' : ' yet'}, this
          node says, so there is nothing to prove about it.
        </NotChecked>
      )}
    </article>
  );
}

/** What the node says of the block, as far as nothing else was proved. */
function withProved(said: BlockMetadata, path: JudgedPath | undefined): BlockMetadata {
  const { state = said.ledgerInclusionState } = path ?? {};
  return state === said.ledgerInclusionState
    ? said
    : { ...said, ledgerInclusionState: state, conflictReason: undefined };
}

/** Sentences on what the node says otherwise than was proved. */
function contradictionsOf(
  { whiteFlagIndex, ledgerInclusionState: said }: BlockMetadata,
  { place = -1, state }: Partial<JudgedPath> = {},
): readonly string[] {
  return [
    ...(place >= 0 && ![place, undefined].includes(whiteFlagIndex)
      ? [`The node says that the block is at place ${whiteFlagIndex}, and it is at ${place}.`]
      : []),
    // what it leaves out is not false
    ...(said === undefined || state === undefined || state === said
      ? []
      : [`This node says that ${STATES[said]}. It is false: ${STATES[state]}.`]),
  ];
}

/** Another block may carry the same transaction, and have applied it. */
const STATES = {
  included: 'the transaction was applied with this block',
  conflicting: 'the transaction was not applied with this block',
  noTransaction: 'the block has no transaction',
} as const;

/** What became of a block and of its transaction: by what was signed, or else by the node's word. */
function BlockOutcome({
  metadata,
  judged,
  info,
}: {
  metadata: BlockMetadata;
  judged: JudgedPath | undefined;
  info: Info;
}) {
  const { referencedByMilestoneIndex: index, ledgerInclusionState: state } = metadata;
  if (index === undefined)
    return (
      <OutcomeLine>
        {saysEnded(info) ? 'No milestone references it' : 'Waits: no milestone references it yet'}
      </OutcomeLine>
    );
  if (judged?.inclusion.standing === 'refuted')
    return <CheckResult finding={judged.inclusion} words={() => ''} />;
  const time =
    judged?.signed.standing === 'proved'
      ? `${formatTime(provedValue(judged.signed.proof).timestamp)} UTC, `
      : '';
  const when = (
    <>
      {time}
      <To view={{ name: 'milestone', milestone: String(index), block: metadata.blockId }}>
        milestone {index}
      </To>
    </>
  );
  if (judged?.applied?.standing === 'proved')
    return <OutcomeLine proof={judged.applied.proof}>Applied · {when}</OutcomeLine>;
  if (state === 'included') return <OutcomeLine>Applied · {when}</OutcomeLine>;
  if (state === 'conflicting')
    return (
      <OutcomeLine
        isBad
        {...(judged?.failed && {
          by: 'your browser proved that it was not applied with this block; why, says this node',
        })}
      >
        Failed in this block: {reasonOf(metadata)} · {when}
      </OutcomeLine>
    );
  const proof = judged?.inclusion.standing === 'proved' ? judged.inclusion.proof : undefined;
  return <OutcomeLine proof={proof}>Referenced · {when}</OutcomeLine>;
}

function reasonOf({ conflictReason = 0 }: BlockMetadata): string {
  const isKnown = conflictReason >= 1 && conflictReason <= 12;
  return isKnown ? describeReason(conflictReason as 1) : 'this node gives no reason';
}
