/**
 * NFTs as tiles: a picture, once the visitor asks for all of them, and a name.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { cut, shorten } from '../format.ts';
import type { Nft } from '../node/shapes.ts';
import { Foreign, LoadedPart, To } from '../parts/parts.tsx';
import type { Loaded } from '../use-load.ts';
import { readMetadata } from './claims.ts';
import { GatewayChoice, Thumbnail, useGateway } from './picture.tsx';

export function Tiles({
  loaded,
  title,
  notesOf,
}: {
  loaded: Loaded<readonly Nft[]>;
  /** Beside the button. */
  title: ComponentChildren;
  /** Below the name of each. */
  notesOf(nft: Nft): readonly string[];
}) {
  const gateway = useGateway();
  const [isWanted, want] = useState(false);
  return (
    <>
      <div class="tools">
        {title}
        <div class="choice">
          <button type="button" disabled={isWanted} onClick={() => want(true)}>
            Show pictures
          </button>
          <GatewayChoice place={gateway} />
        </div>
      </div>
      <LoadedPart loaded={loaded}>
        {(nfts) => (
          <ul class="gallery">
            {nfts.map((nft) => (
              <Tile key={nft.nftId} {...{ nft, gateway, isWanted }} notes={notesOf(nft)} />
            ))}
          </ul>
        )}
      </LoadedPart>
    </>
  );
}

function Tile({
  nft: { nftId, output },
  gateway,
  isWanted,
  notes,
}: {
  nft: Nft;
  gateway: number;
  isWanted: boolean;
  notes: readonly string[];
}) {
  const claims = readMetadata(output)?.claims;
  const name = cut(claims?.name ?? `NFT ${shorten(nftId)}`);
  return (
    <li>
      <Thumbnail
        {...{ nftId, title: name, gateway, isWanted }}
        uri={claims?.uri}
        type={claims?.type}
      />
      <p class="name">
        <To view={{ name: 'nft', id: nftId }}>
          <Foreign text={name} />
        </To>
      </p>
      <p class="hint mono">{nftId.slice(0, 12)}…</p>
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
    </li>
  );
}
