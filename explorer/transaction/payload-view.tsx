/**
 * What a block carries: a transaction as a flow from inputs to outputs, with what it changes, and
 * tagged data. Loaded when a block is opened that carries either.
 */
import { useEffect, useMemo } from 'preact/hooks';
import { formatAmount } from '../../client/words/amounts.ts';
import type { NetworkWords, Sentence } from '../../client/words/sentence.ts';
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import type { BlockContent, Proved } from '../../src/stardust/provenance/provenance.ts';
import {
  ConflictReason,
  type ConsumedOutput,
  describeReason,
  type Fault,
} from '../../src/stardust/semantics/verdict.ts';
import type { ParsedBlock } from '../../src/stardust/wire/block.ts';
import type { TaggedData } from '../../src/stardust/wire/transaction.ts';
import { plural } from '../format.ts';
import { isMissing } from '../node/ask.ts';
import type { BlockMetadata, Info } from '../node/shapes.ts';
import { Listed } from '../parts/listed.tsx';
import { IdLink, To } from '../parts/parts.tsx';
import { CheckResult, NotChecked, RefutedMark, Tick } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';
import { type JudgedInputs, judgeInputs } from '../verify/judge-transaction.ts';
import { useKeyChoice, useNetworkName } from '../verify/key-choice.ts';
import { DataText } from '../words/data-text.tsx';
import { NetworkNote, networkWords } from '../words/network.tsx';
import { useTokenClaims } from '../words/token-claims.ts';
import { ChainLink, SentenceText, TokenNote, TokenUnits } from '../words/words.tsx';
import { type Changes, readChainChanges } from './changes.ts';
import { findSpentInput } from './conflict.ts';
import {
  type FlowInput,
  type FlowOutput,
  readTransactionFlow,
  type TransactionFlow,
} from './flow.ts';
import { InputCard, OutputCard } from './flow-cards.tsx';
import { summarizeChains, summarizeFlow } from './summarize-flow.ts';

interface PayloadProps {
  block: Proved<BlockContent>;
  metadata: BlockMetadata;
  info: Info;
  /** Is given what the transaction does, in one sentence. */
  onSummary(sentence: Sentence): void;
}

export function PayloadView(props: PayloadProps) {
  const { parsed } = provedValue(props.block);
  const { payload } = parsed.block;
  if (parsed.transaction !== undefined)
    return <TransactionPart transaction={parsed.transaction} {...props} />;
  return payload?.type === 5 ? <TaggedPart block={props.block} data={payload} /> : null;
}

interface TransactionProps extends PayloadProps {
  transaction: NonNullable<ParsedBlock['transaction']>;
}

function TransactionPart({ block, transaction, metadata, info, onSummary }: TransactionProps) {
  const inputs = useLoad(() => judgeInputs(block), [block]);
  const judged = inputs.state === 'done' ? inputs.value : undefined;
  const flow = useMemo(
    () =>
      readTransactionFlow(
        transaction,
        judged?.said.map((each) => (each instanceof Error ? undefined : each.said.output)) ?? [],
      ),
    [transaction, judged],
  );
  const isProved = judged?.consumed.standing === 'proved';
  const changes = useMemo(() => readChainChanges(flow), [flow]);
  const isApplied = metadata.ledgerInclusionState && metadata.ledgerInclusionState === 'included';
  useEffect(() => {
    if (judged !== undefined) onSummary(summarizeFlow(flow, changes, isApplied));
  }, [flow, judged, isApplied]);
  const { payload, networkId } = transaction.value.essence;
  const network = networkWords(networkId, info);
  return (
    <>
      <ConflictPart block={block} judged={judged} metadata={metadata} />
      <FlowPart {...{ block, flow, judged, info, networkId, network, isApplied }} />
      {judged !== undefined && <ChangesPart {...{ changes, network, isProved, isApplied }} />}
      {payload !== undefined && <TaggedPart block={block} data={payload} />}
    </>
  );
}

