/** Looks up an NFT, reads its output, and lists the NFTs of an issuer. */
import { Client } from '@iota/sdk-wasm/node/lib/index.js'; // 1.1.3

// the sample's ledger is from 2022, so it is not healthy
const client = new Client({ nodes: ['http://127.0.0.1:8787'], ignoreNodeHealth: true });

const outputId = await client.nftOutputId(
  '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7',
);
const { output, metadata } = await client.getOutput(outputId);
console.log(`${output.amount}, unspent at ledger index ${metadata.ledgerIndex}`);

const issuer = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
const { items } = await client.nftOutputIds([{ issuer }]);
console.log(`${items.length} NFTs`);
