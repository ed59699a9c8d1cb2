/**
 * Histories of NFTs (src/modules/histories/nft-history.ts) against what the network's own transactions
 * did: page by page, while milestones are applied, pruned, and replaced by imports.
 */

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import type { Columns } from '../../../src/ledger/core/read-batch.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { carryPast } from '../../../src/modules/histories/carry-past.ts';
import { pastTable } from '../../../src/modules/histories/held-outputs.ts';
import {
  type HistoryPosition,
  type NftChange,
  type NftHistory,
  readNftHistory,
} from '../../../src/modules/histories/nft-history.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { beginState } from '../../../src/nft-index/publisher-state.ts';
import { ownerAt } from '../../../src/stardust/output.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import {
  asFile,
  disturbed,
  followTo,
  type Rig,
  startLedger,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import { freshRandom } from '../../support/network/fresh-random.ts';
import { fullSnapshot } from '../../support/network/network-snapshot.ts';
import { eventsOfLives, type LifeEvent, nftLives } from '../../support/network/nft-lives.ts';
import type { Random } from '../../support/network/random.ts';

const MILESTONES = 30;

const network = nftLives('histories of NFTs', MILESTONES);
const lives = eventsOfLives(network);
const nfts = [...lives.keys()];
const UNKNOWN = 'ab'.repeat(32);

type Whole = Extract<NftHistory, { ok: true }>;

/** What the network did to an NFT, as a ledger that knows changes from `since` on says it. */
function expected(nft: string, since: number, ledger: number) {
  const events = lives.get(nft)?.filter(({ index }) => index <= ledger) ?? [];
  const isOld = lives.get(nft)?.[0]?.kind !== 'minted' && lives.has(nft);
  const last = events.at(-1);
  const isUnknown = last === undefined ? !isOld : last.kind === 'burned' && last.index < since;
  if (isUnknown) return 'unknown';
  const [old, kept] = [0, 1].map((side) =>
    events.filter(({ index }) => Number(index >= since) === side),
  ) as [LifeEvent[], LifeEvent[]];
  const complete = !isOld && old.length <= 1;
  return { since, complete, changes: [...(complete ? old : []), ...kept].reverse() };
}

function eventOf({ held, ...facts }: NftChange): LifeEvent {
  const owner = held && addressKey(ownerAt(held, facts.timestamp).address);
  return { ...facts, outputId: held?.outputId, owner };
}

/** All pages; `between` happens between two. */
async function readPages(
  read: (from?: HistoryPosition) => Promise<NftHistory | undefined>,
  pageSize: number,
  between: () => Promise<unknown> = async () => {},
) {
  const changes: LifeEvent[] = [];
  let from: HistoryPosition | undefined;
  for (let pages = 0; ; pages++) {
    const page = await read(from);
    if (!page?.ok) return page?.why;
    changes.push(...page.changes.map(eventOf));
    expect(page.changes.length).toBeLessThanOrEqual(pageSize);
    if (page.next === undefined) return { since: page.since, complete: page.complete, changes };
    expect([page.complete, page.changes.length > 0]).toEqual([false, true]);
    from = page.next;
    if (pages > 500) throw new Error('pages without end');
    await between();
  }
}

interface Pruning {
  /** Whether HISTORY is `all`, unless most prunings of the run say otherwise. */
  keeps: boolean;
  step: number;
  /** It is killed before this batch, or right after it, if it runs so many. */
  killed?: { batch: number; isAfter: boolean } | undefined;
}

type Action =
  | { kind: 'apply'; count: number }
  | ({ kind: 'prune'; retention: number } & Pruning)
  | { kind: 'scrub'; steps: number }
  | { kind: 'publish' }
  | { kind: 'import'; back: number }
  | { kind: 'ask'; pageSize: number; searched: number; moves: boolean };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('apply'), count: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('prune'),
      retention: fc.integer({ min: 0, max: 16 }),
      keeps: fc.boolean(),
      step: fc.constantFrom(1, 2, 1000),
      killed: fc.option(
        fc.record({ batch: fc.integer({ min: 1, max: 4 }), isAfter: fc.boolean() }),
        { nil: undefined, freq: 2 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('scrub'), steps: fc.integer({ min: 1, max: 99 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('publish') }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('import'), back: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask'),
      pageSize: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(100)),
      searched: fc.oneof(fc.integer({ min: 1, max: 6000 }), fc.constant(16_000_000)),
      moves: fc.boolean(),
    }),
  },
) as fc.Arbitrary<Action>;

