/** Shows the NFTs of an issuer, with names and owners. Its types are generated (docs/developers.md). */
import type { components } from './nodeApi.ts';

const issuer = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
let cursor: string | undefined;
do {
  // a cursor has its page size
  const query = new URLSearchParams({ issuer, ...(cursor ? { cursor } : { pageSize: '10' }) });
  const response = await fetch(`http://127.0.0.1:8787/api/edge/v1/nfts?${query}`);
  if (!response.ok) throw new Error(`status ${response.status}`);
  const page = (await response.json()) as components['schemas']['NFTs'];
  const [first] = page.nfts;
  console.log(`${page.nfts.length} NFTs at ledger index ${page.ledgerIndex}`);
  console.log(`${first?.claims?.name} of ${first?.owner.address}`);
  cursor = page.cursor;
} while (cursor !== undefined);
