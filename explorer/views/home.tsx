/**
 * The first page: the ledger as it moves, or as it ended.
 */
import { useState } from 'preact/hooks';
import { formatAmount } from '../../client/words/amounts.ts';
import { describeSigned } from '../../client/words/proved.ts';
import { parseBech32Address } from '../../src/stardust/bech32.ts';
import type { Finding, SignedMilestone } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { type Kind, Mark } from '../cone/kinds.tsx';
import { cut, plural, shorten } from '../format.ts';
import { MilestoneRows } from '../milestones/milestone-rows.tsx';
import { type Summary, useSummaries } from '../milestones/summaries.ts';
import { goTo } from '../navigate.ts';
import { readMetadata } from '../nft/claims.ts';
import { indexesFrom, readFinalCounts, readNfts, readOutput } from '../node/ledger.ts';
import { readNewest } from '../node/lists.ts';
import { hasEnded, type Info, type Nft } from '../node/shapes.ts';
import { Foreign, Id, To } from '../parts/parts.tsx';
import { Found, NotChecked } from '../parts/standing.tsx';
import { recognise } from '../recognise.ts';
import { useLast, useLoad } from '../use-load.ts';

const MILESTONES = 6;
const TRANSACTIONS = 6;
const NFTS = 6;

interface HomeProps {
  info: Info;
  /** The milestone that the node names as its newest; undefined while it is judged. */
  head: Finding<SignedMilestone> | undefined;
}

export function HomeView(props: HomeProps) {
  return hasEnded(props.info) ? <EndedHome {...props} /> : <LiveHome {...props} />;
}

function LiveHome({ info, head }: HomeProps) {
  const { confirmedMilestone, pruningIndex } = info.status;
  const { index } = confirmedMilestone;
  const indexes = indexesFrom(index, MILESTONES, pruningIndex);
  const summaries = useSummaries(indexes, true);
  const newest = summaries.get(index);
  const rate = info.metrics.referencedBlocksPerSecond;
  return (
    <div class="page home">
      <section aria-labelledby="milestone-title">
        <p class="kind">Newest milestone that this node names</p>
        <h2 id="milestone-title">
          <To view={{ name: 'milestone', milestone: String(index) }}>{index}</To>
        </h2>
        <Signed head={head} />
        {newest?.state === 'known' && <Strip kinds={newest.summary.kinds} rate={rate} />}
        {newest?.state === 'missing' && (
          <p>
            This node says that it has none of its blocks. So it is with a node that has just
            started at a snapshot.
          </p>
        )}
        {newest?.state === 'failed' && <NotChecked>its blocks: {newest.error.message}</NotChecked>}
        <p class="actions">
          {newest?.state === 'known' && (
            <To view={{ name: 'milestone', milestone: String(index) }}>See its past cone</To>
          )}
          <To view={{ name: 'proposal' }}>Propose the next one</To>
        </p>
      </section>
      <section aria-labelledby="milestones-title">
        <p class="kind">As they come</p>
        <h2 id="milestones-title">Milestones</h2>
        <div class="said" data-standing="said">
          <p class="said-label">This node says. Not checked.</p>
          <MilestoneRows indexes={indexes} summaries={summaries} />
          <p>
            <To view={{ name: 'milestones' }}>All milestones that this node keeps</To>
          </p>
        </div>
      </section>
      <section aria-labelledby="transactions-title">
        <p class="kind">Applied by these milestones</p>
        <h2 id="transactions-title">Transactions</h2>
        <div class="said" data-standing="said">
          <p class="said-label">This node says. Not checked.</p>
          <Transactions indexes={indexes} summaries={summaries} info={info} />
        </div>
      </section>
      <NewestNfts info={info} />
    </div>
  );
}

function Signed({ head }: { head: HomeProps['head'] }) {
  return (
    <div role="status">
      {head === undefined ? (
        <p class="loading">Checking who signed it …</p>
      ) : (
        <Found finding={head} words={(_, proof) => describeSigned(proof, Date.now() / 1000)} />
      )}
    </div>
  );
}

/** Nothing comes after it, and of its past a node may keep nothing. */
function EndedHome({ info, head }: HomeProps) {
  const { index, timestamp } = info.status.confirmedMilestone;
  const counts = useLoad(readFinalCounts, []);
  return (
    <div class="page home">
      <section aria-labelledby="milestone-title">
        <p class="kind">This node says that the network ended at milestone</p>
        <h2 id="milestone-title">
          {head?.standing === 'proved' ? (
            <To view={{ name: 'milestone', milestone: String(index) }}>{index}</To>
          ) : (
            index
          )}
        </h2>
        <Signed head={head} />
        <div class="said" data-standing="said">
          <p class="said-label">This node says. Not checked.</p>
          <p>
            The last ledger is of {formatTime(timestamp)} UTC.
            {counts.state === 'done' &&
              ` It has ${plural(counts.value.outputs.count, 'unspent output')} and ${plural(counts.value.nfts.count, 'NFT')}.`}
          </p>
        </div>
        <p class="actions">
          <To view={{ name: 'verify' }}>Prove what it has</To>
        </p>
      </section>
      <HeldForm info={info} />
      <NewestNfts info={info} />
    </div>
  );
}