class Modelled {
  ledger = 0;
  /** The first milestone that is kept. */
  first = 0;
  /** Where histories begin; 0: with what is kept. */
  history = 0;
  /** Whether HISTORY is `all`, for most of the run. */
  readonly keeps: boolean;
  readonly db: SqliteDatabase;
  readonly rig: Rig;
  readonly seen: Set<string>;

  constructor(db: SqliteDatabase, rig: Rig, seen: Set<string>, keeps: boolean) {
    this.keeps = keeps;
    this.db = db;
    this.rig = rig;
    this.seen = seen;
  }

  get since(): number {
    return this.history || this.first + 1;
  }

  async prune({ retention, killed, step, keeps }: Action & { kind: 'prune' }): Promise<void> {
    const keepsHistory = step === 1 ? keeps : this.keeps;
    const due = {
      first: Math.max(this.first, Math.min(this.ledger - retention, this.first + step)),
      history: keepsHistory ? this.since : 0,
    };
    const die = async (batch: number, isAfter: boolean) => {
      if (batch === killed?.batch && isAfter === killed.isAfter) throw new Error('killed');
    };
    const dying = disturbed(
      this.db,
      (_, batch) => die(batch, false),
      (_, batch) => die(batch, true),
    );
    try {
      await prune(dying, retention, { carry: keepsHistory ? carryPast : undefined, step });
      Object.assign(this, due);
    } catch (error) {
      if ((error as Error).message !== 'killed') throw error;
      this.seen.add('killed');
      const sql = 'SELECT history, (SELECT min(idx) FROM milestone) AS first FROM head';
      const found = (await this.db.prepare(sql).first<typeof due>())!;
      expect([this.first, due.first]).toContain(found.first);
      expect([this.history, due.history]).toContain(found.history);
      Object.assign(this, found);
    }
    if (this.since <= this.first) this.seen.add('all');
    if (this.history > 1) this.seen.add('all from some milestone on');
  }

  async apply(): Promise<void> {
    if (this.ledger === MILESTONES) return;
    await takeNext(this.rig, this.db);
    this.ledger++;
  }

  async act(next: Action): Promise<void> {
    switch (next.kind) {
      case 'apply':
        for (let i = 0; i < next.count; i++) await this.apply();
        return;
      case 'prune':
        await this.prune(next);
        return;
      case 'scrub':
        for (let i = 0; i < next.steps; i++) await scrub(this.db, 5, [pastTable]);
        return;
      case 'publish': {
        const index = openIndexLedger(this.db);
        const { head, stored } = await index.readState();
        const state = beginState({ generation: head!.generation, ledgerIndex: this.ledger });
        await index.swap(stored?.token, { token: crypto.randomUUID(), state });
        return;
      }
      case 'import': {
        const target = Math.max(0, this.ledger - next.back);
        await loadSnapshot(this.db, asFile(fullSnapshot(network, { target })), undefined);
        Object.assign(this, { ledger: target, first: target, history: 0 });
        return;
      }
      case 'ask':
        for (const nft of [...nfts, UNKNOWN]) await this.ask(nft, next);
    }
  }

