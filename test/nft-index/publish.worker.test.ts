/** Publishing and looking up with a real D1 and a real KV. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, test } from 'vitest';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { entryKey, writeEntry } from '../../src/nft-index/kv-values.ts';
import { lookUpNft, type NftAnswer } from '../../src/nft-index/look-up-nft.ts';
import { openNftSources } from '../../src/nft-index/nft-sources.ts';
import { publish } from '../../src/nft-index/publish.ts';
import {
  MAX_STATES,
  PREFIX_LENGTH,
  RECENT_KEY,
  readRecent,
} from '../../src/nft-index/recent-changes.ts';
import {
  HEARTBEAT_MS,
  MARK_INTERVAL_MS,
  PUT_AFTER_MS,
  SETTLING_TIME_MS,
  TOMBSTONE_TTL_S,
} from '../../src/nft-index/timing-assumptions.ts';
import {
  nftId,
  openTestLedger,
  outputId,
  resetState,
} from '../support/nft-index/d1-test-ledger.ts';

const { LEDGER, NFT_INDEX } = env;
const ledger = openTestLedger(LEDGER);
const [A, B, C] = [nftId('a'), nftId('b'), nftId('c')];
const BUDGET = { operations: 900, statements: 500 };
const SMALL_BUDGET = { operations: 80, statements: 50 };

/** One clock over all tests: KV remembers nothing here, but the file's namespace is one. */
let now = 1_700_000_000_000;
let generation = 0;

const publishAll = async () => {
  for (let done = false; !done; now += 1_000)
    ({ done } = await publish(openIndexLedger(LEDGER), NFT_INDEX, () => now, BUDGET));
};
const look = (nft: string, min = 0): Promise<NftAnswer | undefined> =>
  lookUpNft(
    openNftSources(LEDGER, NFT_INDEX, undefined, () => now),
    nft,
    min,
    {
      url: 'http://edge.example/',
      defer: () => {},
    },
  );

beforeEach(async () => {
  await resetState(LEDGER);
  await ledger.import(`g${++generation}`, 100, [
    { nft: A, output: outputId('1') },
    { nft: B, output: outputId('2') },
  ]);
});

describe('with real bindings', () => {
  test('an import, a milestone, a burn, an absence', async () => {
    await publishAll();
    expect(await look(A)).toEqual({
      ledgerIndex: 100,
      outputId: outputId('1'),
      source: 'kv',
      why: 'entry',
    });
    await ledger.apply([{ nft: C, output: outputId('3') }]);
    await ledger.apply([{ nft: B, output: null }]);
    await publishAll();
    expect(await look(A)).toEqual({
      ledgerIndex: 102,
      outputId: outputId('1'),
      source: 'kv',
      why: 'range',
    });
    expect(await look(B)).toMatchObject({ ledgerIndex: 102, outputId: undefined, source: 'kv' });
    expect(await look(C)).toMatchObject({
      ledgerIndex: 102,
      outputId: outputId('3'),
      source: 'kv',
    });
    expect(await look(nftId('d'))).toMatchObject({
      ledgerIndex: 102,
      outputId: undefined,
      source: 'd1',
    });

    now += SETTLING_TIME_MS;
    await publishAll();
    expect(await look(nftId('d'))).toEqual({
      ledgerIndex: 102,
      outputId: undefined,
      source: 'kv',
      why: 'age',
    });
  });

  test('a burned NFT leaves D1, and its entry in KV expires', async () => {
    await publishAll();
    await ledger.apply([{ nft: B, output: null }]);
    await publishAll();
    const count = () => LEDGER.prepare('SELECT count(*) AS n FROM nft').first('n');
    for (const wait of [PUT_AFTER_MS, SETTLING_TIME_MS]) {
      expect(await count()).toBe(2);
      now += wait + MARK_INTERVAL_MS;
      await publishAll();
      await ledger.prune();
    }
    expect(await count()).toBe(1);
    const keys = (await NFT_INDEX.list({ prefix: 'nft:' })).keys;
    const expirations = new Map(keys.map(({ name, expiration }) => [name, expiration]));
    expect(expirations.get(entryKey(A))).toBeUndefined();
    const seconds = expirations.get(entryKey(B))! - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(TOMBSTONE_TTL_S - 300);
    expect(seconds).toBeLessThanOrEqual(TOMBSTONE_TTL_S);
    const gone = { ledgerIndex: 101, outputId: undefined, source: 'kv' };
    expect(await look(B)).toMatchObject(gone);
    // as if it had expired
    await NFT_INDEX.delete(entryKey(B));
    expect(await look(B)).toMatchObject({ ...gone, why: 'age' });
  });

  test('an emptied namespace is filled again', async () => {
    await publishAll();
    now += SETTLING_TIME_MS;
    await publishAll();
    for (const { name } of (await NFT_INDEX.list()).keys) await NFT_INDEX.delete(name);
    expect(await look(A)).toMatchObject({
      outputId: outputId('1'),
      source: 'd1',
      why: 'recent is absent',
    });
    now += HEARTBEAT_MS;
    await publishAll();
    expect(await look(A)).toMatchObject({ outputId: outputId('1'), source: 'kv' });
  });

  test('a removed state has all entries put once more', async () => {
    await publishAll();
    await NFT_INDEX.put(entryKey(A), 'broken');
    await ledger.removeState();
    now += HEARTBEAT_MS;
    await publishAll();
    expect(await NFT_INDEX.get(entryKey(A))).toBe(
      writeEntry({
        nft: A,
        generation: `g${generation}`,
        ledgerIndex: 100,
        outputId: outputId('1'),
      }),
    );
  });
});

