/** The NFTs that were minted or moved last, as tiles. */
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { readNfts } from '../node/ledger.ts';
import { readNewest } from '../node/lists.ts';
import type { Info } from '../node/shapes.ts';
import { Head } from '../parts/parts.tsx';
import { useLast, useLoad } from '../use-load.ts';
import { Tiles } from './tiles.tsx';

export function NewestNfts({ count, info }: { count: number; info: Info }) {
  const { index, timestamp } = info.status.confirmedMilestone;
  const [nfts, isOld] = useLast(
    useLoad(async () => readNfts(await readNewest('nft', count, timestamp)), [index]),
  );
  const isNone = nfts.state === 'done' && nfts.value.length === 0;
  return (
    <div class="said" data-standing="said" aria-busy={isOld}>
      <p class="said-label">This node says. Not checked.</p>
      {isNone ? (
        <p>This ledger holds no NFT.</p>
      ) : (
        <Tiles
          loaded={nfts}
          title={<span />}
          notesOf={({ output, metadata }) => [
            `${/^0x0+$/.test(output.nftId ?? '') ? 'minted' : 'moved'} ${formatTime(metadata.milestoneTimestampBooked)} UTC`,
          ]}
        />
      )}
    </div>
  );
}

/** As many as a page of a gallery has. */
const PAGE = 24;

export function NewestNftsView({ info }: { info: Info }) {
  return (
    <article class="page">
      <Head kind="NFTs" api="/api/indexer/v1/outputs/nft">
        Minted or moved last
      </Head>
      <p class="hint">
        The page of an address has its NFTs, that of an issuer a whole collection. Names cannot be
        searched: anybody may claim any name.
      </p>
      <NewestNfts count={PAGE} info={info} />
    </article>
  );
}