  async ask(nft: string, { pageSize, searched, moves }: Action & { kind: 'ask' }) {
    const due = expected(nft, this.since, this.ledger);
    const read = (from?: HistoryPosition) => readNftHistory(this.db, nft, pageSize, from, searched);
    const found = await readPages(read, pageSize, async () => {
      this.seen.add('pages');
      if (moves) await this.apply();
    });
    expect(found).toEqual(due);
    if (typeof due === 'string') this.seen.add(due);
    else {
      this.seen.add(due.complete ? 'complete' : 'cut');
      for (const { kind, index } of due.changes) {
        this.seen.add(kind);
        if (index >= this.since && index <= this.first) this.seen.add(`${kind} long ago`);
      }
      const times = due.changes.map(({ index }) => index);
      if (new Set(times).size < times.length) this.seen.add('twice in a milestone');
      if (due.complete && (due.changes.at(-1)?.index ?? 0) < this.since) this.seen.add('old mint');
    }
  }
}

it('every history is what the transactions did, however it is cut into pages', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 20, maxLength: 40, size: 'max' }),
      fc.boolean(),
      async (actions, keeps) => {
        const db = await openMemory();
        const model = new Modelled(db, await startLedger(db, network, 0), seen, keeps);
        for (const next of actions) await model.act(next);
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 2), seed: 37, endOnFailure: true },
  );
  expect([...seen].sort()).toEqual([
    'all',
    'all from some milestone on',
    'burned',
    'burned long ago',
    'changed',
    'changed long ago',
    'complete',
    'cut',
    'killed',
    'minted',
    'minted long ago',
    'old mint',
    'pages',
    'transferred',
    'transferred long ago',
    'twice in a milestone',
    'unknown',
  ]);
});

describe('a ledger with all milestones', () => {
  let db: SqliteDatabase;
  beforeAll(async () => {
    db = await openMemory();
    await followTo(await startLedger(db, network, 0), MILESTONES);
  });

  const longest = nfts.reduce((one, other) =>
    lives.get(other)!.length > lives.get(one)!.length ? other : one,
  );
  const burned = nfts.find((nft) => lives.get(nft)!.at(-1)?.kind === 'burned')!;

  it('a position that is none of this NFT', async () => {
    const { next } = (await readNftHistory(db, longest, 1)) as Whole;
    const other = nfts.find((nft) => nft !== longest && lives.get(nft)!.length > 2)!;
    const wrong = [
      [other, next!],
      [longest, { ...next!, spentIn: next!.spentIn - 1 }],
      [longest, { ...next!, spentIn: 0xffff_ffff }],
      [longest, { ...next!, outputId: '0'.repeat(68) }],
    ] as const;
    for (const [nft, position] of wrong)
      expect(await readNftHistory(db, nft, 10, position)).toMatchObject({ why: 'no position' });
  });

  it('nothing imported', async () => {
    expect(await readNftHistory(await openMemory(), longest, 10)).toBeUndefined();
  });

  it('an import before the block of the burn is read', async () => {
    const other = await openMemory();
    await followTo(await startLedger(other, network, 0), MILESTONES);
    const busy = disturbed(other, async (_, batch) => {
      if (batch === 2)
        await loadSnapshot(other, asFile(fullSnapshot(network, { target: 1 })), undefined);
    });
    await expect(readNftHistory(busy, burned, 10)).rejects.toThrow(LedgerMoved);
  });
});

it('an import while a pruning takes changes along is no damage to the new ledger', async () => {
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), MILESTONES);
  let isReplaced = false;
  const busy = disturbed(db, async (sql) => {
    if (!/IN \(SELECT id FROM found\)/.test(sql)) return;
    await loadSnapshot(db, asFile(fullSnapshot(network, { target: 1 })), undefined);
    isReplaced = true;
  });
  await expect(prune(busy, 5, { carry: carryPast })).rejects.toThrow(LedgerMoved);
  expect(isReplaced).toBe(true);
  expect((await readHead(db))?.ledger).toBe(1);
});

