/**
 * Past cones of any size (src/follower/store/store-cone.ts): stored in parts, applied in one batch,
 * whatever comes between the parts. The limits are made small, so that 1,500 blocks are far too
 * many.
 */
import { expect, it } from 'vitest';
import type { PassBudget } from '../../../src/follower/apply-next.ts';
import {
  createFollowerMemory,
  type FollowerMemory,
} from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { followOnce } from '../../../src/follower/pass.ts';
import { createMissingCone, storeCone } from '../../../src/follower/store/store-cone.ts';
import { verifyMilestone } from '../../../src/follower/verify-milestone.ts';
import { whyUnhealthy } from '../../../src/http/routes/node/health.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { ConeUnavailable } from '../../../src/ledger/intake/block-source.ts';
import { readBlockRows } from '../../../src/ledger/packs/id-rows.ts';
import { readMilestoneContents } from '../../../src/ledger/read/milestone-contents.ts';
import { readNodeStatus } from '../../../src/ledger/read/node-status.ts';
import { fromHex, toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { createConeFetcher } from '../../../src/upstream/fetch-blocks.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { keepPushing } from '../../support/ledger/busy-feed.ts';
import {
  ask,
  disturbed,
  FOLLOWING,
  ledgerIndex,
  passOnce,
  questionOf,
  type Rig,
  startLedger,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { listening } from '../../support/network/direct-upstream.ts';
import { resign } from '../../support/network/milestones.ts';
import { coneOf, ledgerAt, type Network } from '../../support/network/network-model.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import type { Spend } from '../../support/network/transactions.ts';
import { basic } from '../../support/payloads/outputs.ts';

const db = await openMemory();

/** Bytes: some 1,100 blocks. */
const MAX_FETCHED_HEAP_BYTES = 3_000_000;
const MAX_PART = 256;

const LARGE = 1500;

/** Tips of a test network at any moment: as many as a block may have parents. */
const WIDTH = 8;

function smallMemory(): FollowerMemory {
  return createFollowerMemory(MAX_FETCHED_HEAP_BYTES);
}

/** Blocks, all of them in the past of the last one; so many of four move a coin on. */
function grow(network: SyntheticNetwork, count: number, upon: string, transfers = 1): string[] {
  const spends: Spend[] = network.genesisCoins.map((coin, i) => ({ coin, by: network.account(i) }));
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const last = ids.slice(-WIDTH);
    const parents = i < WIDTH ? [upon] : i === count - 1 ? last : last.slice(0, 2);
    if (i % 4 >= transfers) {
      ids.push(network.note(parents));
      continue;
    }
    const spend = spends.shift()!;
    const by = network.account(network.random.below(16));
    const made = network.transaction([spend], [basic(by, { amount: spend.coin.output.amount })]);
    spends.push({ coin: made.coins[0]!, by });
    ids.push(network.attachTransaction(made, parents));
  }
  return ids;
}

interface Started {
  rig: Rig;
  network: SyntheticNetwork;
  /** Blocks that were fetched, in order. */
  read: string[];
}

/** The upstream has confirmed all milestones, and the ledger stands at `index`. */
async function startAt(network: SyntheticNetwork, index: number, from = 0): Promise<Started> {
  const rig = await startLedger(db, network, from);
  while ((await ledgerIndex(db)) < index) await takeNext(rig, db);
  rig.node.confirm(network.milestones.length);
  const { upstream, read } = listening(rig.upstream);
  rig.upstream = { ...upstream, readTips: async () => [] };
  rig.following.upstreams = [rig.upstream];
  rig.following.memory = smallMemory();
  return { rig, network, read };
}

/** At milestone 1, before one with a cone of so many blocks and one, none of which is here. */
async function startBeforeLarge(count = LARGE): Promise<Started> {
  const network = new SyntheticNetwork({ seed: 'large cone in parts' });
  network.milestone();
  const root = network.milestoneBlock!;
  network.milestone({ parents: [root, grow(network, count, root).at(-1)!] });
  return startAt(network, 1);
}

/** Passes until the ledger is at `index`, at most so many. */
async function passTo(rig: Rig, index: number, most = 12, budget: Partial<PassBudget> = {}) {
  for (let i = 0; i < most && (await ledgerIndex(db)) < index; i++) await passOnce(rig, budget);
  expect(await ledgerIndex(db)).toBe(index);
}

async function expectApplied(network: Network, index: number): Promise<void> {
  const { contents } = await readMilestoneContents(db, index, true);
  const cone = coneOf(network, index);
  expect(contents!.blocks.map(({ id }) => `0x${id}`)).toEqual(cone.map(({ id }) => id));
  const { results } = await db.prepare('SELECT id FROM output ORDER BY id').all<{ id: string }>();
  const due = ledgerAt(network, index).map(({ outputId }) => toHexDigits(outputId));
  expect(results.map(({ id }) => id)).toEqual(due.sort());
}

/** IDs of the unreferenced blocks, in the order in which they were stored. */
async function unreferencedIds(): Promise<string[]> {
  const blocks = await storedBlocks(db);
  return blocks.filter(({ milestone }) => milestone === null).map(({ id }) => `0x${id}`);
}

/** IDs of the blocks that are staged. */
async function stagedIds(): Promise<Set<string>> {
  const { results } = await db
    .prepare('SELECT blocks FROM pack WHERE staged IS NOT NULL')
    .all<{ blocks: string }>();
  return new Set(results.flatMap(({ blocks }) => readBlockRows(blocks)).map(([, id]) => `0x${id}`));
}

const APPLIES = /INSERT INTO milestone \(/;
const STORES = /INSERT INTO pack|UPDATE pack SET next_block/;

/** Stores the next milestone's cone in small parts, and ends before it is applied. */
async function storeInParts(
  rig: Rig,
  where: Database,
  deadline?: number,
  other?: Uint8Array,
  maxMet?: number,
): Promise<void> {
  const { memory } = rig.following;
  const position = await readPosition(where, rig.following);
  const { head, rules } = position;
  const payload = other ?? (await rig.upstream.readMilestone(head.ledger + 1))!;
  const { id, milestone } = await verifyMilestone(payload, position, rules);
  const parents = milestone.parents.map(toHexDigits);
  const view = await memory.index.view(where, head, parents);
  const [cone = createMissingCone(view.head, { milestone: toHexDigits(id), parents })] =
    memory.missing;
  memory.missing = [cone];
  const budget = { fetchesLeft: 5000 };
  await storeCone(where, head, cone, {
    budget,
    waitUntil: Date.now() + 20_000,
    view,
    memory,
    rules,
    fetch: createConeFetcher({
      pool: memory.pool,
      upstream: rig.upstream,
      budget,
      deadline: Date.now() + 20_000,
    }),
    deadline: deadline ?? Number.POSITIVE_INFINITY,
    maxPart: MAX_PART,
    ...(maxMet !== undefined && { maxMet }),
  });
}

it.runIf(process.env.SLOW)(
  'have an end: a walk that meets more blocks than it may is given up',
  async () => {
    const { rig } = await startBeforeLarge(900);
    const walk = (maxMet: number) => storeInParts(rig, db, undefined, undefined, maxMet);
    await expect(walk(800)).rejects.toThrow(/^milestone 2: more than 800 blocks of its past cone/);
    rig.following.memory.missing = [];
    await walk(1000);
  },
);

it('come in over several passes, none of which fetches more than it may, and health tells how far', async () => {
  const { rig, network, read } = await startBeforeLarge();
  const told: string[] = [];
  for (let i = 0; i < 12 && (await ledgerIndex(db)) < 2; i++) {
    const before = read.length;
    await passOnce(rig, { fetches: 510 });
    expect(read.length - before).toBeLessThanOrEqual(510);
    const status = (await readNodeStatus(db, FOLLOWING))!;
    if (status.ledger.index === 1) told.push(whyUnhealthy(status, Date.now())!);
  }
  expect(told[0]).toMatch(/old; milestone 2: \d+ blocks of its past cone are fetched$/);
  expect(told.at(-1)).toMatch(/old; milestone 2: \d+ of 1501 blocks of its past cone are stored$/);
  await expectApplied(network, 2);
  expect(new Set(read).size).toBe(LARGE + 1);
  // each block once, and those that had to be evicted once more
  expect(read.length).toBeGreaterThan(LARGE + 1);
  expect(read.length).toBeLessThan(2 * (LARGE + 1));
  const { pool, missing } = rig.following.memory;
  expect(missing).toEqual([]);
  expect(read.filter((id) => pool.get(id) !== undefined)).toEqual([]);
  const status = await readNodeStatus(db, FOLLOWING);
  expect(status!.follower).toEqual({ state: 'following' });
});

it('are stored in the order of the milestone', async () => {
  const { rig, network } = await startBeforeLarge(900);
  let stored: string[] = [];
  rig.following.db = disturbed(db, async (sql) => {
    if (APPLIES.test(sql)) stored = await unreferencedIds();
  });
  await passTo(rig, 2);
  expect(stored).toEqual(coneOf(network, 2).map(({ id }) => id));
});

it('are stored in one go where they are small', async () => {
  const { rig, network, read } = await startBeforeLarge(100);
  const batches: string[] = [];
  rig.following.db = disturbed(db, async (sql) => void batches.push(sql));
  await passTo(rig, 2, 1);
  const applied = batches.findIndex((sql) => APPLIES.test(sql));
  expect(batches.slice(0, applied).filter((sql) => STORES.test(sql)).length).toBe(1);
  expect(read.length).toBe(101);
  await expectApplied(network, 2);
});

it('are left to the next pass after any part, once the time is up', async () => {
  const { rig, network } = await startBeforeLarge(600);
  const counts = new Set<number>();
  for (let isDone = false; !isDone; ) {
    isDone = await storeInParts(rig, db, 0).then(
      () => true,
      (error) => {
        expect(error).toBeInstanceOf(ConeUnavailable);
        expect(error.fault).toBe('over-budget');
        return false;
      },
    );
    counts.add((await unreferencedIds()).length);
  }
  expect([...counts]).toEqual([0, 256, 512, 601]);
  await passTo(rig, 2, 1);
  await expectApplied(network, 2);
});

it.runIf(process.env.SLOW)('go on where they were, whenever the object is killed', async () => {
  const { rig, network, read } = await startBeforeLarge(1800);
  let batches = 0;
  let killAt = 0;
  const dying = disturbed(db, async (sql) => {
    if (STORES.test(sql) && ++batches === killAt) throw new Error('killed');
  });
  for (let life = 0; life < 3; life++) {
    rig.following.memory = smallMemory();
    killAt = batches + 3;
    await expect(storeInParts(rig, dying)).rejects.toThrow('killed');
    // two parts more than in the life before
    expect((await unreferencedIds()).length).toBe((life + 1) * 2 * MAX_PART);
  }
  read.length = 0;
  rig.following.memory = smallMemory();
  await passTo(rig, 2);
  await expectApplied(network, 2);
  expect(new Set(read).size).toBe(1801 - 6 * MAX_PART);
});

it('go on with an upstream that fails again and again', async () => {
  const { rig, network } = await startBeforeLarge(900);
  let left = 0;
  const { readBlock } = rig.upstream;
  const flaky = {
    ...rig.upstream,
    async readBlock(id: string) {
      if (left-- <= 0) throw new UpstreamFailure('too many subrequests');
      return readBlock(id);
    },
  };
  rig.following.upstreams = [flaky];
  for (let i = 0; i < 12 && (await ledgerIndex(db)) < 2; i++) {
    left = 700;
    await passOnce(rig);
  }
  await expectApplied(network, 2);
});

it.runIf(process.env.SLOW)(
  'give way to another follower that applies the milestone between two parts, or before a write',
  async () => {
    for (const when of ['between', 'before the write']) {
      const { rig, network } = await startBeforeLarge(900);
      const other = { ...rig.following, memory: createFollowerMemory() };
      const applyOther = () =>
        followOnce(other, { deadline: Date.now() + 20_000, milestones: 1, milestonesOnly: true });
      let parts = 0;
      const meddled = disturbed(db, async (sql) => {
        if (!STORES.test(sql) || ++parts !== 3) return;
        if (when === 'between') throw new Error('killed');
        await applyOther();
      });
      const why = when === 'between' ? Error : LedgerMoved;
      await expect(storeInParts(rig, meddled)).rejects.toThrow(why);
      expect(parts).toBe(3);
      expect(await ledgerIndex(db)).toBe(when === 'between' ? 1 : 2);
      if (when === 'between') await applyOther();
      await passOnce(rig);
      await expectApplied(network, 2);
      expect(rig.following.memory.missing).toEqual([]);
      expect(await unreferencedIds()).toEqual([]);
    }
  },
);

/**
 * Imported at milestone 2, and at 3 now. The next cone has blocks upon an entry point alone, which
 * nothing proves unreferenced, and many more upon what milestone 3 references.
 */
async function startAfterImport(unproven: number, proven: number) {
  const network = new SyntheticNetwork({ seed: `after import ${unproven}` });
  network.milestone();
  const point = network.note([network.milestoneBlock!]);
  network.milestone({ parents: [network.milestoneBlock!, point] });
  const firstUnproven = network.note([point]);
  network.milestone({ parents: [network.milestoneBlock!] });
  const loose = [firstUnproven, ...grow(network, unproven, firstUnproven, 0)];
  const firm = grow(network, proven, network.milestoneBlock!);
  network.milestone({ parents: [network.milestoneBlock!, firm.at(-1)!, loose.at(-1)!] });
  return { ...(await startAt(network, 3, 2)), loose, firm };
}

const STAGED_KINDS: [string, unproven: number, proven: number][] = [
  ['little', 100, 800],
  ['most', 700, 300],
];

it.each(STAGED_KINDS)(
  'stage what nothing proves unreferenced, hidden from requests, and show it once the milestone is applied: %s of it',
  async (_, unproven, proven) => {
    const { rig, network, loose, firm } = await startAfterImport(unproven, proven);
    const { question, answer } = questionOf(network, 4);
    let seen = 0;
    rig.following.db = disturbed(db, async (sql) => {
      if (!APPLIES.test(sql)) return;
      seen++;
      const staged = await stagedIds();
      const stored = new Set(await unreferencedIds());
      expect(firm.filter((id) => !stored.has(id) || staged.has(id))).toEqual([]);
      expect(loose.filter((id) => !stored.has(id) || !staged.has(id))).toEqual([]);
      expect(await ask(rig, question)).toBe(404);
      expect(await ask(rig, { ...question, parents: [loose.at(-1)!] })).toBe(404);
      const shown = await ask(rig, { ...question, parents: [firm.at(-1)!] });
      expect(shown).toEqual(expect.any(Object));
      // not even if another follower is told to bring them: they come with the milestone
      const bringing = { upstreams: [rig.upstream], memory: createFollowerMemory() };
      expect(await ask(rig, question, bringing)).toBe(404);
    });
    await passTo(rig, 4, 12, { fetches: 900 });
    expect(seen).toBe(1);
    await expectApplied(network, 4);
    expect(await stagedIds()).toEqual(new Set());
    expect(await ask(rig, question)).toEqual(answer);
    expect((await readNodeStatus(db, FOLLOWING))!.follower).toEqual({ state: 'following' });
  },
);

it('do not show a block whose parents may have been forgotten before the milestone is applied', async () => {
  const { rig, network } = await startBeforeLarge(900);
  await db.prepare('UPDATE head SET forgotten = 1').run();
  await sealRows(db, 'head');
  let shown: string[] | undefined;
  rig.following.db = disturbed(db, async (sql) => {
    if (!APPLIES.test(sql)) return;
    const staged = await stagedIds();
    expect(staged.size).toBe(901);
    shown = (await unreferencedIds()).filter((id) => !staged.has(id));
  });
  await passTo(rig, 2);
  expect(shown).toEqual([]);
  await expectApplied(network, 2);
});

it.each(['at rest', 'busy'])(
  'do not show what was staged for another milestone with the same index: feed %s',
  async (feed) => {
    const network = new SyntheticNetwork({ seed: 'signed twice' });
    network.milestone();
    const point = network.note([network.milestoneBlock!]);
    network.milestone({ parents: [network.milestoneBlock!, point] });
    const [unproven, others] = [[network.note([point])], [network.note([point])]];
    network.milestone({ parents: [network.milestoneBlock!] });
    for (const chain of [unproven, others]) chain.push(network.note([chain[0]!]));
    const previous = network.milestoneBlock!;
    const parents = [previous, unproven[1]!, others[1]!].sort();
    const { inclusionMerkleRoot, appliedMerkleRoot } = network.propose({ parents }).response;
    const { payload } = network.milestone({ parents: [previous, unproven[1]!] });
    const twin = resign(
      payload,
      {
        parents: parents.map(fromHex),
        inclusionMerkleRoot: fromHex(inclusionMerkleRoot),
        appliedMerkleRoot: fromHex(appliedMerkleRoot),
      },
      network.signers,
    );
    const { rig } = await startAt(network, 3, 2);

    await storeInParts(rig, db, undefined, twin);
    expect(await stagedIds()).toEqual(new Set([...unproven, ...others]));
    if (feed === 'busy') await keepPushing(rig, previous);
    await passTo(rig, 4, 1);
    await expectApplied(network, 4);
    const isOfNetwork = (id: string) => network.blocks.has(id);
    expect((await unreferencedIds()).filter(isOfNetwork)).toEqual([]);
    const { request } = network.propose({ parents: [others[1]!, network.milestoneBlock!] });
    expect(await ask(rig, request)).toBe(404);
    expect(rig.following.memory.missing).toEqual([]);
  },
);

it('are walked some levels in a pass: no pass comes near the 1,000 statements that D1 allows', async () => {
  const network = new SyntheticNetwork({ seed: 'deep cone' });
  network.milestone();
  let last = network.milestoneBlock!;
  for (let i = 0; i < 900; i++) last = network.note([last]);
  network.milestone({ parents: [last] });
  const { rig } = await startAt(network, 1);
  let statements = 0;
  rig.following.db = disturbed(db, async (_, __, some) => {
    statements += some;
  });
  for (let passes = 0; (await ledgerIndex(db)) < 2; passes++) {
    expect(passes).toBeLessThan(10);
    statements = 0;
    await passOnce(rig, { milestonesOnly: true });
    expect(statements).toBeLessThan(600);
  }
  await expectApplied(network, 2);
});
