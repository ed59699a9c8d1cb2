/**
 * An output of any kind, by its ID: who can unlock it, what it holds, where it comes from and where it
 * went. Loaded when one is opened.
 */
import { chainOf, KIND_WORDS, outputKind } from '../../client/words/kind.ts';
import { describeUnlock, type UnlockMoment } from '../../client/words/unlock.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import type { OutputInBlock } from '../../src/stardust/provenance/outputs.ts';
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import type { Finding, Said } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import type { Address } from '../../src/stardust/wire/address.ts';
import type { Output } from '../../src/stardust/wire/output.ts';
import { ArchiveProof } from '../archive/archive-proof.tsx';
import { shorten } from '../format.ts';
import { type LedgerOutputJson, readLedgerOutput } from '../node/outputs.ts';
import { hasNoBlock, type Info, type OutputMetadata, saysEnded } from '../node/shapes.ts';
import { Awaited, Facts, Folded, Head, Id, IdLink, MilestoneText } from '../parts/parts.tsx';
import { CheckResult, SaidByNode } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';
import { judgeCreated } from '../verify/judge-transaction.ts';
import { NetworkNote, networkWords } from '../words/network.tsx';
import { contentRows } from '../words/output-rows.tsx';
import { useTokenClaims } from '../words/token-claims.ts';
import { ClaimedAmount, SentenceText, TokenNote } from '../words/words.tsx';
import { ProofOfOutput } from './proof-of-output.tsx';

export function OutputView({ id, info }: { id: string; info: Info }) {
  // what a node said at one milestone it did not say at a later one
  const loaded = useLoad(async () => ({ answer: await readLedgerOutput(id), info }), [id]);
  return (
    <>
      <Awaited
        loaded={loaded}
        kind="Output"
        id={id}
        missing="This node does not know the output, it says: it never existed, or it was spent so long ago that the node keeps it no more."
      >
        {(read) => <OutputPage id={id.toLowerCase()} {...read} />}
      </Awaited>
      {loaded.state === 'failed' && <ArchiveProof id={id.toLowerCase()} info={info} />}
    </>
  );
}

interface PageProps {
  id: string;
  answer: Said<LedgerOutputJson>;
  info: Info;
}

function OutputPage({ id, answer, info }: PageProps) {
  const { output, metadata, json } = answer.said;
  const kind = outputKind(output);
  const proof = <ProofOfOutput outputId={id} info={info} />;
  return (
    <article class="page">
      <Head
        kind={kind === 'basic' ? KIND_WORDS.basic : `${KIND_WORDS[kind]} output`}
        api={`/api/core/v2/outputs/${id}`}
        title={shorten(id)}
        id={<Id id={id} what="output ID" />}
      >
        {metadata.isSpent ? 'A spent output' : 'An unspent output'}
      </Head>
      <ArchiveProof {...{ id, info }} said={answer.said} />
      <UnlockPart {...{ id, answer, info }} />
      <ContentPart {...{ id, answer, info }} />
      <section aria-labelledby="where-title">
        <h2 id="where-title">Where it comes from, and where it went</h2>
        <SaidByNode of={answer} proof={hasNoBlock(metadata) ? OF_RECEIPT : proof}>
          {() => <PlaceFacts metadata={metadata} info={info} />}
        </SaidByNode>
      </section>
      <Folded
        title="Output as JSON, this node says"
        text={() => JSON.stringify(json, undefined, 2)}
      />
    </article>
  );
}

/** Undefined where the node does not say when it was spent. */
function momentOf(metadata: OutputMetadata, info: Info): UnlockMoment | undefined {
  const { timestamp } = info.status.confirmedMilestone;
  if (!metadata.isSpent) return { unixTime: timestamp, tense: saysEnded(info) ? 'ended' : 'now' };
  const unixTime = metadata.milestoneTimestampSpent;
  return unixTime === undefined ? undefined : { unixTime, tense: 'spent' };
}

function UnlockPart({ id, answer, info }: PageProps) {
  const { output, metadata } = answer.said;
  const moment = momentOf(metadata, info);
  if (moment === undefined) return null;
  const when = `${formatTime(moment.unixTime)} UTC`;
  return (
    <section aria-labelledby="unlock-title" class="unlock">
      <h2 id="unlock-title">
        {moment.tense === 'now' ? 'Who can unlock it' : 'Who could unlock it'}
      </h2>
      <div class="said" data-standing="said">
        <p class="said-label">
          {moment.tense === 'spent' && `This node says that it was spent on ${when}. Not checked.`}
          {moment.tense === 'now' &&
            `This node says that it is unspent, and that its ledger is at ${when}. Not checked.`}
          {moment.tense === 'ended' &&
            `This node says that it was unspent when the network ended, on ${when}. Not checked here.`}
        </p>
        {describeUnlock(output, moment, ownAddress(output, id)).map((sentence, i) => (
          <SentenceText key={i} sentence={sentence} network={networkWords(undefined, info)} />
        ))}
      </div>
    </section>
  );
}

