/**
 * The first page: the ledger as it moves, or as it ended.
 */
import { parseBech32Address } from '../../src/stardust/bech32.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { plural } from '../format.ts';
import { Arriving } from '../milestones/arriving.tsx';
import { MilestoneRows } from '../milestones/milestone-rows.tsx';
import { Activity } from '../milestones/strip.tsx';
import { useSummaries } from '../milestones/summaries.ts';
import { goTo } from '../navigate.ts';
import { NewestNfts } from '../nft/newest.tsx';
import { indexesFrom, readFinalCounts } from '../node/ledger.ts';
import { type Info, saysEnded } from '../node/shapes.ts';
import type { Known } from '../node/use-info.ts';
import { OneField } from '../parts/field.tsx';
import { To } from '../parts/parts.tsx';
import { SignedResult } from '../parts/standing.tsx';
import { recognise } from '../recognise.ts';
import { useLoad } from '../use-load.ts';

const MILESTONES = 6;
const NFTS = 6;

export function HomeView(props: Known) {
  return saysEnded(props.info) ? <EndedHome {...props} /> : <LiveHome {...props} />;
}

function LiveHome({ info, head }: Known) {
  const { confirmedMilestone, pruningIndex } = info.status;
  const { index } = confirmedMilestone;
  const indexes = indexesFrom(index, MILESTONES, pruningIndex);
  const summaries = useSummaries(indexes);
  const rate = info.metrics.referencedBlocksPerSecond;
  return (
    <div class="page home">
      <section aria-labelledby="milestone-title">
        <p class="kind">Newest milestone that this node names</p>
        <h2 id="milestone-title">
          <To view={{ name: 'milestone', milestone: String(index) }}>{index}</To>
        </h2>
        <Signed head={head} />
        <p class="actions">
          <To view={{ name: 'milestone', milestone: String(index) }}>See its past cone</To>
          <To view={{ name: 'proposal' }}>Propose the next one</To>
        </p>
      </section>
      <section aria-labelledby="milestones-title">
        <p class="kind">As they come</p>
        <h2 id="milestones-title">Milestones</h2>
        <div class="said" data-standing="said">
          <p class="said-label">This node says. Not checked.</p>
          {info.blocksBy === 'feed' && info.hasEvents && <Arriving index={index} />}
          <Activity summaries={summaries} rate={rate} />
          <MilestoneRows indexes={indexes} summaries={summaries} />
          <p>
            <To view={{ name: 'milestones' }}>All milestones that this node keeps</To>
          </p>
        </div>
      </section>
      <HomeNfts info={info} />
    </div>
  );
}

function Signed({ head }: { head: Known['head'] }) {
  return (
    <div role="status">
      {head === undefined ? (
        <p class="loading">Checking who signed it …</p>
      ) : (
        <SignedResult finding={head} />
      )}
    </div>
  );
}

/** Nothing comes after it, and of its past a node may keep nothing. */
function EndedHome({ info, head }: Known) {
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
  const { bech32Hrp } = info.protocol;
  return (
    <section aria-labelledby="held-title">
      <h2 id="held-title">What did this address hold when the network ended?</h2>
      <OneField
        label="Your address"
        name="holder"
        isOptional
        placeholder={`${bech32Hrp}1…`}
        take={(text) => {
          const meaning = recognise(text);
          if (meaning.kind === 'nothing') return meaning.reason;
          const address =
            meaning.kind === 'view' && meaning.view.name === 'address' && meaning.view.address;
          if (!address || parseBech32Address(address)?.prefix !== bech32Hrp)
            return `Addresses of this network begin with ${bech32Hrp}1.`;
          goTo({ name: 'statement', of: address });
          return undefined;
        }}
      >
        <button type="submit" class="main">
          Show what it held
        </button>
      </OneField>
    </section>
  );
}
