/** GET /api/edge/v1/nfts, from a database with the ledger of network-n. */
import { beforeAll, describe, expect, it } from 'vitest';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../../src/stardust/json/rest-json.ts';
import { ownerAt } from '../../../src/stardust/owner.ts';
import { nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { checkRow, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { milestoneAt } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import { listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { recordedNfts } from '../../support/nft-list/recorded-nfts.ts';

const INDEX = 90;
const ONE = '/api/edge/v1/nfts/';
const SEVERAL = '/api/edge/v1/nfts?ids=';
const UNKNOWN = `0x${'5a'.repeat(32)}`;

const network = recordedNetwork('network-n');
const nfts = recordedNfts()(INDEX).map((nft) => ({
  ...nft,
  nftId: toHex(nftIdOf(nft.output, Uint8Array.fromHex(nft.outputId))),
}));

let fetch: Fetch;

beforeAll(async () => {
  fetch = fetchFrom({ node: nodeOver(await listedLedger(INDEX)) });
});

function expected({ nftId, output, outputId }: (typeof nfts)[number]) {
  const booked = network.outputs.get(`0x${outputId}`)!;
  const { address, timelockedUntil, passesTo } = ownerAt(
    output,
    milestoneAt(network, INDEX)!.timestamp,
  );
  const owner = {
    address: toBech32('tst', address),
    canUnlock: timelockedUntil === undefined,
    ...(timelockedUntil !== undefined && { timelockedUntil }),
    ...(passesTo && {
      passesTo: { address: toBech32('tst', passesTo.address), unixTime: passesTo.unixTime },
    }),
  };
  return {
    nftId,
    outputId: `0x${outputId}`,
    owner,
    metadata: {
      blockId: toHex(booked.blockId),
      transactionId: `0x${outputId.slice(0, 64)}`,
      outputIndex: Buffer.from(outputId, 'hex').readUInt16LE(32),
      isSpent: false,
      milestoneIndexBooked: booked.bookedIndex,
      milestoneTimestampBooked: booked.bookedTimestamp,
      ledgerIndex: INDEX,
    },
    output: outputToJson(output),
  };
}

describe('one NFT', () => {
  it('each that there is', async () => {
    for (const nft of nfts) {
      const answer = await fetch(ONE + nft.nftId);
      expect(await answer.text()).toBe(JSON.stringify({ ledgerIndex: INDEX, ...expected(nft) }));
      expect(answer.headers.get('x-ledger-index')).toBe(String(INDEX));
    }
    expect(nfts.length).toBeGreaterThan(100);
    expect(nfts.map(expected).filter(({ owner }) => owner.passesTo).length).toBeGreaterThan(10);
  });

  it('carries a tag, as a lookup', async () => {
    const path = ONE + nfts[0]!.nftId;
    const { headers } = await fetch(path);
    const etag = headers.get('etag')!;
    expect(etag).toBe(`W/"${INDEX}-${nfts[0]!.outputId.slice(0, 16)}"`);
    expect(headers.get('cache-control')).toMatch(/^public, max-age=5,/);
    expect((await fetch(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('400, 404, 500', async () => {
    const headers = { 'x-ledger-index': String(INDEX) };
    await checkRow(fetch, { name: '', path: `${ONE}0x12`, status: 400 });
    await checkRow(fetch, { name: '', path: ONE + UNKNOWN, status: 404, headers });
    const init = { headers: { 'x-min-ledger-index': String(INDEX + 1) } };
    await checkRow(fetch, { name: '', path: ONE + nfts[0]!.nftId, init, status: 404, headers });
    const empty = fetchFrom({ node: { readNfts: async () => undefined } });
    await checkRow(empty, { name: '', path: ONE + UNKNOWN, status: 500 });
  });
});

describe('several NFTs', () => {
  it('100 of them, in the order asked for, null where there is none', async () => {
    const asked = [...nfts.slice(0, 97).reverse(), undefined, nfts[5]!, nfts[5]!];
    const ids = asked.map((nft) => nft?.nftId ?? UNKNOWN);
    const answer = await fetch(SEVERAL + ids.join());
    const body = { ledgerIndex: INDEX, nfts: asked.map((nft) => (nft ? expected(nft) : null)) };
    expect(await answer.text()).toBe(JSON.stringify(body));
    const etag = answer.headers.get('etag')!;
    expect(etag).toMatch(/^W\/"90-[0-9a-f]{16}"$/);
    const again = await fetch(SEVERAL + ids.join(), { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });

  it('any case, commas escaped', async () => {
    const [a, b] = nfts as [(typeof nfts)[0], (typeof nfts)[0]];
    const spelled = `${a.nftId.toUpperCase()}%2C${b.nftId}`;
    const { nfts: found } = (await (await fetch(SEVERAL + spelled)).json()) as { nfts: unknown[] };
    expect(found).toEqual(JSON.parse(JSON.stringify([expected(a), expected(b)])));
  });

  it.each([
    ['none', '/api/edge/v1/nfts'],
    ['an empty list', SEVERAL],
    ['a bad one', `${SEVERAL}${UNKNOWN},0x12`],
    ['a comma too many', `${SEVERAL}${UNKNOWN},`],
    ['101', SEVERAL + Array(101).fill(UNKNOWN).join()],
    ['a hundred thousand', SEVERAL + ','.repeat(100_000)],
  ])('400: %s', async (_, path) => {
    await checkRow(fetch, { name: '', path, status: 400 });
  });
});