it('the rows of a large milestone become texts part by part', async () => {
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), MILESTONES);
  const isNft = (spent: readonly unknown[]) => nfts.includes(String(spent[2]));
  const { results } = await db
    .prepare('SELECT key, spent FROM milestone_part ORDER BY key')
    .all<{ key: number; spent: string }>();
  const { key, outputs } = results
    .map((row) => ({ key: row.key, outputs: JSON.parse(row.spent) as unknown[][] }))
    .find((part) => part.outputs.filter(isNft).length > 1)!;
  const cut = outputs.findIndex(isNft) + 1;
  const write =
    'INSERT OR REPLACE INTO milestone_part SELECT ?1, packs, blocks, ?2, 0 FROM milestone_part WHERE key = ?3';
  const put = (at: number, some: unknown[]) =>
    db.prepare(write).bind(at, JSON.stringify(some), key).run();
  await put(key + 1, outputs.slice(cut));
  await db
    .prepare("UPDATE milestone_part SET blocks = '' WHERE key = ?1")
    .bind(key + 1)
    .run();
  await put(key, outputs.slice(0, cut));
  await sealRows(db, 'milestone_part');
  const index = key / 4096;
  await prune(db, MILESTONES - index + 1, { carry: carryPast });
  const done: string[] = [];
  const large = {
    batch: db.batch.bind(db),
    prepare(sql: string) {
      if (sql.includes('INSERT INTO nft_past')) done.push('write');
      if (sql.includes('AS place, ')) done.push('read');
      return db.prepare(sql.replace('octet_length(spent)', '5000000'));
    },
  } as D1Database;
  await prune(large, MILESTONES - index, { carry: carryPast });
  expect(done).toEqual(['read', 'write', 'read', 'write']);
  expect(await db.prepare('SELECT min(idx) AS first FROM milestone').first('first')).toBe(index);
  const read = (nft: string) => readPages((from) => readNftHistory(db, nft, 7, from), 7);
  for (const nft of nfts) expect(await read(nft)).toEqual(expected(nft, 1, MILESTONES));
  while (!(await scrub(db, undefined, [pastTable])));
});

it('two followers that prune at once take changes along once, and find no damage', async () => {
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), MILESTONES);
  // from then on pruning moves milestones, and nothing else of the head
  await prune(db, 20, { carry: carryPast });
  let isOther = false;
  const busy = disturbed(db, async (sql) => {
    if (isOther || !sql.includes('DELETE FROM milestone ')) return;
    isOther = true;
    await prune(db, 5, { carry: carryPast });
  });
  await expect(prune(busy, 5, { carry: carryPast })).rejects.toThrow(LedgerMoved);
  expect(isOther).toBe(true);
  expect((await readHead(db))?.integrity.damaged).toBe(undefined);
  for (const nft of nfts)
    expect(await readPages((from) => readNftHistory(db, nft, 7, from), 7)).toEqual(
      expected(nft, 1, MILESTONES),
    );
});

it('a pruning of another follower within a step of the scrub is no damage', async () => {
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), MILESTONES);
  await prune(db, 20, { carry: carryPast });
  let isOther = false;
  const busy = disturbed(db, async (sql) => {
    const position = (await readHead(db))?.integrity.scrub;
    if (isOther || !sql.includes('UPDATE head') || position?.table !== 'nft_past') return;
    isOther = true;
    await prune(db, 5, { carry: carryPast });
  });
  const scrubAll = async () => {
    while (!(await scrub(busy, undefined, [pastTable])));
  };
  await expect(scrubAll()).rejects.toThrow(LedgerMoved);
  expect(isOther).toBe(true);
  await scrubAll();
});

it('an NFT that moved counts as burned nowhere, though its row lacks what holds it', async () => {
  const db = await openMemory();
  const rig = await startLedger(db, network, 0, { retention: 4 });
  rig.following.keepsHistory = true;
  rig.following.ledgerParts = [{ carry: carryPast, tables: [pastTable] }];
  let moved = 0;
  for (let index = 1; index <= MILESTONES; index++) {
    await followTo(rig, index);
    for (const nft of nfts) {
      const last = lives.get(nft)!.at(-1)!;
      if (last.index !== index || last.kind === 'burned' || last.kind === 'minted') continue;
      await db.prepare('UPDATE nft SET output = NULL WHERE id = ?1').bind(nft).run();
      moved++;
    }
  }
  expect(moved).toBeGreaterThan(2);
  for (const nft of nfts) {
    const found = await readNftHistory(db, nft, 10).catch(() => undefined);
    if (found?.ok) expect(found.changes[0]!.kind).toBe(lives.get(nft)!.at(-1)!.kind);
  }
});

