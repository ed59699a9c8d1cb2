/**
 * Damage that writers may carry on: one character of one value is changed, in each column of each
 * table. Then the ledger goes on for eight milestones, prunes, publishes, and is scrubbed twice. All
 * that is read then is right, or an error.
 *
 * What is right is what the same ledger says without damage; of lookups, what the network's own
 * outputs say.
 */
import { expect, it } from 'vitest';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { LedgerDamaged } from '../../src/ledger/core/checksum.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { ledgerStateHash } from '../../src/ledger/read/ledger-state-hash.ts';
import { readNftOutputs } from '../../src/ledger/read/nft-outputs.ts';
import { readOutput } from '../../src/ledger/read/output-status.ts';
import { readBlock } from '../../src/ledger/read/stored-block.ts';
import { scrub } from '../../src/ledger/write/scrub.ts';
import { readKnownIds } from '../../src/modules/events/known-ids.ts';
import { readNftGallery } from '../../src/modules/galleries/nft-gallery.ts';
import { readNftCertificate } from '../../src/modules/histories/nft-certificate.ts';
import { readNftChanges } from '../../src/modules/histories/nft-changes.ts';
import { readNftHistory } from '../../src/modules/histories/nft-history.ts';
import { START } from '../../src/modules/lists/output-query.ts';
import { readOutputList, readOutputOfChain } from '../../src/modules/lists/read-list.ts';
import { readTreasury } from '../../src/modules/objects/routes/receipts.ts';
import { readTips } from '../../src/modules/objects/routes/tips.ts';
import { readLedgerChanges, readMilestone } from '../../src/modules/objects/stored-milestone.ts';
import { explainMilestone } from '../../src/modules/proofs/applied-milestone.ts';
import { RememberedReads } from '../../src/nft-index/cached-reads.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { lookUpNft } from '../../src/nft-index/look-up-nft.ts';
import { openNftLedger } from '../../src/nft-index/nft-sources.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { addressKey } from '../../src/stardust/wire/address.ts';
import {
  followTo,
  passOnce,
  questionOf,
  type Rig,
  requestOf,
  startLedger,
  storeNow,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { nftLives } from '../support/network/nft-lives.ts';
import { heldAt, holdersOf, nftsChangedAt } from '../support/network/nft-places.ts';
import { Random } from '../support/network/random.ts';
import { indexEveryKind } from '../support/nft-list/listed-ledger.ts';

/** Rows of each table, and places in each of their values, that are changed. */
const ROWS = Number(process.env.FLIPPED_ROWS ?? 1);
/** Without the variable, one change in so many is tried, and each of what was once carried on. */
const STRIDE = process.env.FLIPPED_ROWS === undefined ? 8 : 1;
const ONCE_CARRIED_ON = /^(pack\.outputs|milestone_part\.spent|nft\.changed)$/;
const PLACES = 2;

/** The ledger index at which the damage comes. The next milestone's blocks are stored. */
const AT = 10;
const LAST = AT + 8;

/** Milestones that are kept: what they have of milestone 10 is pruned in the end. */
const RETENTION = 5;

const MINUTE_MS = 60_000;

const network = nftLives('damage 46', LAST);
const holders = holdersOf(network);
const nftIds = [
  ...new Set(Array.from({ length: LAST }, (_, i) => nftsChangedAt(holders, i + 1)).flat()),
].map((id) => id.slice(2));

class World {
  readonly db: SqliteDatabase;
  readonly rig: Rig;
  readonly kv: Map<string, string>;
  now: number;

  constructor(db: SqliteDatabase, rig: Rig, kv = new Map<string, string>(), now = 1.8e12) {
    this.db = db;
    this.rig = rig;
    this.kv = kv;
    this.now = now;
  }

  readonly store = {
    get: async (key: string) => this.kv.get(key) ?? null,
    put: async (key: string, value: string) => void this.kv.set(key, value),
  };

  /** Follows one milestone, and publishes until its changes are out of the window. */
  async step(index: number): Promise<void> {
    this.rig.node.confirm(index);
    await passOnce(this.rig);
    for (const minutes of [0, 18, 33]) {
      this.now += minutes * MINUTE_MS + 1000;
      await this.publish();
    }
  }

  async publish(): Promise<void> {
    const budget = { operations: 300, statements: 200 };
    const ledger = openIndexLedger(this.db);
    for (let calls = 0; calls < 8; calls++, this.now += 1000)
      if ((await publish(ledger, this.store, () => this.now, budget)).done) return;
  }

  lookUp(nftId: string) {
    const sources = {
      ledger: openNftLedger({ withSession: () => this.db } as unknown as D1Database),
      index: this.store,
      openCache: () => undefined,
      remembered: new RememberedReads(),
      clock: () => this.now,
    };
    return lookUpNft(sources, nftId, 0, { url: 'http://node/', defer: () => {} });
  }
}

/** The ledger at {@link AT}, as bytes, and what is in KV. */
async function build(): Promise<{ bytes: Uint8Array; kv: Map<string, string>; now: number }> {
  const db = await openMemory();
  const rig = await startLedger(db, network, 0, { retention: RETENTION });
  const world = new World(db, rig);
  await indexEveryKind(db);
  await followTo(rig, 1);
  for (let index = 2; index < AT - 1; index++) await world.step(index);
  // their changes are not in KV yet
  await followTo(rig, AT);
  await storeNow(rig, db);
  return { bytes: db.serialize(), kv: world.kv, now: world.now };
}

async function restore(from: Awaited<ReturnType<typeof build>>): Promise<World> {
  const db = await openMemory();
  db.deserialize(from.bytes);
  db.exec('PRAGMA foreign_keys = OFF'); // a disk does not know them
  // the rig's snapshot goes into a database of its own
  const rig = await startLedger(await openMemory(), network, 0, { retention: RETENTION });
  const following = { ...rig.following, db, memory: createFollowerMemory() };
  return new World(db, { ...rig, db, following }, new Map(from.kv), from.now);
}

/** Eight milestones, and two rounds of the scrub. Errors are what damage may cause. */
async function goOn(world: World): Promise<string[]> {
  const errors: string[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      errors.push(String(error));
    }
  };
  for (let index = AT + 1; index <= LAST; index++) await attempt(() => world.step(index));
  for (let rounds = 0, steps = 0; rounds < 2 && steps < 100; steps++)
    try {
      if (await scrub(world.db)) rounds++;
    } catch (error) {
      errors.push(String(error));
      if (error instanceof LedgerDamaged) break;
    }
  // nothing is answered by what KV was told before
  world.now += 3 * MINUTE_MS;
  await attempt(() => world.publish());
  return errors;
}

