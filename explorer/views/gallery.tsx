/**
 * The NFTs of an address, or those that an issuer minted: a gallery, page by page.
 */
import { useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { readMetadata } from '../nft/claims.ts';
import { GatewayChoice, Thumbnail, useGateway } from '../nft/picture.tsx';
import { NodeError } from '../node/ask.ts';
import { readNftPage } from '../node/ledger.ts';
import type { Nft } from '../node/shapes.ts';
import { Awaited, Foreign, Head, Id, To } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';
import { formatRoute } from '../route.ts';

type Role = 'address' | 'issuer';

interface Page {
  ledgerIndex: number;
  nfts: readonly Nft[];
  cursor: string | undefined;
}

const PAGE_SIZE = 24;

async function readPage(role: Role, address: string, cursor?: string): Promise<Page> {
  const page = await readNftPage({
    [role]: address,
    pageSize: String(PAGE_SIZE),
    ...(cursor !== undefined && { cursor }),
  });
  return { ...page, cursor: page.cursor, nfts: page.nfts.filter((nft) => nft !== null) };
}

export function GalleryView({
  role,
  address,
  cursor,
}: {
  role: Role;
  address: string;
  cursor: string | undefined;
}) {
  const loaded = useLoad(() => readPage(role, address, cursor), [role, address, cursor]);
  return (
    <article class="page">
      <Head kind={role === 'issuer' ? 'Issuer' : 'Address'}>
        <Id id={address} what="address" />
      </Head>
      <nav class="tabs" aria-label="NFTs of this address">
        {(['address', 'issuer'] as const).map((each) => (
          <a
            key={each}
            href={formatRoute({ name: each, address })}
            aria-current={each === role ? 'page' : undefined}
          >
            {each === 'address' ? 'Holds' : 'Issued'}
          </a>
        ))}
      </nav>
      {loaded.state === 'failed' && isInvalid(loaded.error) ? (
        <p class="reason">
          This is no address of the network that this node serves, it says. {loaded.error.message}
        </p>
      ) : (
        <Awaited loaded={loaded} kind="NFTs" id={address} missing="">
          {(page) => (
            <PageOfNfts role={role} address={address} page={page} isFirst={cursor === undefined} />
          )}
        </Awaited>
      )}
    </article>
  );
}

function isInvalid(error: Error): boolean {
  return error instanceof NodeError && error.status === 400;
}

function PageOfNfts({
  role,
  address,
  page,
  isFirst,
}: {
  role: Role;
  address: string;
  page: Page;
  isFirst: boolean;
}) {
  const [gateway, choose] = useGateway();
  const [isWanted, want] = useState(false);
  const { nfts, cursor, ledgerIndex } = page;
  if (nfts.length === 0)
    return (
      <p class="reason" data-standing="said">
        This node says, and it is not checked:{' '}
        {role === 'issuer'
          ? `at ledger index ${ledgerIndex} there is no NFT that this address issued.`
          : `at ledger index ${ledgerIndex} no NFT is held by this address. Its base tokens and native tokens are not indexed here.`}
      </p>
    );
  return (
    <section class="said" data-standing="said">
      <p class="said-label">
        This node says. Not checked: a node can leave NFTs out of a list, or put others in.
      </p>
      <div class="tools">
        <p class="hint" role="status">
          {isFirst && cursor === undefined
            ? `${formatCount(nfts.length)} at ledger index ${ledgerIndex}, the oldest first`
            : `${isFirst ? 'The first' : 'The next'} ${nfts.length} at ledger index ${ledgerIndex}`}
        </p>
        <div class="choice">
          <button type="button" disabled={isWanted} onClick={() => want(true)}>
            Show pictures
          </button>
          <GatewayChoice place={gateway} choose={choose} />
        </div>
      </div>
      <ul class="gallery">
        {nfts.map((nft) => (
          <Card key={nft.nftId} nft={nft} gateway={gateway} isWanted={isWanted} />
        ))}
      </ul>
      {(cursor !== undefined || !isFirst) && (
        <p class="pager">
          {!isFirst && <To view={{ name: role, address }}>First page</To>}
          {cursor !== undefined && <To view={{ name: role, address, cursor }}>Next page</To>}
        </p>
      )}
    </section>
  );
}

function Card({ nft, gateway, isWanted }: { nft: Nft; gateway: number; isWanted: boolean }) {
  const claims = readMetadata(nft.output)?.claims;
  const name = claims?.name ?? 'without a name';
  return (
    <li>
      <Thumbnail
        id={nft.nftId}
        uri={claims?.uri}
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
    </li>
  );
}
