/**
 * The publisher, call by call: what it puts when, within which budget. The simulator tests whether
 * answers are true.
 */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { entryKey, readEntry } from '../../src/nft-index/kv-values.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { RECENT_KEY, type Recent, readRecent } from '../../src/nft-index/recent-changes.ts';
import {
  HEARTBEAT_MS,
  MARK_INTERVAL_MS,
  MAX_WRITE_AGE_MS,
  PUT_AFTER_MS,
  PUT_WITHIN_MS,
  SETTLING_TIME_MS,
  TOMBSTONE_TTL_S,
} from '../../src/nft-index/timing-assumptions.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import {
  nftId,
  openTestLedger,
  outputId,
  type TestLedger,
} from '../support/nft-index/d1-test-ledger.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const [A, B, C] = [nftId('a'), nftId('b'), nftId('c')];
const BUDGET = { operations: 900, statements: 500 };

class TestStore {
  readonly values = new Map<string, string>();
  puts: string[] = [];
  reads = 0;
  failsAt: number | undefined;

  readonly ttls = new Map<string, number | undefined>();

  async put(key: string, value: string, options?: { expirationTtl: number }): Promise<void> {
    this.ttls.set(key, options?.expirationTtl);
    if (this.puts.length === this.failsAt) throw new Error('KV is away');
    this.puts.push(key);
    this.values.set(key, value);
  }

  async get(key: string): Promise<string | null> {
    this.reads++;
    return this.values.get(key) ?? null;
  }

  get recent(): Recent {
    const copy = readRecent(this.values.get(RECENT_KEY) ?? null);
    if (copy.kind !== 'value') throw new Error(`recent is ${copy.kind}`);
    return copy.value;
  }

  entry(nft: string) {
    const copy = readEntry(nft, this.values.get(entryKey(nft)) ?? null);
    return copy.kind === 'value' ? copy.value : copy.kind;
  }

  takePuts(): string[] {
    const { puts } = this;
    this.puts = [];
    return puts;
  }
}

let db: SqliteDatabase;
let ledger: TestLedger;
let store: TestStore;
let now: number;

beforeEach(async () => {
  db = await openMemory();
  ledger = openTestLedger(db);
  store = new TestStore();
  now = 1_700_000_000_000;
  await ledger.import('g', 100, [
    { nft: A, output: outputId('1') },
    { nft: B, output: outputId('2') },
  ]);
});

const publishNow = (budget = BUDGET) => publish(ledger.index, store, () => now, budget);
/** As a pass of the follower does. */
const publishAndPrune = async () => {
  await publishNow();
  await ledger.prune();
};
const stored = async () => (await ledger.index.readState()).stored!;
const state = async () => (await stored()).state!;
const idsOf = async (table: 'nft' | 'nft_change') => {
  const column = table === 'nft' ? 'id' : 'milestone';
  const { results } = await db.prepare(`SELECT ${column} AS id FROM ${table} ORDER BY 1`).all();
  return results.map(({ id }) => id);
};
/** Outputs that no two NFTs have: IDs of 68 digits that begin with the NFT's. */
const holding = (nfts: readonly string[], digits: string) =>
  nfts.map((nft) => ({ nft, output: nft + digits.padStart(4, '0') }));
const numbered = (length: number) =>
  Array.from({ length }, (_, i) => i.toString(16).padStart(64, '0'));
/** The ledger counts so many changes more than it lists. */
const countMore = async (changes: number) => {
  await db.prepare('UPDATE milestone SET nft_changes = nft_changes + ?1').bind(changes).run();
  await sealRows(db, 'milestone');
};
const isSeal = (key: string) => key.startsWith('seal:');

test('a put that hangs ends the call some time, and the next one goes on', async () => {
  vi.useFakeTimers();
  try {
    const hanging = vi.spyOn(store, 'put').mockImplementation(() => new Promise(() => {}));
    const ends = expect(publishNow()).rejects.toThrow('KV does not answer');
    await vi.advanceTimersByTimeAsync(MAX_WRITE_AGE_MS);
    await ends;
    hanging.mockRestore();
    expect(await publishNow()).toMatchObject({ done: true });
  } finally {
    vi.useRealTimers();
  }
});

