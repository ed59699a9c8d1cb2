/**
 * The NFTs that an address can unlock, or those that it issued: a gallery, the newest first.
 */
import { idsOnPage, Pager } from '../address/address-outputs.tsx';
import { formatCount, plural } from '../format.ts';
import { Tiles } from '../nft/tiles.tsx';
import { readNfts } from '../node/ledger.ts';
import { readIds } from '../node/lists.ts';
import { type Info, type Nft, saysEnded } from '../node/shapes.ts';
import { LoadedPart } from '../parts/parts.tsx';
import { NotChecked } from '../parts/standing.tsx';
import type { AddressViewName } from '../route.ts';
import { useLoad } from '../use-load.ts';

const PAGE_SIZE = 24;

interface GalleryProps {
  name: AddressViewName;
  address: string;
  page: number;
  info: Info;
}

export function Gallery({ name, address, page, info }: GalleryProps) {
  const listed = useLoad(
    () =>
      readIds('nft', name === 'issuer' ? { issuer: address } : { unlockableByAddress: address }),
    [name, address],
  );
  return (
    <LoadedPart loaded={listed}>
      {({ ids, ledgerIndex }) =>
        ids.length === 0 ? (
          <p class="reason" data-standing="said">
            This node says, and it is not checked: at ledger index {ledgerIndex}
            {saysEnded(info) && ', the last one of the network,'}{' '}
            {name === 'issuer'
              ? 'there is no NFT that this address issued.'
              : 'no NFT names this address.'}
          </p>
        ) : (
          <GalleryPage
            {...{ name, address, page, ledgerIndex }}
            count={ids.length}
            ids={idsOnPage(ids, page, PAGE_SIZE)}
          />
        )
      }
    </LoadedPart>
  );
}

function GalleryPage({
  name,
  address,
  page,
  count,
  ids,
  ledgerIndex,
}: Omit<GalleryProps, 'info'> & { count: number; ids: readonly string[]; ledgerIndex: number }) {
  const loaded = useLoad(() => readNfts(ids), [ids.join()]);
  return (
    <section class="said" data-standing="said">
      <p class="said-label">
        This node says. Not checked: a node can leave NFTs out of a list, or put others in.
      </p>
      <Tiles
        loaded={loaded}
        title={
          <p class="hint" role="status">
            {describeCount(name, count)} at ledger index {ledgerIndex}, the newest first
            {name === 'issuer' && (
              <>
                . <a href="#owners-title">Who owns them</a>
              </>
            )}
            {name !== 'issuer' && loaded.state === 'done' && describeOwned(loaded.value, address)}
            {loaded.state === 'done' && describeGone(ids.length - loaded.value.length)}
          </p>
        }
        notesOf={(nft) => (name === 'issuer' ? [] : describeHeld(nft, address))}
      />
      {ids.length === 0 && <NotChecked>there is no page {formatCount(page)}.</NotChecked>}
      <Pager
        page={page}
        size={PAGE_SIZE}
        count={count}
        view={(page) => ({ name, address, page })}
      />
    </section>
  );
}

/** Of a page, since it was listed. */
const describeGone = (count: number) =>
  count === 0 ? '' : `. ${plural(count, 'NFT')} of this page moved, ended or came meanwhile`;

/** In words of a tile. @param holder whose NFTs these are */
function describeHeld({ owner }: Nft, holder: string): readonly string[] {
  if (owner.address !== holder) return ['belongs to another address'];
  return [
    ...(owner.canUnlock ? [] : ['locked by time']),
    ...(owner.passesTo === undefined ? [] : ['expires']),
  ];
}

function describeCount(name: AddressViewName, count: number): string {
  if (name === 'issuer') return plural(count, 'NFT');
  return `${plural(count, 'NFT')} that ${count === 1 ? 'names' : 'name'} this address`;
}

/** An address is named as owner, or as whom an NFT goes back to. */
function describeOwned(nfts: readonly Nft[], address: string): string {
  const own = nfts.filter(({ owner }) => owner.address === address).length;
  const others = nfts.length - own;
  return others === 0
    ? ''
    : `. On this page ${formatCount(own)} ${own === 1 ? 'belongs' : 'belong'} to it, and ${formatCount(others)} to another address`;
}
