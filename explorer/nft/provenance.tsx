/**
 * Since when an NFT is where it is, which its certificate proves, and what became of it before, which
 * the node says: each change has a certificate too, as long as the node keeps its block.
 */
import { useState } from 'preact/hooks';
import { describeHead, describeState } from '../../client/words/proved.ts';
import { type Proved, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { Finding, NftState, Said } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { Levels } from '../cone/levels.tsx';
import { asSentence, shorten } from '../format.ts';
import { isMissing } from '../node/ask.ts';
import { readHistory } from '../node/ledger.ts';
import type { Info, NftChangeJson, NftHistoryJson } from '../node/shapes.ts';
import { IdLink, LoadedPart, MilestoneText, To } from '../parts/parts.tsx';
import {
  CheckResult,
  NotChecked,
  OutcomeLine,
  RefutedMark,
  Remark,
  SaidByNode,
  Tick,
} from '../parts/standing.tsx';
import { type Loaded, useLoad } from '../use-load.ts';
import type { judgeCertificate } from '../verify/judge-certificate.ts';
import { useKeyChoice, useNetworkName } from '../verify/key-choice.ts';
import { differenceOf, differenceOfChange, isTrue, type ShownNft } from './difference.ts';

type JudgedCertificate = Loaded<Awaited<ReturnType<typeof judgeCertificate>> | undefined>;

/**
 * Judges the certificate of a change.
 *
 * @param nftId undefined where it is not asked for
 * @param blockId of the change; of the newest one where it is left out
 */
export function useCertificate(nftId: string | undefined, blockId?: string): JudgedCertificate {
  const choice = useKeyChoice();
  const networkName = useNetworkName();
  return useLoad(
    async () =>
      nftId === undefined
        ? undefined
        : (await import('../verify/judge-certificate.ts')).judgeCertificate(
            nftId,
            blockId,
            choice,
            networkName,
          ),
    [nftId, blockId, choice, networkName],
  );
}

/** What is false of what the page shows; undefined where nothing is. */
function faultOf(state: Finding<NftState>, said: ShownNft | undefined): string | undefined {
  if (state.standing === 'refuted') return asSentence(state.reason);
  if (state.standing !== 'proved') return undefined;
  const { held } = provedValue(state.proof);
  if (said === undefined)
    return (
      held &&
      `The node says that no output holds the NFT, and proves that output ${held.outputId} does.`
    );
  const difference = hasMoved(state.proof, said) ? undefined : differenceOf(said, state.proof);
  return difference && `The node shows ${difference}.`;
}

/** What moved between two answers is no lie. */
function hasMoved(proof: Proved<NftState>, said: ShownNft): boolean {
  const { held, since } = provedValue(proof);
  return held?.outputId !== said.outputId && since.index > said.ledgerIndex;
}

const stateOf = (judged: JudgedCertificate) =>
  judged.state === 'done' ? judged.value?.state : undefined;

/** Above all that it makes doubtful. */
export function CertificateFault({ judged, said }: Shown) {
  const state = stateOf(judged);
  const fault = state && faultOf(state, said);
  return <div role="status">{fault !== undefined && <RefutedMark>{fault}</RefutedMark>}</div>;
}

interface Shown {
  judged: JudgedCertificate;
  /** What the node says of the NFT; undefined where it says that nothing holds it. */
  said: ShownNft | undefined;
}

/** Who owns the NFT and since when: proved where the certificate leads to what the page shows. */
export function OwnerLine({ nft, judged }: { nft: ShownNft; judged: JudgedCertificate }) {
  const state = stateOf(judged);
  const proof = state?.standing === 'proved' && isTrue(nft, state.proof) ? state.proof : undefined;
  const { address } = nft.owner;
  const { milestoneIndexBooked: index, milestoneTimestampBooked: time } = nft.metadata;
  return (
    <OutcomeLine proof={proof}>
      Owner <IdLink name="address" id={address} /> · {proof === undefined ? 'since' : 'proved in'}{' '}
      milestone {index}, {formatTime(time)} UTC
    </OutcomeLine>
  );
}

/** The proof that the NFT was burned where and when the node says. */
export function burningOf(judged: JudgedCertificate, last: NftChangeJson) {
  const state = stateOf(judged);
  if (state?.standing !== 'proved' || last.kind !== 'burned') return undefined;
  const { held, since } = provedValue(state.proof);
  const isSame = since.index === last.milestoneIndex && since.timestamp === last.milestoneTimestamp;
  return held === undefined && isSame ? state.proof : undefined;
}

/** What the certificate of the newest change proves, unless the page shows otherwise. */
export function CheckedState({ judged, said }: Shown) {
  const value = judged.state === 'done' ? judged.value : undefined;
  if (value !== undefined && faultOf(value.state, said) !== undefined) return null;
  return (
    <section class="certificate" aria-labelledby="certificate-title">
      <h2 id="certificate-title">Checked by your browser</h2>
      {judged.state === 'loading' && <p class="loading">Checking the certificate …</p>}
      {judged.state === 'failed' && <NotChecked>{judged.error.message}</NotChecked>}
      {value !== undefined && (
        <div role="status">
          <StateVerdict state={value.state} said={said} />
        </div>
      )}
      {value?.levels !== undefined && (
        <details class="folded">
          <summary>The path to the root that was signed</summary>
          <Levels levels={value.levels} />
        </details>
      )}
    </section>
  );
}

function StateVerdict({ state, said }: { state: Finding<NftState>; said: ShownNft | undefined }) {
  if (state.standing !== 'proved') return <CheckResult finding={state} words={() => ''} />;
  if (said !== undefined && hasMoved(state.proof, said))
    return <Remark>The NFT was moved while this page was read. Load the page again.</Remark>;
  return (
    <>
      <Tick proof={state.proof}>{() => describeState(state.proof, shorten)}</Tick>
      <p class="hint">
        That nothing came after it is this node’s word as of its newest milestone.{' '}
        {describeHead(state.proof, Date.now() / 1000)}
      </p>
    </>
  );
}

export type Of = { nftId: string; info: Info };

export type FirstPage = Said<NftHistoryJson> | Promise<Said<NftHistoryJson>>;

/**
 * What became of an NFT, a page at a time; nothing where the node has no history of it.
 *
 * @param first its first page, which is read already
 */
export function History({ nftId, first, info }: Of & { first: FirstPage }) {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const loaded = useLoad(
    async () => (cursor === undefined ? first : readHistory(nftId, cursor)),
    [nftId, cursors],
  );
  if (cursor === undefined && loaded.state === 'failed' && isMissing(loaded.error)) return null;
  return (
    <section aria-labelledby="history-title">
      <h2 id="history-title">What became of it</h2>
      <LoadedPart loaded={loaded}>
        {(page) => (
          <>
            <SaidByNode
              of={page}
              proof="the certificate of each change, as long as its block is kept."
            >
              {(history) => <Changes nftId={nftId} history={history} info={info} />}
            </SaidByNode>
            <p class="actions">
              {cursor !== undefined && (
                <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>
                  Newer changes
                </button>
              )}
              {page.said.cursor !== undefined && (
                <button type="button" onClick={() => setCursors([...cursors, page.said.cursor!])}>
                  Older changes
                </button>
              )}
            </p>
          </>
        )}
      </LoadedPart>
    </section>
  );
}

const KINDS = {
  minted: 'Minted for',
  // whose it was before, no certificate proves
  transferred: 'In an output of',
  changed: 'In an output of',
  burned: 'Burned',
} as const;

function Changes({ nftId, history, info }: Of & { history: NftHistoryJson }) {
  const { changes, complete, since, cursor } = history;
  return (
    <>
      <ol class="history">
        {changes.map((change, i) => (
          <Change key={i} nftId={nftId} change={change} info={info} />
        ))}
      </ol>
      {cursor === undefined && (
        <p class="hint">
          {complete
            ? 'This goes back to where it was minted.'
            : `What became of it before milestone ${since} is not kept here.`}
        </p>
      )}
    </>
  );
}

function Change({ nftId, change, info }: Of & { change: NftChangeJson }) {
  const { kind, owner, milestoneIndex, milestoneTimestamp, transactionId } = change;
  return (
    <li>
      <span>
        {KINDS[kind]} {owner !== null && <IdLink name="address" id={owner.address} />}
      </span>
      <span class="hint">
        {formatTime(milestoneTimestamp)} UTC, <MilestoneText index={milestoneIndex} info={info} />
        {milestoneIndex > info.status.pruningIndex && (
          <>
            , <To view={{ name: 'transaction', id: transactionId }}>transaction</To>
          </>
        )}
      </span>
      <CheckChange nftId={nftId} change={change} />
    </li>
  );
}

function CheckChange({ nftId, change }: { nftId: string; change: NftChangeJson }) {
  const [isWanted, want] = useState(false);
  const judged = useCertificate(isWanted ? nftId : undefined, change.blockId);
  const state = stateOf(judged);
  if (!isWanted || judged.state === 'loading')
    return (
      <button type="button" disabled={isWanted} onClick={() => want(true)}>
        {isWanted ? 'Checking …' : 'Check it'}
      </button>
    );
  return (
    <div role="status">
      {judged.state === 'failed' && <NotChecked>{judged.error.message}</NotChecked>}
      {state !== undefined && <ChangeVerdict state={state} change={change} />}
    </div>
  );
}

function ChangeVerdict({ state, change }: { state: Finding<NftState>; change: NftChangeJson }) {
  if (state.standing !== 'proved') return <CheckResult finding={state} words={() => ''} />;
  const difference = differenceOfChange(change, state.proof);
  return difference === undefined ? (
    <Tick proof={state.proof}>{() => describeState(state.proof, shorten)}</Tick>
  ) : (
    <RefutedMark>The node says {difference} than it proves.</RefutedMark>
  );
}
