/**
 * The first page: what this is, and examples from the ledger that is served.
 */

import type { Finding, SignedMilestone } from '../../src/stardust/provenance/provenance.ts';
import { describeSigned } from '../../src/stardust/provenance/words.ts';
import { kindOf, Mark } from '../cone/kinds.tsx';
import { formatCount, plural } from '../format.ts';
import { readMetadata } from '../nft/claims.ts';
import { NodeError } from '../node/ask.ts';
import { readExplanation, readFirstNfts } from '../node/ledger.ts';
import type { ExplainedBlock, Info, Nft } from '../node/shapes.ts';
import { Foreign, Id, To } from '../parts/parts.tsx';
import { Found, NotChecked } from '../parts/standing.tsx';
import { useLoad } from '../parts/use-load.ts';

const EXAMPLES = 4;

/** The latest NFTs would need the whole list; the first ones are as good to look at. */
const readExamples = () => readFirstNfts(EXAMPLES);

export function HomeView({
  info,
  head,
}: {
  info: Info;
  /** The milestone that the node names as its newest; undefined while it is judged. */
  head: Finding<SignedMilestone> | undefined;
}) {
  const { confirmedMilestone } = info.status;
  const { index } = confirmedMilestone;
  const nfts = useLoad(readExamples, [index]);
  const newest = useLoad(() => readExplanation(index), [index]);
  return (
    <div class="page home">
      <section aria-labelledby="milestone-title">
        <p class="kind">Newest milestone that this node names</p>
        <h2 id="milestone-title">
          <To view={{ name: 'milestone', milestone: String(index) }}>{formatCount(index)}</To>
        </h2>
        <div role="status">
          {head === undefined ? (
            <p class="loading">Checking who signed it …</p>
          ) : (
            <Found finding={head} words={(value) => describeSigned(value, Date.now() / 1000)} />
          )}
        </div>
        {newest.state === 'done' && <Strip blocks={newest.value.said.blocks} />}
        {newest.state === 'failed' && <NoBlocks error={newest.error} />}
        <p class="actions">
          {newest.state === 'done' && (
            <To view={{ name: 'milestone', milestone: String(index) }}>See its past cone</To>
          )}
          <To view={{ name: 'proposal' }}>Propose the next one</To>
        </p>
      </section>
      <section aria-labelledby="nfts-title">
        <p class="kind">From this ledger</p>
        <h2 id="nfts-title">NFTs</h2>
        {nfts.state === 'done' && (
          <div class="said" data-standing="said">
            <p class="said-label">This node says. Not checked.</p>
            <Examples nfts={nfts.value} />
          </div>
        )}
        {nfts.state === 'loading' && <p class="loading">Reading …</p>}
        {nfts.state === 'failed' && <p class="hint">{nfts.error.message}</p>}
      </section>
    </div>
  );
}

function NoBlocks({ error }: { error: Error }) {
  return error instanceof NodeError && error.status === 404 ? (
    <p>
      This node says that it has none of its blocks. So it is with a node that has just started at a
      snapshot.
    </p>
  ) : (
    <NotChecked>its blocks: {error.message}</NotChecked>
  );
}

function Examples({ nfts }: { nfts: readonly Nft[] }) {
  const [first] = nfts;
  if (first === undefined) return <p>This ledger holds no NFT.</p>;
  const { address } = first.owner;
  return (
    <>
      <ul class="examples">
        {nfts.map((nft) => (
          <li key={nft.nftId}>
            <To view={{ name: 'nft', id: nft.nftId }}>
              <Foreign text={readMetadata(nft.output)?.claims?.name ?? 'without a name'} />
            </To>{' '}
            <span class="hint mono">{nft.nftId.slice(0, 12)}…</span>
          </li>
        ))}
      </ul>
      <p>
        An address: <Id id={address} what="address" view={{ name: 'address', address }} />
      </p>
    </>
  );
}

const MAX_MARKS = 120;

/** The blocks of a milestone in white-flag order, a mark each. */
function Strip({ blocks }: { blocks: readonly ExplainedBlock[] }) {
  const applied = blocks.filter((block) => kindOf(block) === 'applied').length;
  const conflicts = blocks.filter((block) => kindOf(block) === 'conflict').length;
  return (
    <div class="said" data-standing="said">
      <p class="said-label">This node says. Not checked here: open the milestone to check it.</p>
      <div class="strip" aria-hidden="true">
        {blocks.slice(0, MAX_MARKS).map((block) => (
          <svg
            key={block.blockId}
            viewBox="-12 -12 24 24"
            class={`block ${kindOf(block)}`}
            aria-hidden="true"
          >
            <Mark kind={kindOf(block)} />
          </svg>
        ))}
      </div>
      <p>
        {plural(blocks.length, 'block')} in white-flag order, {plural(applied, 'transaction')}{' '}
        applied, {conflicts === 0 ? 'no conflict' : plural(conflicts, 'conflict')}
      </p>
    </div>
  );
}