test('puts that hang leave connections to what moves the ledger', async () => {
  await ledger.import('g', 100, holding(numbered(20), '1'));
  let begun = 0;
  vi.spyOn(store, 'put').mockImplementation(async (key) => {
    if (key === RECENT_KEY) return;
    begun++;
    await new Promise(() => {});
  });
  vi.useFakeTimers();
  try {
    const ends = expect(publishNow()).rejects.toThrow('KV does not answer');
    await vi.advanceTimersByTimeAsync(MAX_WRITE_AGE_MS);
    await ends;
  } finally {
    vi.useRealTimers();
  }
  // of the six that an object has
  expect(begun).toBeLessThanOrEqual(3);
});

test('where more changes wait than NFTs are put in a day, all is put anew, and they may go', async () => {
  await publishNow();
  const before = await state();
  await ledger.apply([{ nft: A, output: outputId('3') }]);
  await countMore(4_000_000);
  store.takePuts();
  await publishNow();
  expect(store.takePuts()).toContain(entryKey(B));
  expect(before).toMatchObject({ from: 100, filledFrom: 100 });
  expect(await state()).toMatchObject({ from: 101, filledFrom: 101 });
  await ledger.prune();
  expect(await idsOf('nft_change')).toEqual([]);
  // all are put by now, and the window has still to pass
  const { readWindow } = ledger.index;
  ledger.index.readWindow = (since, most) => readWindow({ ...since, changes: undefined }, most);
  ledger.index.requireChanges = async () => undefined;
  await countMore(3_000_000);
  for (let i = 0; i < 3; i++) {
    now += PUT_AFTER_MS;
    await ledger.apply([{ nft: A, output: outputId(String(4 + i)) }]);
    await publishNow();
  }
  await countMore(3_000_000);
  await ledger.apply([]);
  await publishNow();
  expect(await state()).toMatchObject({ filledFrom: 101 });
});

test('a fill that has begun is not begun anew, however many changes wait', async () => {
  const few = { operations: 2, statements: 50 };
  for (let calls = 0; calls < 2; calls++) await publishNow(few);
  expect((await state()).entries).toMatchObject({ kind: 'incomplete', upTo: A });
  await ledger.apply([{ nft: A, output: outputId('3') }]);
  await countMore(4_000_000);
  await publishNow(few);
  expect((await state()).filledFrom).toBe(100);
});

describe('after an import', () => {
  test('all entries are put, and a seal last', async () => {
    expect(await publishNow()).toMatchObject({ done: true, stops: [], ledgerIndex: 100 });
    const seal = store.puts.at(-1)!;
    expect(store.takePuts()).toEqual([RECENT_KEY, entryKey(A), entryKey(B), seal]);
    expect(isSeal(seal)).toBe(true);
    expect(store.entry(A)).toEqual({
      nft: A,
      generation: 'g',
      ledgerIndex: 100,
      outputId: outputId('1'),
    });
    expect(store.recent).toMatchObject({
      generation: 'g',
      from: 100,
      to: 100,
      fromTime: null,
      states: {},
    });
    now += HEARTBEAT_MS;
    await publishNow();
    expect(store.recent).toMatchObject({
      from: 100,
      to: 100,
      fromTime: now - HEARTBEAT_MS,
      publishedAt: now,
    });
  });

  test('with a small budget, call after call', async () => {
    const ids = numbered(50);
    await ledger.import('h', 100, holding(ids, '3'));
    const budget = { operations: 10, statements: 40 };
    let calls = 0;
    for (let done = false; !done; calls++) {
      const published = await publishNow(budget);
      expect(published.used.operations).toBeLessThanOrEqual(10);
      expect(published.used.statements).toBeLessThanOrEqual(40);
      if (!published.done) expect(published.stops).toEqual(['budget spent']);
      ({ done } = published);
      now += SECOND_MS;
    }
    expect(calls).toBe(6);
    const entries = store.puts.filter((key) => key !== RECENT_KEY);
    expect(entries.slice(0, -1)).toEqual(ids.map(entryKey));
    expect(isSeal(entries.at(-1)!)).toBe(true);
  });

  test('nothing to do without a ledger', async () => {
    await ledger.removeLedger();
    expect(await publishNow()).toEqual({
      done: true,
      stops: [],
      ledgerIndex: undefined,
      used: { operations: 0, statements: 2 },
    });
  });
});