type Reads = Record<string, (db: Database) => Promise<unknown>>;

const digits = (id: string) => id.slice(2);

function everyRead(): Reads {
  const all = { filters: {}, from: START, pageSize: 1000, prefixes: [] };
  const reads: Reads = {
    'state hash': (db) => ledgerStateHash(db),
    treasury: (db) => readTreasury(db),
    tips: (db) => readTips(db),
    'known IDs': async (db) => {
      const blocks = [...network.blocks.keys()].map(digits);
      const outputs = [...network.outputs.keys()].map(digits);
      return [...(await readKnownIds(db, { blocks, outputs }))].sort();
    },
    NFTs: (db) => readNftOutputs(db, nftIds),
  };
  for (const kind of ['basic', 'nft', 'alias'] as const)
    reads[`list of ${kind}`] = (db) => readOutputList(db, { ...all, kinds: [kind] });
  for (let i = 0; i < 4; i++) {
    const filters = { address: addressKey(network.account(i).address) };
    reads[`list of account ${i}`] = (db) =>
      readOutputList(db, { ...all, kinds: ['basic', 'nft'], filters });
    reads[`gallery of account ${i}`] = (db) =>
      readNftGallery(db, { ...all, pageSize: 50, kinds: ['nft'], filters });
  }
  for (const id of nftIds) {
    reads[`history of ${id}`] = (db) => readNftHistory(db, id, 50);
    reads[`certificate of ${id}`] = (db) => readNftCertificate(db, id);
    reads[`alias ${id}`] = (db) => readOutputOfChain(db, 'alias', id);
  }
  for (const id of network.outputs.keys())
    reads[`output ${id}`] = (db) => readOutput(db, digits(id));
  for (const id of network.blocks.keys()) reads[`block ${id}`] = (db) => readBlock(db, digits(id));
  for (let index = LAST - RETENTION; index <= LAST; index++) {
    reads[`milestone ${index}`] = (db) => readMilestone(db, { index });
    reads[`changes of milestone ${index}`] = (db) => readLedgerChanges(db, { index });
    reads[`explanation of milestone ${index}`] = (db) => explainMilestone(db, index);
    reads[`changes of NFTs after ${index}`] = (db) => readNftChanges(db, index);
    if (index > LAST - RETENTION)
      reads[`white flag of ${index}`] = async (db) => {
        const { question } = questionOf(network, index);
        const { stages: _, ...rest } = (await computeWhiteFlag(
          db as D1Database,
          requestOf(question),
          { rules: { keys: network.keys, verify: verifySignature } },
        )) as { stages?: unknown };
        return rest;
      };
  }
  return reads;
}

/** As text; undefined where it is an error. */
async function told(read: () => Promise<unknown>): Promise<string | undefined> {
  try {
    const answer = await read();
    if (typeof answer === 'object' && (answer as { ok?: boolean } | null)?.ok === false)
      return `refused: ${JSON.stringify(answer)}`;
    return `${JSON.stringify(answer, (_, value) =>
      typeof value === 'bigint' ? String(value) : value instanceof Map ? [...value] : value,
    )}`;
  } catch {
    return undefined;
  }
}

const READS = everyRead();

