/** Looks up an NFT, reads its output, and lists the NFTs of an issuer page by page. */
import { IndexerPluginClient, SingleNodeClient } from '@iota/iota.js'; // 2.0.0-rc.4

const node = new SingleNodeClient('http://127.0.0.1:8787');
const indexer = new IndexerPluginClient(node);

const { ledgerIndex, items } = await indexer.nft(
  '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7',
);
const { output } = await node.output(items[0]!);
console.log(`${items[0]} holds ${output.amount} at ledger index ${ledgerIndex}`);

const issuerBech32 = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
let cursor: string | undefined;
do {
  const page = await indexer.nfts({ issuerBech32, pageSize: 10, ...(cursor && { cursor }) });
  console.log(`a page of ${page.items.length}`);
  cursor = page.cursor;
} while (cursor !== undefined);