test('a milestone that damage moves before the window, in the place of a later one', async () => {
  await publishNow();
  for (const nft of [A, B, C]) await ledger.apply([{ nft, output: outputId(nft.slice(0, 2)) }]);
  const bytes = Buffer.from(db.serialize());
  const at = bytes.indexOf(JSON.stringify([C])) - 1;
  expect(bytes[at]).toBe(103);
  bytes[at] = 103 ^ 64;
  db.deserialize(bytes);
  now += MINUTE_MS;
  store.takePuts();
  await expect(publishNow()).rejects.toThrow('rows of the table nft_change');
  expect(store.takePuts()).toEqual([]);
});

test.each(['200', "CAST('x' AS BLOB)"])(
  'a change that damage hides, where it moved another one to %s',
  async (moved) => {
    await publishNow();
    await ledger.apply([{ nft: B, output: outputId('b') }]);
    db.exec('UPDATE nft_change SET milestone = 1');
    db.exec(`INSERT INTO nft_change VALUES (${moved}, 0, '["${A}"]')`);
    now += MINUTE_MS;
    await expect(publishNow()).rejects.toThrow('rows of the table nft_change');
  },
);

test.each([1, 99])('a change that damage moves to milestone %i never leaves', async (moved) => {
  await publishNow();
  await ledger.apply([{ nft: A, output: outputId('a') }]);
  await publishNow();
  db.exec(`UPDATE nft_change SET milestone = ${moved}`);
  await ledger.apply([]);
  // the window has as many changes as before
  db.exec(`INSERT INTO nft_change VALUES (102, 0, '["${B}"]')`);
  for (let passed = MINUTE_MS; passed < 2 * SETTLING_TIME_MS; passed += MINUTE_MS) {
    now += MINUTE_MS;
    const published = publishNow();
    if (passed >= PUT_AFTER_MS) await expect(published).rejects.toThrow('the table nft_change');
    else await published;
  }
  expect(store.recent.from).toBe(100);
});

