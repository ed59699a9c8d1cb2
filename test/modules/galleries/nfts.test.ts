/** GET /api/edge/v1/nfts, from a database with the ledger of network-n. */
import { beforeAll, describe, expect, it } from 'vitest';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../../src/stardust/json/rest-json.ts';
import { ownerAt } from '../../../src/stardust/output.ts';
import { nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { checkLedgerRead, expectError, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { milestoneAt } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import { listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { recordedNfts } from '../../support/nft-list/recorded-nfts.ts';
import { type KeyPair, keyPair } from '../../support/payloads/keys.ts';
import { idOf, issuer, nft } from '../../support/payloads/outputs.ts';

const INDEX = 90;
const LATER = 110;
const ONE = '/api/edge/v1/nfts/';
const SEVERAL = '/api/edge/v1/nfts?ids=';
const UNKNOWN = `0x${'5a'.repeat(32)}`;

const network = recordedNetwork('network-n');
const nfts = recordedNfts()(INDEX).map((nft) => ({
  ...nft,
  nftId: toHex(nftIdOf(nft.output, Uint8Array.fromHex(nft.outputId))),
}));

interface Answer {
  ledgerIndex: number;
  outputId: string;
  metadata: Record<string, unknown>;
}

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
  const issuer = output.immutableFeatures.find(({ type }) => type === 1);
  return {
    nftId,
    outputId: `0x${outputId}`,
    owner,
    ...(issuer?.type === 1 && { issuer: toBech32('tst', issuer.address) }),
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

  it('carries a tag', async () => {
    await checkLedgerRead(fetch, ONE + nfts[0]!.nftId, INDEX);
  });

  it('has another tag at a later milestone if more than the ledger index is another', async () => {
    const later = fetchFrom({ node: nodeOver(await listedLedger(LATER)) });
    const seen = { same: 0, moved: 0, timePassed: 0 };
    for (const { nftId } of nfts) {
      const before = await fetch(ONE + nftId, { headers: { 'x-min-ledger-index': '1' } });
      const headers = { 'x-min-ledger-index': '1', 'if-none-match': before.headers.get('etag')! };
      const after = await later(ONE + nftId, { headers });
      if (after.status === 404) continue;
      const [was, is] = await Promise.all(
        [before, await later(ONE + nftId)].map(async (answer) => {
          const { ledgerIndex: _, metadata, ...nft } = (await answer.json()) as Answer;
          return { ...nft, metadata: { ...metadata, ledgerIndex: undefined } };
        }),
      );
      const isSame = JSON.stringify(was) === JSON.stringify(is);
      expect([after.status, after.headers.get('x-ledger-index')]).toEqual([
        isSame ? 304 : 200,
        String(LATER),
      ]);
      seen[isSame ? 'same' : was!.outputId === is!.outputId ? 'timePassed' : 'moved']++;
    }
    expect(Object.values(seen).map((count) => count > 1)).toEqual([true, true, true]);
  });

  it.each(['', 'x'.repeat(31), 'é'])(
    'names owners in hex where no address begins with %j',
    async (bech32Hrp) => {
      // HORNET runs on such parameters
      const [owner, issuedBy] = [keyPair('owner'), keyPair('issuer')];
      const coins = () => [
        nft(owner, { amount: 1_000_000n, nftId: idOf('held'), immutable: [issuer(issuedBy)] }),
      ];
      const db = await openMemory();
      await startNew(db, 'no addresses', { coins, parameters: { bech32Hrp } });
      const answer = await fetchFrom({ node: nodeOver(db) })(ONE + toHex(idOf('held')));
      const hex = ({ address }: KeyPair) => `0x00${address.id.toHex()}`;
      expect(await answer.json()).toMatchObject({
        owner: { address: hex(owner), canUnlock: true },
        issuer: hex(issuedBy),
      });
    },
  );

  it('400, 404, 500', async () => {
    const headers = { 'x-ledger-index': String(INDEX) };
    await expectError(fetch, `${ONE}0x12`, 400);
    await expectError(fetch, ONE + UNKNOWN, 404, undefined, headers);
    const empty = fetchFrom();
    await expectError(empty, ONE + UNKNOWN, 500);
  });
});

describe('several NFTs', () => {
  it('100 of them, in the order asked for, null where there is none', async () => {
    const asked = [...nfts.slice(0, 97).reverse(), undefined, nfts[5]!, nfts[5]!];
    const ids = asked.map((nft) => nft?.nftId ?? UNKNOWN);
    const answer = await fetch(SEVERAL + ids.join());
    const body = { ledgerIndex: INDEX, nfts: asked.map((nft) => (nft ? expected(nft) : null)) };
    expect(await answer.text()).toBe(JSON.stringify(body));
    await checkLedgerRead(fetch, SEVERAL + ids.join(), INDEX);
  });

  it('any case, commas escaped', async () => {
    const [a, b] = nfts as [(typeof nfts)[0], (typeof nfts)[0]];
    const spelled = `${a.nftId.toUpperCase()}%2C${b.nftId}`;
    const { nfts: found } = (await (await fetch(SEVERAL + spelled)).json()) as { nfts: unknown[] };
    expect(found).toEqual(JSON.parse(JSON.stringify([expected(a), expected(b)])));
  });

  it('by the IDs of their outputs too; null for an output of another kind, or a spent one', async () => {
    const [a, b] = nfts as [(typeof nfts)[0], (typeof nfts)[0]];
    const others = [...network.outputs].filter(([id]) =>
      nfts.every(({ outputId }) => id !== `0x${outputId}`),
    );
    const unspent = others.find(([, { spent }]) => spent === undefined || spent.index > INDEX)![0];
    const spent = others.find(([, output]) => output.spent && output.spent.index <= INDEX)![0];
    const ids = [`0x${a.outputId}`, unspent, b.nftId, spent, `0X${b.outputId.toUpperCase()}`];
    const answer = await fetch(SEVERAL + ids.join());
    const found = [expected(a), null, expected(b), null, expected(b)];
    expect(await answer.text()).toBe(JSON.stringify({ ledgerIndex: INDEX, nfts: found }));
  });

  it.each([
    ['none', '/api/edge/v1/nfts'],
    ['IDs and an address', `${SEVERAL}${UNKNOWN}&address=tst1`],
    ['an empty list', SEVERAL],
    ['a bad one', `${SEVERAL}${UNKNOWN},0x12`],
    ['a comma too many', `${SEVERAL}${UNKNOWN},`],
    ['101', SEVERAL + Array(101).fill(UNKNOWN).join()],
    ['a hundred thousand', SEVERAL + ','.repeat(100_000)],
  ])('400: %s', async (_, path) => {
    await expectError(fetch, path, 400);
  });
});

describe('a gallery', () => {
  interface Page {
    nfts: unknown[];
    pageSize: number;
    cursor?: string;
  }
  const GALLERY = '/api/edge/v1/nfts?';

  /** Those of which the property is so, in the order of lists. */
  const listed = (isListed: (nft: (typeof nfts)[number]) => boolean) => {
    const timeOf = ({ outputId }: (typeof nfts)[number]) =>
      network.outputs.get(`0x${outputId}`)!.bookedTimestamp;
    return nfts
      .filter(isListed)
      .sort((a, b) => timeOf(a) - timeOf(b) || (a.outputId < b.outputId ? -1 : 1))
      .map(expected);
  };
  const addressOf = ({ output }: (typeof nfts)[number]) => {
    const condition = output.unlockConditions.find(({ type }) => type === 0);
    return condition?.type === 0 ? toBech32('tst', condition.address) : '';
  };

  /** All pages, each of which is asked for by the cursor of the one before. */
  async function readPages(filter: string, pageSize: number): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let query = `${filter}&pageSize=${pageSize}`; ; ) {
      const answer = await fetch(GALLERY + query);
      expect([answer.status, answer.headers.get('x-ledger-index')]).toEqual([200, `${INDEX}`]);
      const page = (await answer.json()) as Page;
      expect(page.pageSize).toBe(pageSize);
      expect(page.nfts.length).toBeLessThanOrEqual(pageSize);
      found.push(...page.nfts);
      if (page.cursor === undefined) return found;
      expect(page.nfts).toHaveLength(pageSize);
      query = `${filter}&cursor=${page.cursor}`;
    }
  }

  it('of each address, and of each issuer, in pages', async () => {
    const addresses = new Set(nfts.map(addressOf));
    const issuers = new Set(nfts.map((nft) => expected(nft).issuer).filter((each) => each));
    expect(addresses.size).toBeGreaterThan(5);
    expect(issuers.size).toBeGreaterThan(1);
    for (const pageSize of process.env.SLOW ? [2, 7, 100] : [7]) {
      for (const address of addresses)
        expect(await readPages(`address=${address}`, pageSize)).toEqual(
          JSON.parse(JSON.stringify(listed((nft) => addressOf(nft) === address))),
        );
      for (const issuer of issuers)
        expect(await readPages(`issuer=${issuer}`, pageSize)).toEqual(
          JSON.parse(JSON.stringify(listed((nft) => expected(nft).issuer === issuer))),
        );
    }
  });

  it('has the cursors of lists, at most 100 NFTs, and a tag', async () => {
    const address = addressOf(nfts[0]!);
    const list = `/api/indexer/v1/outputs/nft?address=${address}&pageSize=1`;
    const { cursor, items } = (await (await fetch(list)).json()) as {
      cursor?: string;
      items: string[];
    };
    const path = `${GALLERY}address=${address.toUpperCase()}&pageSize=1`;
    const page = (await (await fetch(path)).json()) as Page;
    expect([page.cursor, page.nfts]).toMatchObject([cursor, [{ outputId: items[0] }]]);
    for (const size of ['101', '0', '', 'x']) {
      const largest = await fetch(`${GALLERY}address=${address}&pageSize=${size}`);
      expect(((await largest.json()) as Page).pageSize).toBe(100);
    }
    await checkLedgerRead(fetch, path, INDEX);
  });

  it('of nobody is empty', async () => {
    const address = toBech32('tst', { type: 0, id: new Uint8Array(32).fill(0x5a) });
    const answer = await fetch(`${GALLERY}address=${address}`);
    expect(await answer.json()).toEqual({ ledgerIndex: INDEX, pageSize: 100, nfts: [] });
  });

  it.each([
    ['an address and an issuer', (address: string) => `address=${address}&issuer=${address}`],
    ['no bech32', () => 'address=tst1'],
    ['another network', () => `issuer=${toBech32('smr', { type: 0, id: new Uint8Array(32) })}`],
    ['a bad cursor', (address: string) => `address=${address}&cursor=00.1`],
    [
      'a cursor without pages',
      (address: string) => `address=${address}&cursor=${'0'.repeat(76)}.0`,
    ],
  ])('400: %s', async (_, query) => {
    await expectError(fetch, GALLERY + query(addressOf(nfts[0]!)), 400);
  });

  it('500 without a ledger', async () => {
    const path = `${GALLERY}address=${addressOf(nfts[0]!)}`;
    await expectError(fetchFrom(), path, 500);
  });
});

it('ids have no pages', async () => {
  const ids = `${SEVERAL}${UNKNOWN}`;
  const refused = await fetch(`${ids}&pageSize=1`);
  expect([refused.status, refused.headers.get('x-error-detail')]).toEqual([
    400,
    'pageSize is of lists by address or issuer, not of ids',
  ]);
  expect((await fetch(ids)).status).toBe(200);
});
