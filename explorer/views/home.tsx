/**
 * The first page: the ledger as it moves, or as it ended.
 */
import { useState } from 'preact/hooks';
import { describeSigned } from '../../client/words/proved.ts';
import { parseBech32Address } from '../../src/stardust/bech32.ts';
import type { Finding, SignedMilestone } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import type { Kind } from '../cone/kinds.tsx';
import { plural } from '../format.ts';
import { MilestoneRows } from '../milestones/milestone-rows.tsx';
import { Activity, countKinds, Strip } from '../milestones/strip.tsx';
import { type Summary, useSummaries } from '../milestones/summaries.ts';
import { goTo } from '../navigate.ts';
import { NewestNfts } from '../nft/newest.tsx';
import { indexesFrom, readFinalCounts } from '../node/ledger.ts';
import { hasEnded, type Info } from '../node/shapes.ts';
import { Field, Form } from '../parts/field.tsx';
import { Id, Reading, To } from '../parts/parts.tsx';
import { Found, NotChecked } from '../parts/standing.tsx';
import { recognise } from '../recognise.ts';
import { useLoad } from '../use-load.ts';

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
        {newest?.state === 'known' && <Blocks kinds={newest.summary.kinds} rate={rate} />}
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
          <Activity summaries={summaries} />
          <MilestoneRows indexes={indexes} summaries={summaries} />
          <p>
            <To view={{ name: 'milestones' }}>All milestones that this node keeps</To>
          </p>
        </div>
      </section>
      <HomeNfts info={info} />
      <section aria-labelledby="transactions-title">
        <p class="kind">Applied by these milestones</p>
        <h2 id="transactions-title">Transactions</h2>
        <div class="said" data-standing="said">
          <p class="said-label">This node says. Not checked.</p>
          <Transactions indexes={indexes} summaries={summaries} />
        </div>
      </section>
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
      <HomeNfts info={info} />
    </div>
  );
}

function HomeNfts({ info }: { info: Info }) {
  return (
    <section aria-labelledby="nfts-title">
      <p class="kind">Minted or moved last</p>
      <h2 id="nfts-title">NFTs</h2>
      <NewestNfts count={NFTS} info={info} />
      <p>
        <To view={{ name: 'collectibles' }}>More of them</To>
      </p>
    </section>
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
      <Form
        submit={() => {
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
        <Field
          label="Your address"
          name="holder"
          value={text}
          onChange={setText}
          isOptional
          placeholder={`${bech32Hrp}1…`}
        />
        <button type="submit" class="main">
          Show what it held
        </button>
        <p class="problem" role="status">
          {problem}
        </p>
      </Form>
    </section>
  );
}

/** Of the shown milestones, the latest ones first. */
function Transactions({
  indexes,
  summaries,
}: {
  indexes: readonly number[];
  summaries: ReadonlyMap<number, Summary>;
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
      <Reading />
    );
  return (
    <ul class="examples">
      {latest.map(({ transactionId, outputs }) => (
        <li key={transactionId}>
          <Id
            id={transactionId}
            what="transaction ID"
            view={{ name: 'transaction', id: transactionId }}
          />{' '}
          <span class="hint">{plural(outputs.length, 'output')}</span>
        </li>
      ))}
    </ul>
  );
}

/** The blocks of a milestone in white-flag order, a mark each. */
function Blocks({ kinds, rate }: { kinds: readonly Kind[]; rate: number }) {
  const { applied, conflict } = countKinds(kinds);
  return (
    <div class="said" data-standing="said">
      <p class="said-label">This node says. Not checked here: open the milestone to check it.</p>
      <Strip kinds={kinds} most={120} />
      <p>
        {plural(kinds.length, 'block')} in white-flag order, {plural(applied, 'transaction')}{' '}
        applied, {conflict === 0 ? 'no conflict' : plural(conflict, 'conflict')}
        {rate > 0 && `; ${formatRate(rate)} blocks a second`}
      </p>
    </div>
  );
}

function formatRate(rate: number): string {
  return rate.toLocaleString('en', { maximumFractionDigits: 1 });
}