describe('a milestone', () => {
  beforeEach(async () => {
    await publishNow();
    store.takePuts();
    now += HEARTBEAT_MS;
  });

  test('stands in recent at once; its entries are put later, burned NFTs too', async () => {
    await ledger.apply([
      { nft: A, output: null },
      { nft: C, output: outputId('3') },
    ]);
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 101 });
    expect(store.takePuts()).toEqual([RECENT_KEY]);
    expect(store.recent).toMatchObject({
      from: 100,
      to: 101,
      states: { [A]: null, [C]: outputId('3') },
    });
    await passUntil(() => store.entry(C) !== 'absent');
    expect(store.takePuts().filter((key) => key !== RECENT_KEY)).toEqual(
      [A, C].map((nft) => entryKey(nft)),
    );
    expect(store.entry(A)).toEqual({ nft: A, generation: 'g', ledgerIndex: 101, outputId: null });
    expect(store.ttls.get(entryKey(A))).toBe(TOMBSTONE_TTL_S);
    for (const key of [entryKey(B), entryKey(C), RECENT_KEY])
      expect(store.ttls.get(key)).toBeUndefined();
  });

  test('of a burned NFT the row is deleted when its change leaves, and not before', async () => {
    await ledger.apply([{ nft: A, output: null }]);
    await publishNow();
    await passUntil(() => store.entry(A) !== 'absent' && store.puts.includes(entryKey(A)));
    expect(await idsOf('nft')).toEqual([A, B]);
    const left = await passUntil(async () => !(await idsOf('nft')).includes(A));
    expect(left).toBeGreaterThanOrEqual(SETTLING_TIME_MS);
    expect(left).toBeLessThanOrEqual(SETTLING_TIME_MS + MINUTE_MS);
    expect(await idsOf('nft')).toEqual([B]);
    expect(await idsOf('nft_change')).toEqual([]);
  });

  test('leaves long after its entry was put, which is once', async () => {
    await ledger.apply([{ nft: A, output: outputId('9') }]);
    await publishNow();

    const put = await passUntil(() => store.puts.includes(entryKey(A)));
    expect(put).toBeGreaterThanOrEqual(PUT_AFTER_MS);
    expect(put).toBeLessThanOrEqual(PUT_AFTER_MS + MINUTE_MS);
    expect(store.entry(A)).toEqual({
      nft: A,
      generation: 'g',
      ledgerIndex: 101,
      outputId: outputId('9'),
    });
    expect(store.recent.states).toHaveProperty(A);

    const left = await passUntil(() => !Object.hasOwn(store.recent.states, A));
    expect(left).toBeGreaterThanOrEqual(SETTLING_TIME_MS);
    expect(left).toBeLessThanOrEqual(SETTLING_TIME_MS + MINUTE_MS);
    expect(store.recent).toMatchObject({ from: 101, to: 101, states: {}, prefixes: '' });
    expect(store.recent.publishedAt - store.recent.fromTime!).toBeGreaterThanOrEqual(
      SETTLING_TIME_MS,
    );
    expect(await idsOf('nft_change')).toEqual([]);
    expect(store.takePuts().filter((key) => key === entryKey(A))).toHaveLength(1);
  });

  /** Publishes every half minute until the condition holds; returns the milliseconds it took. */
  async function passUntil(condition: () => boolean | Promise<boolean>): Promise<number> {
    const begun = now;
    while (!(await condition())) {
      now += MINUTE_MS / 2;
      await publishAndPrune();
      if (now - begun > 24 * 60 * MINUTE_MS) throw new Error('never');
    }
    return now - begun;
  }

  test('costs one put of recent and one of each entry, and few rows of D1', async () => {
    const minted = numbered(500);
    let writes = 0;
    const { swap } = ledger.index;
    ledger.index.swap = (...args) => {
      writes++;
      return swap(...args);
    };
    const measure = async (milestones: number) => {
      writes = 0;
      store.takePuts();
      store.reads = 0;
      for (let i = 0; i < milestones; i++) {
        now += 5 * SECOND_MS;
        await ledger.apply(holding([minted[i % minted.length]!], '6'));
        await publishAndPrune();
      }
    };
    await measure(600); // until the window has its full length
    await measure(240);
    expect(store.puts.filter((key) => key === RECENT_KEY).length).toBe(240);
    expect(store.puts.length).toBeLessThanOrEqual(2 * 240);
    expect(store.reads).toBe(240); // of the seal
    expect(writes).toBeLessThanOrEqual(1.34 * 240);
  });

  test('of many, the marks are few', async () => {
    for (let i = 0; i < 360; i++) {
      now += 10 * SECOND_MS;
      await ledger.apply([]);
      await publishNow();
    }
    const { marks, from } = await state();
    expect(marks.length).toBeLessThanOrEqual(
      (PUT_AFTER_MS + SETTLING_TIME_MS) / MARK_INTERVAL_MS + 2,
    );
    expect(from).toBeGreaterThan(100);
  });

  test('recent is put once a second at most, and at least every half minute', async () => {
    await ledger.apply([]);
    await publishNow();
    await ledger.apply([]);
    now += 999;
    expect(await publishNow()).toMatchObject({
      done: false,
      stops: ['too soon'],
      ledgerIndex: 101,
    });
    now += 1;
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 102 });
    expect(store.takePuts().length).toBe(2);
    now += HEARTBEAT_MS - 1;
    expect(await publishNow()).toMatchObject({
      done: true,
      used: { operations: 0, statements: 2 },
    });
    now += 1;
    await publishNow();
    expect(store.takePuts()).toEqual([RECENT_KEY]);
  });

  test('a burst takes several calls, and recent does not wait for it', async () => {
    const ids = numbered(40);
    await ledger.apply(holding(ids, '4'));
    const small = { operations: 10, statements: 100 };
    const bounds = { states: 5, changes: 100 };
    await publish(ledger.index, store, () => now, small, undefined, bounds);
    expect(store.takePuts()).toEqual([RECENT_KEY]);
    expect(Object.keys(store.recent.states).sort()).toEqual(ids.slice(0, 5));
    expect(store.recent).toMatchObject({ from: 100, to: 101, prefixes: '00000000' });

    now += PUT_AFTER_MS;
    const stopped = await publish(ledger.index, store, () => now, small, undefined, bounds);
    expect(stopped).toMatchObject({ done: false, stops: ['budget spent'], ledgerIndex: 101 });
    // one operation is the read of the seal, and one is left over
    expect(store.takePuts()).toEqual([RECENT_KEY, ...ids.slice(0, 7).map(entryKey)]);
    for (let done = false; !done; now += SECOND_MS)
      ({ done } = await publish(ledger.index, store, () => now, small, undefined, bounds));
    expect(store.takePuts().filter((key) => key !== RECENT_KEY)).toEqual(
      ids.slice(7).map(entryKey),
    );
  });

  test('more changes than are read: recent covers the last milestones only', async () => {
    const ids = Array.from({ length: 7 }, (_, i) => `${i}`.repeat(64));
    await ledger.apply(holding(ids, '4'));
    const from: number[] = [];
    const { readWindow } = ledger.index;
    ledger.index.readWindow = (since, most) => {
      from.push(since.from);
      return readWindow(since, most);
    };
    const put = (changes: number) =>
      publish(ledger.index, store, () => now, BUDGET, undefined, { states: 5, changes });
    await put(6);
    expect(store.recent).toMatchObject({ from: 101, to: 101, fromTime: null, states: {} });
    now += HEARTBEAT_MS;
    await put(7);
    expect(store.recent).toMatchObject({ from: 100, to: 101 });
    expect(Object.keys(store.recent.states).length).toBe(5);
    // an earlier version did not count them: there may be as many as since the import
    now += HEARTBEAT_MS;
    const { token, state: before } = await stored();
    const { changes: _, ...uncounted } = before!;
    await ledger.index.swap(token, { token: 'of an earlier version', state: uncounted });
    await put(6);
    expect(from).toEqual([101, 100, 101]);
    expect(store.recent).toMatchObject({ from: 101, to: 101, fromTime: null, prefixes: '' });
  });

  test('entries of many marks are put by some of these at a time', async () => {
    const burst = numbered(30_000);
    for (let mark = 0; mark < 4; mark++) {
      await ledger.apply(holding(burst, `${mark}`));
      await publishNow({ operations: 4, statements: 500 });
      now += MARK_INTERVAL_MS;
    }
    now += PUT_AFTER_MS;
    const asked: number[] = [];
    const { readChanges } = ledger.index;
    ledger.index.readChanges = (after, upTo, limit) => {
      asked.push(upTo);
      return readChanges(after, upTo, limit);
    };
    await publishNow({ operations: 4, statements: 500 });
    expect(asked).toEqual([101]);
  });

  test('what failed is done by the next call', async () => {
    await ledger.apply([
      { nft: A, output: outputId('5') },
      { nft: B, output: outputId('6') },
    ]);
    await publishNow();
    now += PUT_AFTER_MS;
    store.takePuts();
    store.failsAt = 2;
    await expect(publishNow()).rejects.toThrow('KV is away');
    expect(store.takePuts()).toEqual([RECENT_KEY, entryKey(A)]);
    store.failsAt = undefined;
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 101 });
    expect(store.takePuts()).toEqual([entryKey(A), entryKey(B)]);
  });

  test('none is put later than a minute after it was read: the next call reads anew', async () => {
    const ids = numbered(40);
    await ledger.apply(holding(ids, '4'));
    await publishNow();
    now += PUT_AFTER_MS;
    await publish(ledger.index, store, () => now, { ...BUDGET, operations: 2 });
    const begun: number[] = [];
    const readAt = now;
    const slow = {
      get: (key: string) => store.get(key),
      put: async (key: string, value: string) => {
        begun.push(now - readAt);
        now += PUT_WITHIN_MS / 10;
        await store.put(key, value);
      },
    };
    store.takePuts();
    const stopped = await publish(ledger.index, slow, () => now, BUDGET);
    expect(stopped).toMatchObject({ done: false, stops: ['KV too slow'] });
    expect(begun.length).toBeGreaterThan(5);
    expect(Math.max(...begun)).toBeLessThanOrEqual(PUT_WITHIN_MS);
    expect(begun.length).toBeLessThan(ids.length);
    await publishNow();
    expect(new Set(store.takePuts())).toEqual(new Set([RECENT_KEY, ...ids.map(entryKey)]));
  });
});