/** The question that most people bring to an archive. */
function HeldForm({ info }: { info: Info }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const { bech32Hrp } = info.protocol;
  return (
    <section aria-labelledby="held-title">
      <h2 id="held-title">What did this address hold when the network ended?</h2>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          const meaning = recognise(text);
          const address =
            meaning.kind === 'view' && meaning.view.name === 'address' && meaning.view.address;
          if (address && parseBech32Address(address)?.prefix === bech32Hrp)
            goTo({ name: 'statement', of: address });
          else
            setProblem(
              meaning.kind === 'nothing'
                ? meaning.reason
                : `Addresses of this network begin with ${bech32Hrp}1.`,
            );
        }}
      >
        <label class="wide">
          Your address
          <input
            class="mono"
            name="holder"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            placeholder={`${bech32Hrp}1…`}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
        </label>
        <button type="submit" class="main">
          Show what it held
        </button>
        <p class="problem" role="status">
          {problem}
        </p>
      </form>
    </section>
  );
}

function NewestNfts({ info }: { info: Info }) {
  const { index, timestamp } = info.status.confirmedMilestone;
  const [nfts, isOld] = useLast(
    useLoad(async () => readNfts(await readNewest('nft', NFTS, timestamp)), [index]),
  );
  return (
    <section aria-labelledby="nfts-title">
      <p class="kind">Minted or moved last</p>
      <h2 id="nfts-title">NFTs</h2>
      {nfts.state === 'done' && (
        <div class="said" data-standing="said" aria-busy={isOld}>
          <p class="said-label">This node says. Not checked.</p>
          <NftRows nfts={nfts.value} />
        </div>
      )}
      {nfts.state === 'loading' && <p class="loading">Reading …</p>}
      {nfts.state === 'failed' && <p class="hint">{nfts.error.message}</p>}
    </section>
  );
}

function NftRows({ nfts }: { nfts: readonly Nft[] }) {
  const [first] = nfts;
  if (first === undefined) return <p>This ledger holds no NFT.</p>;
  const { address } = first.owner;
  return (
    <>
      <ul class="examples">
        {nfts.map(({ nftId, output, metadata }) => (
          <li key={nftId}>
            <To view={{ name: 'nft', id: nftId }}>
              <Foreign text={cut(readMetadata(output)?.claims?.name ?? `NFT ${shorten(nftId)}`)} />
            </To>{' '}
            <span class="hint">
              {/^0x0+$/.test(output.nftId ?? '') ? 'minted' : 'moved'}{' '}
              {formatTime(metadata.milestoneTimestampBooked)} UTC
            </span>
          </li>
        ))}
      </ul>
      <p>
        Holder of the first one:{' '}
        <Id id={address} what="address" view={{ name: 'address', address }} />
      </p>
    </>
  );
}

/** Of the shown milestones, the latest ones first. */
function Transactions({
  indexes,
  summaries,
  info,
}: {
  indexes: readonly number[];
  summaries: ReadonlyMap<number, Summary>;
  info: Info;
}) {
  const latest = indexes
    .flatMap((index) => {
      const summary = summaries.get(index);
      return summary?.state === 'known' ? summary.summary.transactions : [];
    })
    .slice(0, TRANSACTIONS);
  if (latest.length === 0)
    return indexes.some((index) => summaries.has(index)) ? (
      <p>None was applied by these milestones, as far as they were read.</p>
    ) : (
      <p class="loading">Reading …</p>
    );
  return (
    <ul class="examples">
      {latest.map((each) => (
        <TransactionRow key={each.transactionId} {...each} info={info} />
      ))}
    </ul>
  );
}

/** Of a transaction whose amount is read: each output is a request. */
const MAX_ADDED = 8;

async function addAmounts(outputs: readonly string[]): Promise<string> {
  const read = await Promise.all(outputs.map(readOutput));
  return String(read.reduce((sum, { said }) => sum + BigInt(said.output.amount ?? 0), 0n));
}

function TransactionRow({
  transactionId,
  outputs,
  info,
}: {
  transactionId: string;
  outputs: readonly string[];
  info: Info;
}) {
  const amount = useLoad(
    async () => (outputs.length > MAX_ADDED ? undefined : addAmounts(outputs)),
    [transactionId],
  );
  return (
    <li>
      <Id
        id={transactionId}
        what="transaction ID"
        view={{ name: 'transaction', id: transactionId }}
      />{' '}
      <span class="hint">
        {amount.state === 'done' &&
          amount.value !== undefined &&
          `${formatAmount(amount.value, info.baseToken)} in `}
        {plural(outputs.length, 'output')}
      </span>
    </li>
  );
}

const MAX_MARKS = 120;

/** The blocks of a milestone in white-flag order, a mark each. */
function Strip({ kinds, rate }: { kinds: readonly Kind[]; rate: number }) {
  const applied = kinds.filter((kind) => kind === 'applied').length;
  const conflicts = kinds.filter((kind) => kind === 'conflict').length;
  return (
    <div class="said" data-standing="said">
      <p class="said-label">This node says. Not checked here: open the milestone to check it.</p>
      <div class="strip" aria-hidden="true">
        {kinds.slice(0, MAX_MARKS).map((kind, place) => (
          <svg key={place} viewBox="-12 -12 24 24" class={`block ${kind}`} aria-hidden="true">
            <Mark kind={kind} />
          </svg>
        ))}
      </div>
      <p>
        {plural(kinds.length, 'block')} in white-flag order, {plural(applied, 'transaction')}{' '}
        applied, {conflicts === 0 ? 'no conflict' : plural(conflicts, 'conflict')}
        {rate > 0 && `; ${formatRate(rate)} blocks a second`}
      </p>
    </div>
  );
}

function formatRate(rate: number): string {
  return rate.toLocaleString('en', { maximumFractionDigits: 1 });
}