describe.runIf(process.env.SLOW)('50,000 NFTs change within the window', () => {
  test('every answer is true: KV gives those of the last changes, D1 the others', async () => {
    const nfts = Array.from({ length: 50_000 }, (_, i) => hash(i));
    // begins, and puts no entries yet
    await publish(openIndexLedger(LEDGER), NFT_INDEX, () => now, { operations: 2, statements: 20 });
    now += 1_000;
    await ledger.apply(
      nfts.map((nft, i) => ({ nft, output: i % 10 === 0 ? null : outputId(nft) })),
    );
    expect(
      await publish(openIndexLedger(LEDGER), NFT_INDEX, () => now, SMALL_BUDGET),
    ).toMatchObject({
      stops: ['budget spent'],
      ledgerIndex: 101,
    });
    const text = (await NFT_INDEX.get(RECENT_KEY)) ?? '';
    expect(text.length).toBeLessThan(600_000);
    const recent = readRecent(text);
    if (recent.kind !== 'value') throw new Error(recent.kind);
    const { states, prefixes } = recent.value;
    expect(Object.keys(states).length).toBe(MAX_STATES);
    expect(prefixes.length).toBe(
      new Set(nfts.map((nft) => nft.slice(0, PREFIX_LENGTH))).size * PREFIX_LENGTH,
    );

    const asked = [...nfts.filter((_, i) => i % 500 === 0), ...Object.keys(states).slice(0, 50)];
    const sources = { kv: 0, d1: 0 };
    for (const nft of asked) {
      const i = nfts.indexOf(nft);
      const answer = await look(nft);
      expect(answer).toMatchObject({
        ledgerIndex: 101,
        outputId: i % 10 === 0 ? undefined : outputId(nft),
      });
      sources[answer!.source]++;
    }
    expect(sources.kv).toBeGreaterThanOrEqual(50);
    expect(sources.d1).toBeGreaterThanOrEqual(80);

    // their entries follow, page by page
    const entry = () => NFT_INDEX.get(entryKey(nfts.toSorted()[100]!));
    expect(await entry()).toBe(null);
    now += 1_000;
    await publish(openIndexLedger(LEDGER), NFT_INDEX, () => now, SMALL_BUDGET);
    expect(await entry()).toContain('"ledgerIndex":101');
  });
});

/** Digits that look random. */
function hash(i: number): string {
  return (BigInt(i + 1) * 0x9e3779b97f4a7c15n)
    .toString(16)
    .padStart(64, '0')
    .slice(-16)
    .padEnd(64, 'c');
}