function FlowPart({
  block,
  flow,
  judged,
  info,
  networkId,
  network,
  isApplied,
}: Pick<TransactionProps, 'block' | 'info'> & {
  networkId: bigint;
  isApplied: boolean | undefined;
  network: NetworkWords;
  flow: TransactionFlow;
  judged: JudgedInputs | undefined;
}) {
  const { inputs, outputs, consumed, created } = flow;
  const claims = useTokenClaims([...created.tokens, ...(consumed?.tokens ?? [])], info);
  const write = (amount: bigint) => formatAmount(amount, network.baseToken);
  const isProved = judged?.consumed.standing === 'proved';
  return (
    <section class="flow" aria-labelledby="flow-title">
      <h2 id="flow-title">From and to</h2>
      {isApplied === false && (
        <p data-standing="said">
          This block changed nothing, this node says: the transaction was not applied with it.
        </p>
      )}
      {judged?.consumed.standing === 'refuted' && (
        <RefutedMark>
          The inputs that this node shows are false: {judged.consumed.reason}.
        </RefutedMark>
      )}
      <div class="sides">
        <section aria-labelledby="inputs-title">
          <h3 id="inputs-title">{countOf(inputs, 'input')}</h3>
          <p class="total" data-standing={isProved ? 'proved' : 'said'}>
            {consumed === undefined ? ' ' : write(consumed.amount)}
          </p>
          <Listed
            kind="cards"
            all={inputs}
            show={(input: FlowInput, place) => (
              <InputCard
                {...{ input, place, network, claims, isProved }}
                absence={judged && absenceOf(judged.said[place])}
              />
            )}
          />
        </section>
        <svg class="arrow" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 12H20M13 5L20 12L13 19" />
        </svg>
        <section aria-labelledby="outputs-title">
          <h3 id="outputs-title">{countOf(outputs, 'output')}</h3>
          <p class="total" data-standing="proved">
            {write(created.amount)}
          </p>
          <Listed
            kind="cards"
            all={outputs}
            show={(output: FlowOutput, place) => (
              <OutputCard output={output} place={place} network={network} claims={claims} />
            )}
          />
        </section>
      </div>
      <div role="status" class="flow-verdicts">
        <Tick proof={block}>
          {() => 'The outputs, and who unlocks the inputs, are in the bytes of the block.'}
        </Tick>
        {judged === undefined && <p class="loading">Reading the inputs …</p>}
        {judged !== undefined && judged.consumed.standing !== 'refuted' && (
          <CheckResult
            finding={judged.consumed}
            words={(all) =>
              `${all.length === 1 ? 'The output that is consumed hashes' : `The ${all.length} outputs that are consumed hash`} to what the transaction commits to.`
            }
          />
        )}
        {consumed !== undefined && consumed.amount === created.amount && (
          <p class="hint">
            Nothing is paid for a transaction: what goes in comes out, {write(created.amount)}.
          </p>
        )}
        <NetworkNote id={networkId} info={info} />
        <p class="hint">Names in quotation marks are what metadata claims.</p>
        {created.tokens.length > 0 && <TokenNote info={info} />}
      </div>
    </section>
  );
}

/** "25 outputs, 23 NFTs". */
function countOf(all: readonly Pick<FlowInput, 'chain'>[], noun: string): string {
  const nfts = all.filter(({ chain }) => chain?.kind === 'nft').length;
  return `${plural(all.length, noun)}${nfts === 0 ? '' : `, ${plural(nfts, 'NFT')}`}`;
}

/** Why the output of an input is not shown. */
function absenceOf(said: JudgedInputs['said'][number] | undefined): string | undefined {
  if (!(said instanceof Error)) return undefined;
  return isMissing(said)
    ? 'This node does not have the output, it says: it was spent so long ago that it is pruned, or it never was.'
    : said.message;
}

function ChangesPart({
  changes: { chains, tokens, isWhole },
  network,
  isProved,
  isApplied,
}: {
  changes: Changes;
  network: NetworkWords;
  isProved: boolean;
  /** As the node says. */
  isApplied: boolean | undefined;
}) {
  if (chains.length === 0 && tokens.length === 0) return null;
  // where the inputs are the node's word, so is what changed
  const standing = isProved ? 'proved' : 'said';
  return (
    <section aria-labelledby="changes-title" class="changes">
      <h2 id="changes-title">{isApplied ? 'What changes' : 'What this block would change'}</h2>
      {!isWhole && <NotChecked>what ends here, as not all inputs are known.</NotChecked>}
      <div data-standing={standing}>
        {chains.length > 1 && <p class="lead">{summarizeChains(chains)}.</p>}
        <Listed
          kind="rows"
          all={chains}
          show={(change) => (
            <>
              <p class="deed">
                <ChainLink chain={change.chain} /> {change.deed}
              </p>
              <SentenceText sentence={change.sentence} network={network} />
            </>
          )}
        />
        <Listed
          kind="rows"
          all={tokens}
          show={(change) => (
            <p class="deed">
              <TokenUnits token={change} /> {change.deed}
            </p>
          )}
        />
      </div>
    </section>
  );
}