describe('other publishers', () => {
  test('one that moved on ends the call', async () => {
    await publishNow();
    await ledger.apply([{ nft: A, output: outputId('5') }]);
    now += MINUTE_MS;
    const meddler = {
      get: (key: string) => store.get(key),
      put: async (key: string, value: string) => {
        await store.put(key, value);
        const { token, state } = await stored();
        await ledger.index.swap(token, { token: 'of the other', state: state! });
      },
    };
    expect(await publish(ledger.index, meddler, () => now, BUDGET)).toMatchObject({
      done: false,
      stops: ['another publisher'],
    });
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 101 });
  });

  test('a reindexing that is asked for while one is at work is not forgotten', async () => {
    await publishNow();
    now += HEARTBEAT_MS;
    const before = store.recent;
    const { readWindow } = ledger.index;
    ledger.index.readWindow = async (...window) => {
      await ledger.removeState();
      return readWindow(...window);
    };
    expect(await publishNow()).toMatchObject({ stops: ['another publisher'] });
    expect(await stored()).toBeUndefined();
    expect(store.recent).toEqual(before);
  });

  test('one whose ledger is replaced meanwhile stops; its entries name that ledger', async () => {
    const replacing = {
      get: (key: string) => store.get(key),
      put: async (key: string, value: string) => {
        await store.put(key, value);
        if (key === entryKey(A))
          await ledger.import('new', 50, [{ nft: A, output: outputId('7') }]);
      },
    };
    await publish(ledger.index, replacing, () => now, { operations: 5, statements: 500 });
    expect(store.entry(A)).toMatchObject({ generation: 'g' });
    now += SECOND_MS;
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 50 });
    expect(store.entry(A)).toEqual({
      nft: A,
      generation: 'new',
      ledgerIndex: 50,
      outputId: outputId('7'),
    });
    expect(store.recent).toMatchObject({ generation: 'new', from: 50, to: 50 });
  });
});