async function answersOf({ db }: World): Promise<Map<string, string | undefined>> {
  const answers = new Map<string, string | undefined>();
  for (const [name, read] of Object.entries(READS)) answers.set(name, await told(() => read(db)));
  return answers;
}

/**
 * What is wrong: lookups at the ledger index that they name, all else if the ledger went on.
 *
 * @param isAboutKv of the publisher's row only lookups are made: where it is damaged, less is pruned
 */
async function findWrong(
  world: World,
  truth: ReadonlyMap<string, string | undefined>,
  isAboutKv = false,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const id of nftIds) {
    const answer = await world.lookUp(id).catch(() => undefined);
    if (answer === undefined) continue;
    const { ledgerIndex, outputId, source } = answer;
    const held = heldAt(holders.get(`0x${id}`)!, ledgerIndex);
    if (held?.slice(2) !== outputId) wrong.push(`lookup by ${source}`);
  }
  const ledger = await world.db.prepare('SELECT ledger FROM head').first('ledger');
  if (ledger !== LAST || isAboutKv) return wrong;
  // what was pruned in the whole ledger may be there, if damage keeps it
  for (const [name, answer] of await answersOf(world))
    if (answer !== undefined && answer !== truth.get(name) && truth.get(name) !== 'undefined')
      wrong.push(name.replace(/ \S{20,}$/, ''));
  return wrong;
}

/** The value with another character at a place. */
function flip(value: unknown, at: number): string | number | Uint8Array | undefined {
  if (value instanceof Uint8Array) return value.map((byte, i) => (i === at ? byte ^ 1 : byte));
  const text = String(value);
  const code = text.charCodeAt(at) ^ 1;
  const flipped = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
  return typeof value === 'number' ? Number(flipped) : flipped;
}

/** Of a JSON of outputs, a place in the IDs of chains: they are few among much else. */
function chainPlaces(column: string, value: unknown, random: Random): number[] {
  if (!/^(pack\.outputs|milestone_part\.spent)$/.test(column)) return [];
  const ids = [...String(value).matchAll(/"[0-9a-f]{64}"/g)];
  return ids.map(({ index }) => index + 1 + random.below(64));
}

interface Damage {
  where: string;
  sql: string;
  values: unknown[];
}

/** Of each table some rows, of each of their values some places. */
async function listDamage(db: SqliteDatabase, random: Random): Promise<Damage[]> {
  const all: Damage[] = [];
  const { results: tables } = await db
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'd1_%' AND name NOT LIKE 'sqlite_%'",
    )
    .all<{ name: string }>();
  for (const { name: table } of tables) {
    const { results: rows } = await db.prepare(`SELECT * FROM ${table}`).all();
    for (const row of random.sample(rows, Math.min(ROWS, rows.length)))
      for (const [column, value] of Object.entries(row)) {
        const length = value instanceof Uint8Array ? value.length : String(value ?? '').length;
        const places = new Set(Array.from({ length: PLACES }, () => random.below(length || 1)));
        const values = new Set([
          ...(length === 0 ? [] : [...places].map((at) => flip(value, at))),
          ...(typeof value === 'number' ? [0] : []),
          ...chainPlaces(`${table}.${column}`, value, random).map((at) => flip(value, at)),
        ]);
        for (const to of values) {
          if (to === undefined || to === value || Number.isNaN(to)) continue;
          const names = Object.keys(row);
          const where = names.map((each, i) => `${each} IS ?${i + 2}`).join(' AND ');
          all.push({
            where: `${table}.${column}`,
            sql: `UPDATE ${table} SET ${column} = ?1 WHERE ${where}`,
            values: [to, ...Object.values(row)],
          });
        }
      }
  }
  return all.filter(({ where }, i) => i % STRIDE === 0 || ONCE_CARRIED_ON.test(where));
}

it('what is read after damage that the ledger went on with is right, or an error', async () => {
  const base = await build();
  const whole = await restore(base);
  expect(await goOn(whole)).toEqual([]);
  expect(await whole.db.prepare('SELECT ledger FROM head').first('ledger')).toBe(LAST);
  const truth = await answersOf(whole);
  expect([...truth].filter(([, answer]) => answer === undefined)).toEqual([]);
  expect(await findWrong(whole, truth)).toEqual([]);

  const damage = await listDamage((await restore(base)).db, new Random('places'));
  const wrong: string[] = [];
  let done = 0;
  for (const { where, sql, values } of damage) {
    const world = await restore(base);
    try {
      const { meta } = await world.db
        .prepare(sql)
        .bind(...values)
        .run();
      expect(meta.changes).toBe(1);
    } catch {
      continue; // against a constraint
    }
    done++;
    await goOn(world);
    const found = new Set(await findWrong(world, truth, where.startsWith('nft_index.')));
    if (found.size > 0)
      wrong.push(`${where} = ${String(values[0]).slice(0, 40)}: ${[...found].join(', ')}`);
  }
  expect(wrong).toEqual([]);
  expect(done).toBeGreaterThan(STRIDE === 1 ? 100 : 20);
}, 1_800_000);