/** Why the transaction is in conflict: the rule, and the input or output that decided. */
function ConflictPart({
  block,
  judged,
  metadata,
}: Pick<TransactionProps, 'block' | 'metadata'> & { judged: JudgedInputs | undefined }) {
  const { conflictReason: reason = 0, referencedByMilestoneIndex: index } = metadata;
  if (reason === 0 || index === undefined) return null;
  const spent =
    judged &&
    findSpentInput(
      reason,
      judged.said.map((each) => (each instanceof Error ? undefined : each.said.metadata)),
      index,
    );
  const isOfRules = reason > ConflictReason.InputNotFound;
  return (
    <section aria-labelledby="conflict-title" class="conflict">
      <h2 id="conflict-title">Why it is in conflict</h2>
      {judged === undefined && <p class="loading">Reading the inputs …</p>}
      {spent !== undefined && (
        <div data-standing="said" class="said">
          <p class="said-label">This node says. Not checked.</p>
          <p>
            Input {spent.input + 1} decided:{' '}
            {spent.spentBy === undefined ? (
              'the ledger did not have its output.'
            ) : (
              <>
                its output was spent in{' '}
                <To view={{ name: 'milestone', milestone: String(spent.spentBy.milestoneIndex) }}>
                  milestone {spent.spentBy.milestoneIndex}
                </To>{' '}
                by transaction <IdLink name="transaction" id={spent.spentBy.transactionId} />
                {spent.spentBy.transactionId === provedValue(block).transactionId &&
                  ', which is this one: another block had applied it'}
                .
              </>
            )}
          </p>
        </div>
      )}
      {judged !== undefined && !isOfRules && spent === undefined && (
        <NotChecked>which input decided, as the outputs that this node has do not tell.</NotChecked>
      )}
      {judged !== undefined &&
        isOfRules &&
        (judged.consumed.standing === 'proved' ? (
          <FaultPart block={block} consumed={judged.consumed.proof} reason={reason} index={index} />
        ) : (
          <NotChecked>
            which rule decides, as the outputs that it consumes are not certain.
          </NotChecked>
        ))}
    </section>
  );
}

function FaultPart({
  block,
  consumed,
  reason,
  index,
}: Pick<PayloadProps, 'block'> & {
  consumed: Proved<readonly ConsumedOutput[]>;
  /** As the node says. */
  reason: number;
  index: number;
}) {
  const choice = useKeyChoice();
  const networkName = useNetworkName();
  const judged = useLoad(
    async () =>
      (await import('../verify/judge-fault.ts')).judgeFault(
        block,
        consumed,
        index,
        choice,
        networkName,
      ),
    [block, consumed, index, choice, networkName],
  );
  if (judged.state === 'loading') return <p class="loading">Judging …</p>;
  if (judged.state === 'failed') return <NotChecked>{judged.error.message}</NotChecked>;
  const finding = judged.value;
  const fault = finding.standing === 'proved' ? provedValue(finding.proof).fault : undefined;
  if (finding.standing === 'proved' && fault?.reason !== reason)
    return (
      <RefutedMark>
        The node says conflict {reason}. By its bytes, and at the time of milestone {index},{' '}
        {fault === undefined
          ? 'nothing is wrong with the transaction.'
          : `${describeReason(fault.reason)} (rule ${fault.rule}, conflict ${fault.reason}).`}
      </RefutedMark>
    );
  return (
    <CheckResult
      finding={finding}
      words={({ fault, milestone }) =>
        fault === undefined ? (
          ''
        ) : (
          <>
            At the time of milestone {milestone.index}: {describeReason(fault.reason)}.{' '}
            {describePlace(fault)}{' '}
            <span class="hint">
              (Rule {fault.rule}, conflict {fault.reason})
            </span>
          </>
        )
      }
    />
  );
}

function describePlace({ input, output }: Fault): string {
  if (input !== undefined) return `Input ${input + 1} decided.`;
  return output === undefined
    ? 'The transaction as a whole decided, and no single input.'
    : `Output ${output + 1} decided.`;
}

function TaggedPart({
  block,
  data: { tag, data },
}: Pick<PayloadProps, 'block'> & { data: TaggedData }) {
  return (
    <section aria-labelledby="data-title" class="tagged" data-standing="proved">
      <h2 id="data-title">Tagged data</h2>
      <Tick proof={block}>
        {() => 'In the bytes of the block. Anybody may write anything here.'}
      </Tick>
      <DataText title="Tag" bytes={tag} />
      <DataText title="Data" bytes={data} />
    </section>
  );
}