describe('a ledger that is set back, as by Time Travel', () => {
  let before: Uint8Array;
  const entriesPut = () => store.takePuts().filter((key) => key !== RECENT_KEY);

  beforeEach(async () => {
    await publishNow();
    now += SETTLING_TIME_MS;
    await ledger.apply([{ nft: A, output: outputId('5') }]);
    await publishNow();
    now += PUT_AFTER_MS;
    before = db.serialize();
    await publishNow();
    await ledger.apply([{ nft: A, output: outputId('6') }]);
    await publishNow();
    now += PUT_AFTER_MS;
    await publishNow();
    store.takePuts();
  });

  test('puts nothing until it is where KV has it', async () => {
    const kept = new Map(store.values);
    db.deserialize(before);
    for (let i = 0; i < 3; i++) {
      now += SECOND_MS;
      expect(await publishNow()).toMatchObject({ done: false, stops: ['ledger set back'] });
    }
    expect(store.values).toEqual(kept);
    await ledger.apply([{ nft: A, output: outputId('6') }]);
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 102 });
    expect(entriesPut()).toEqual([entryKey(A)]);
    expect(store.entry(A)).toMatchObject({ ledgerIndex: 102, outputId: outputId('6') });
    expect(store.recent).toMatchObject({ to: 102, states: { [A]: outputId('6') } });
  });

  test('puts no entry that was read after it was set back', async () => {
    db.deserialize(before);
    await ledger.apply([{ nft: A, output: outputId('6') }]);
    const { readChanges } = ledger.index;
    ledger.index.readChanges = (...given) => {
      db.deserialize(before);
      return readChanges(...given);
    };
    expect(await publishNow()).toMatchObject({ done: false, stops: ['ledger replaced'] });
    expect(entriesPut()).toEqual([]);
  });

  test('goes on where KV has another ledger', async () => {
    await ledger.import('h', 100, [{ nft: A, output: outputId('7') }]);
    expect(await publishNow()).toMatchObject({ done: true, ledgerIndex: 100 });
    expect(store.entry(A)).toMatchObject({ generation: 'h', outputId: outputId('7') });
  });
});