/** The address of the alias or NFT itself. */
function ownAddress(output: Output, id: string): Address | undefined {
  const chain = chainOf(output, fromHex(id));
  if (chain?.kind === 'nft') return { type: 16, id: fromHex(chain.id) };
  return chain?.kind === 'alias' ? { type: 8, id: fromHex(chain.id) } : undefined;
}

function ContentPart({ id, answer, info }: PageProps) {
  const { output, metadata } = answer.said;
  const judged = useLoad(() => judgeCreated(metadata.blockId, id, output), [id]);
  const finding: Finding<OutputInBlock> | undefined =
    judged.state === 'done' ? judged.value : undefined;
  const isProved = finding?.standing === 'proved';
  const networkId =
    finding?.standing === 'proved'
      ? provedValue(finding.proof).block.parsed.transaction?.value.essence.networkId
      : undefined;
  const claims = useTokenClaims(output.nativeTokens, info);
  return (
    <section aria-labelledby="content-title">
      <h2 id="content-title">What it holds</h2>
      <div class={isProved ? 'proved' : 'said'} data-standing={isProved ? 'proved' : 'said'}>
        {!isProved && <p class="said-label">This node says.</p>}
        <Facts rows={contentRows(output, id, networkWords(networkId, info))} />
      </div>
      {output.nativeTokens.map((token) => (
        <ClaimedAmount key={toHex(token.id)} token={token} claims={claims} />
      ))}
      {output.nativeTokens.length > 0 && <TokenNote info={info} />}
      {networkId !== undefined && <NetworkNote id={networkId} info={info} />}
      <div role="status">
        {finding === undefined ? (
          <p class="loading">Hashing …</p>
        ) : (
          <CheckResult
            finding={finding}
            words={({ block }) => (
              <>
                Proved by your browser: this stands at the place that the output’s ID names, in the
                bytes that hash to the ID of transaction{' '}
                <Id id={block.transactionId ?? ''} what="transaction ID" />
              </>
            )}
          />
        )}
      </div>
    </section>
  );
}

const OF_RECEIPT = 'the signed milestone whose receipt brought it, if one did.';

function PlaceFacts({ metadata, info }: { metadata: OutputMetadata; info: Info }) {
  const { milestoneIndexSpent, milestoneTimestampSpent, transactionIdSpent } = metadata;
  const isKept = metadata.milestoneIndexBooked > info.status.pruningIndex;
  const view = <N extends 'transaction' | 'block'>(name: N, id: string) =>
    isKept ? { view: { name, id } } : {};
  return (
    <>
      <Facts
        rows={[
          ['State', metadata.isSpent ? 'spent' : `unspent at ledger index ${metadata.ledgerIndex}`],
          [
            'Spent by',
            transactionIdSpent !== undefined && (
              <IdLink name="transaction" id={transactionIdSpent} />
            ),
          ],
          [
            'Spent on',
            milestoneTimestampSpent !== undefined && milestoneIndexSpent !== undefined && (
              <>
                {formatTime(milestoneTimestampSpent)} UTC,{' '}
                <MilestoneText index={milestoneIndexSpent} info={info} />
              </>
            ),
          ],
          [
            'Created by',
            hasNoBlock(metadata) ? (
              'no transaction: a receipt brought it with funds that were migrated from the legacy network, or the ledger began with it'
            ) : (
              <Id
                id={metadata.transactionId}
                what="transaction ID"
                {...view('transaction', metadata.transactionId)}
              />
            ),
          ],
          [
            'Created on',
            <>
              {formatTime(metadata.milestoneTimestampBooked)} UTC,{' '}
              <MilestoneText index={metadata.milestoneIndexBooked} info={info} />
            </>,
          ],
          [
            'In block',
            !hasNoBlock(metadata) && (
              <Id id={metadata.blockId} what="block ID" {...view('block', metadata.blockId)} />
            ),
          ],
        ]}
      />
      {!isKept && (
        <p class="note">
          Block, transaction and milestone are not links: this node has nothing of milestones before{' '}
          {info.status.pruningIndex + 1}.
        </p>
      )}
    </>
  );
}