describe('changes that are in nft_past', () => {
  let db: SqliteDatabase;
  beforeAll(async () => {
    db = await openMemory();
    const rig = await startLedger(db, network, 0, { retention: 4 });
    rig.following.keepsHistory = true;
    rig.following.ledgerParts = [{ carry: carryPast, tables: [pastTable] }];
    await followTo(rig, MILESTONES);
  });

  async function histories(between: (nft: string) => Promise<unknown>): Promise<void> {
    for (const nft of nfts) await between(nft);
  }
  const read = (nft: string) => readPages((from) => readNftHistory(db, nft, 7, from), 7);

  it('all of them are known, by the follower', async () => {
    await histories(async (nft) => expect(await read(nft)).toEqual(expected(nft, 1, MILESTONES)));
    expect(await db.prepare('SELECT min(idx) FROM milestone').first('min(idx)')).toBe(26);
    while (!(await scrub(db, undefined, [pastTable])));
  });

  it('a position that a kept milestone should have, and has not, begins no page', async () => {
    const moved = nfts.filter((nft) => lives.get(nft)!.length > 2);
    const outputId = lives.get(moved[0]!)!.at(-2)!.outputId!;
    // as of a node that is ahead, or of another NFT
    for (const spentIn of [MILESTONES, MILESTONES + 1])
      for (const nft of moved.slice(1))
        expect(await readNftHistory(db, nft, 7, { spentIn, outputId })).toEqual({
          ledgerIndex: MILESTONES,
          ok: false,
          why: 'no position',
        });
  });

  it('a row that vanished never makes a history shorter, and the scrub finds it', async () => {
    const { results: rows } = await db.prepare('SELECT lower(hex(id)) AS id FROM nft_past').all();
    let silent = 0;
    for (const { id } of rows) {
      const nft = String(id).slice(0, 64);
      const stays = 'INSERT INTO kept SELECT * FROM nft_past WHERE id = unhex(?1)';
      db.exec('CREATE TABLE kept AS SELECT * FROM nft_past LIMIT 0');
      await db.prepare(stays).bind(id).run();
      await db.prepare('DELETE FROM nft_past WHERE id = unhex(?1)').bind(id).run();
      const found = await read(nft).catch((error: Error) => error.message);
      // of a burned NFT with one row nothing is left
      if (found === 'unknown') silent++;
      else expect(found).toContain('are damaged on disk');
      db.exec('INSERT INTO nft_past SELECT * FROM kept; DROP TABLE kept');
      expect(await read(nft)).toEqual(expected(nft, 1, MILESTONES));
    }
    expect(rows.length).toBeGreaterThan(20);
    expect(silent).toBeLessThan(rows.length / 4);
  });

  it.runIf(process.env.SLOW)(
    'a byte that was changed never makes a history another one',
    async () => {
      const random = freshRandom();
      const { results: rows } = await db.prepare('SELECT * FROM nft_past').all<Columns>();
      let errors = 0;
      for (const row of random.sample(rows, 12)) {
        const key = new Uint8Array(row.id as number[]);
        for (const [column, value] of Object.entries(row)) {
          if (value === null) continue;
          const other = otherValue(random, value);
          const put = (to: unknown, at: unknown) =>
            db.prepare(`UPDATE nft_past SET ${column} = ?1 WHERE id = ?2`).bind(to, at).run();
          await put(other, key);
          for (const nft of nfts) {
            const found = await read(nft).catch(({ name }: Error) => name);
            if (found === 'LedgerDamaged') errors++;
            // a row that its key hides is found by the scrub
            else if (column !== 'id' || found !== 'unknown')
              expect(found, column).toEqual(expected(nft, 1, MILESTONES));
          }
          await put(
            Array.isArray(value) ? new Uint8Array(value) : value,
            column === 'id' ? other : key,
          );
        }
      }
      expect(errors).toBeGreaterThan(50);
    },
  );

  it('a scrub finds a row that vanished', async () => {
    await db.prepare('DELETE FROM nft_past WHERE id = (SELECT max(id) FROM nft_past)').run();
    const scrubAll = async () => {
      while (!(await scrub(db, undefined, [pastTable])));
    };
    await expect(scrubAll()).rejects.toThrow('rows of the table nft_past');
  });
});