describe('filled anew', () => {
  beforeEach(async () => {
    await publishNow();
    now += SETTLING_TIME_MS;
    await publishNow();
    store.takePuts();
  });

  test('when its state was removed; until it is done absences mean nothing', async () => {
    store.values.delete(entryKey(B));
    await ledger.removeState();
    expect(await publishNow()).toMatchObject({ done: true });
    expect(store.recent).toMatchObject({ from: 100, filledFrom: 100, fromTime: null });
    expect(store.entry(B)).toMatchObject({ outputId: outputId('2') });
    now += HEARTBEAT_MS;
    await publishNow();
    expect(store.recent.fromTime).toBe(now - HEARTBEAT_MS);
  });

  test('two versions, each with its namespace, never fill one together', async () => {
    const former = store;
    store = new TestStore();
    const publishAs = (version: string, to: TestStore, operations: number) =>
      publish(ledger.index, to, () => now, { operations, statements: 30 }, version);
    now += HEARTBEAT_MS;
    await publishAs('new', store, 4);
    now += 1000;
    await publishAs('old', former, 2);
    for (let i = 0; i < 4; i++) {
      now += 1000;
      await publishAs('new', store, 9);
    }
    expect((await state()).entries.kind).toBe('complete');
    expect(store.entry(A)).toMatchObject({ outputId: outputId('1') });
    expect(store.entry(B)).toMatchObject({ outputId: outputId('2') });
  });

  test('when another namespace is bound: entries of before are not believed', async () => {
    await ledger.apply([]);
    store.values.clear();
    now += HEARTBEAT_MS;
    await publishNow();
    expect(store.recent).toMatchObject({ from: 100, filledFrom: 101, fromTime: null });
  });

  test('when another one is bound before it settled, nothing put there counts', async () => {
    await ledger.removeState();
    await publishNow();
    const former = store;
    await ledger.apply([{ nft: A, output: outputId('5') }]);
    now += MINUTE_MS;
    await publishNow();
    store = new TestStore();
    now += PUT_AFTER_MS;
    // the seal may be there and not seen yet
    expect(await publishNow()).toMatchObject({ done: false, stops: ['seal not seen'] });
    expect(store.takePuts()).toEqual([RECENT_KEY]);
    expect(await state()).toMatchObject({ from: 100, marks: [{ putAt: null }] });
    store = former;
    now += SECOND_MS;
    expect(await publishNow()).toMatchObject({ done: true });
    expect(store.entry(A)).toMatchObject({ ledgerIndex: 101, outputId: outputId('5') });
    expect((await state()).marks).toMatchObject([{ milestone: 101, putAt: now }]);
  });

  test('when the namespace was emptied', async () => {
    expect(store.recent.fromTime).toBeTypeOf('number');
    store.values.clear();
    now += HEARTBEAT_MS;
    await publishNow();
    expect(store.recent.fromTime).toBe(null);
    expect([store.entry(A), store.entry(B)]).toMatchObject([
      { ledgerIndex: 100 },
      { ledgerIndex: 100 },
    ]);
  });
});
