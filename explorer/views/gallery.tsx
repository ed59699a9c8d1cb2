/**
 * The NFTs that an address can unlock, or those that it issued: a gallery, the newest first.
 */
import { useState } from 'preact/hooks';
import { Pager, pageOf } from '../address/address-outputs.tsx';
import { cut, formatCount, plural, shorten } from '../format.ts';
import { readMetadata } from '../nft/claims.ts';
import { GatewayChoice, Thumbnail, useGateway } from '../nft/picture.tsx';
import { readNfts } from '../node/ledger.ts';
import { readIds } from '../node/lists.ts';
import { hasEnded, type Info, type Nft } from '../node/shapes.ts';
import { Foreign, LoadedPart, To } from '../parts/parts.tsx';
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
            {hasEnded(info) && ', the last one of the network,'}{' '}
            {name === 'issuer'
              ? 'there is no NFT that this address issued.'
              : 'no NFT names this address.'}
          </p>
        ) : (
          <GalleryPage
            name={name}
            address={address}
            page={page}
            count={ids.length}
            ids={pageOf(ids, page, PAGE_SIZE)}
            ledgerIndex={ledgerIndex}
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
  const [gateway, choose] = useGateway();
  const [isWanted, want] = useState(false);
  const loaded = useLoad(() => readNfts(ids), [ids.join()]);
  return (
    <section class="said" data-standing="said">
      <p class="said-label">
        This node says. Not checked: a node can leave NFTs out of a list, or put others in.
      </p>
      <div class="tools">
        <p class="hint" role="status">
          {describeCount(name, count)} at ledger index {ledgerIndex}, the newest first
          {name !== 'issuer' && loaded.state === 'done' && describeOwned(loaded.value, address)}
        </p>
        <div class="choice">
          <button type="button" disabled={isWanted} onClick={() => want(true)}>
            Show pictures
          </button>
          <GatewayChoice place={gateway} choose={choose} />
        </div>
      </div>
      <LoadedPart loaded={loaded}>
        {(nfts) => (
          <ul class="gallery">
            {nfts.map((nft) => (
              <Card
                key={nft.nftId}
                nft={nft}
                gateway={gateway}
                isWanted={isWanted}
                holder={name === 'issuer' ? undefined : address}
              />
            ))}
          </ul>
        )}
      </LoadedPart>
      <Pager
        page={page}
        size={PAGE_SIZE}
        count={count}
        view={(page) => ({ name, address, page })}
      />
    </section>
  );
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

function Card({
  nft,
  gateway,
  isWanted,
  holder,
}: {
  nft: Nft;
  gateway: number;
  isWanted: boolean;
  /** Whose NFTs these are. */
  holder: string | undefined;
}) {
  const claims = readMetadata(nft.output)?.claims;
  const name = cut(claims?.name ?? `NFT ${shorten(nft.nftId)}`);
  const { address: owner, canUnlock, passesTo } = nft.owner;
  return (
    <li>
      <Thumbnail
        id={nft.nftId}
        uri={claims?.uri}
        type={claims?.type}
        title={name}
        gateway={gateway}
        isWanted={isWanted}
      />
      <p class="name">
        <To view={{ name: 'nft', id: nft.nftId }}>
          <Foreign text={name} />
        </To>
      </p>
      <p class="hint mono">{nft.nftId.slice(0, 12)}…</p>
      {holder !== undefined && owner !== holder && <p class="hint">belongs to another address</p>}
      {holder === owner && !canUnlock && <p class="hint">locked by time</p>}
      {holder === owner && passesTo !== undefined && <p class="hint">expires</p>}
    </li>
  );
}