it('the core alone, in the midst of a scrub of what is kept, goes on without it, and ends it', async () => {
  const db = await openMemory();
  const rig = await startLedger(db, network, 0, { retention: 4 });
  const parts = [{ carry: carryPast, tables: [pastTable] }];
  Object.assign(rig.following, { keepsHistory: true, ledgerParts: parts });
  await followTo(rig, MILESTONES);
  const scrubbed = async () => (await readHead(db))?.integrity.scrub?.table;
  for (let steps = 0; (await scrubbed()) !== 'nft_past'; steps++) {
    expect(steps).toBeLessThan(10_000);
    await scrub(db, 5, [pastTable]);
  }
  const { fingerprints } = (await readHead(db))!.integrity;
  // as it would go on, were the table one of the core's
  await scrub(db, 5);
  expect(await scrubbed()).toBe('output');
  while (!(await scrub(db, 5)));
  expect((await readHead(db))!.integrity.fingerprints).toEqual(fingerprints);
  await prune(db, 4);
  const { history, integrity } = (await readHead(db))!;
  expect(history).toBe(0);
  expect(Object.keys(integrity.fingerprints)).not.toContain('nft_past');
  expect(await db.prepare('SELECT count(*) FROM nft_past').first('count(*)')).toBe(0);
  while (!(await scrub(db, 5, [pastTable])));
});

/** One byte, or the number, is another one. */
function otherValue(random: Random, value: unknown): number | Uint8Array {
  if (!Array.isArray(value)) return Number(value) ^ 1;
  const bytes = new Uint8Array(value);
  bytes[random.below(bytes.length)]! ^= 1;
  return bytes;
}

it.runIf(process.env.SLOW)(
  'a part that damage hides is an error, and never a shorter history',
  async () => {
    const db = await openMemory();
    await followTo(await startLedger(db, network, 0), MILESTONES);
    const { results: keys } = await db
      .prepare('SELECT key FROM milestone_part')
      .all<{ key: number }>();
    let errors = 0;
    for (const { key } of keys) {
      const index = Math.floor(key / 4096);
      await db.prepare('UPDATE milestone_part SET key = -key WHERE key = ?1').bind(key).run();
      for (const nft of nfts) {
        const read = readPages((from) => readNftHistory(db, nft, 3, from), 3);
        const isHit = lives
          .get(nft)!
          .some((event) => event.index === index && event.kind !== 'minted');
        if (isHit) await expect(read).rejects.toThrow('are damaged on disk');
        else expect(await read).toEqual(expected(nft, 1, MILESTONES));
        errors += Number(isHit);
      }
      await db.prepare('UPDATE milestone_part SET key = -key WHERE key = ?1').bind(-key).run();
    }
    expect(errors).toBeGreaterThan(20);
  },
);

it('histories do not begin with what a follower without them has deleted', async () => {
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), MILESTONES);
  // begins a table of IDs: later ones leave the head as it is
  await prune(db, 20);
  let isOther = false;
  const other = async (sql: string) => {
    if (isOther || !sql.includes('min(idx) AS first')) return;
    isOther = true;
    await prune(db, 5);
  };
  const busy = disturbed(db, async () => {}, other);
  await expect(prune(busy, 5, { carry: carryPast })).rejects.toThrow(LedgerMoved);
  await prune(db, 4, { carry: carryPast });
  for (const nft of nfts)
    expect(await readPages((from) => readNftHistory(db, nft, 7, from), 7)).toEqual(
      expected(nft, MILESTONES - 4, MILESTONES),
    );
});
