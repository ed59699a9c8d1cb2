/**
 * Past cones that take more heap than may be held (src/follower/store-cone.ts): stored in parts,
 * applied in one batch, whatever comes between the parts. The limits are made small, so that 1,500
 * blocks are far too many.
 */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { followOnce, type PassResult } from '../../src/follower/pass.ts';
import type { PassBudget } from '../../src/follower/try-upstream.ts';
import { whyUnhealthy } from '../../src/http/health.ts';
import { explainMilestone } from '../../src/ledger/applied-milestone.ts';
import { readNodeStatus } from '../../src/ledger/node-status.ts';
import { toHexDigits } from '../../src/stardust/bytes.ts';
import { UpstreamFailure } from '../../src/upstream/upstream.ts';
import {
  disturbed,
  ledgerIndex,
  type Rig,
  startLedger,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import { FOLLOWING } from '../support/ledger/status-settings.ts';
import { storedBlocks } from '../support/ledger/stored-blocks.ts';
import { coneOf, ledgerAt, type Network } from '../support/network/network-model.ts';
import { basic } from '../support/network/outputs.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import type { Spend } from '../support/network/transactions.ts';

vi.setConfig({ testTimeout: 120_000 });

const db = env.LEDGER;

/** Bytes: some 300 blocks at once, of which every fourth is a transfer; and parts of 256. */
const MAX_HEAP_BYTES = 700_000;
const MAX_PART = 256;

const LARGE = 1500;

/** Tips of a test network at any moment: as many as a block may have parents. */
const WIDTH = 8;

function smallMemory() {
  return { ...createFollowerMemory(MAX_HEAP_BYTES), maxStored: MAX_PART };
}

const pass = ({ following }: Rig, more: Partial<PassBudget> = {}): Promise<PassResult> =>
  followOnce(following, { deadline: Date.now() + 20_000, milestones: 12, ...more });

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
    const made = network.transaction([spend], [basic(by, spend.coin.output.amount)]);
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
  const read: string[] = [];
  rig.upstream = {
    ...rig.upstream,
    readTips: async () => [],
    async readBlock(id) {
      read.push(id);
      return rig.node.block(`0x${id}`)?.bytes;
    },
  };
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
  for (let i = 0; i < most && (await ledgerIndex(db)) < index; i++) await pass(rig, budget);
  expect(await ledgerIndex(db)).toBe(index);
}

async function expectApplied(network: Network, index: number): Promise<void> {
  const explained = (await explainMilestone(db, index))!;
  const cone = coneOf(network, index);
  expect(explained.blocks.map(({ blockId }) => `0x${blockId}`)).toEqual(cone.map(({ id }) => id));
  const { results } = await db.prepare('SELECT id FROM output ORDER BY id').all<{ id: string }>();
  const due = ledgerAt(network, index).map(({ outputId }) => toHexDigits(outputId));
  expect(results.map(({ id }) => id)).toEqual(due.sort());
}

async function openIds(): Promise<string[]> {
  const blocks = await storedBlocks(db);
  return blocks.filter(({ milestone }) => milestone === null).map(({ id }) => `0x${id}`);
}

it('come in by parts of so many blocks, over several passes, and health tells how far it is', async () => {
  const { rig, network, read } = await startBeforeLarge();
  const told: string[] = [];
  for (let i = 0; i < 12 && (await ledgerIndex(db)) < 2; i++) {
    await pass(rig, { fetches: 600 });
    const status = (await readNodeStatus(db, FOLLOWING))!;
    if (status.ledger.index === 1) told.push(whyUnhealthy(status, Date.now())!);
    expect(rig.following.memory.fetched.heapBytes).toBeLessThan(MAX_HEAP_BYTES);
  }
  expect(told[0]).toMatch(/old; milestone 2: \d+ blocks of its past cone are fetched$/);
  expect(told.at(-1)).toMatch(/old; milestone 2: \d+ of 1501 blocks of its past cone are stored$/);
  await expectApplied(network, 2);
  // each block once, and those that had to be dropped once more
  expect(read.length).toBeLessThan(2 * (LARGE + 1));
  expect(rig.following.memory).toMatchObject({ large: undefined, fetched: { size: 0 } });
  const status = await readNodeStatus(db, FOLLOWING);
  expect(status!.follower).toEqual({ state: 'following' });
});

it('are stored in the order of the milestone', async () => {
  const { rig, network } = await startBeforeLarge(900);
  let open: string[] = [];
  rig.following.db = disturbed(db, async (sql) => {
    if (sql.includes('INSERT INTO pack')) open = await openIds();
  });
  await passTo(rig, 2);
  expect(open).toEqual(coneOf(network, 2).map(({ id }) => id));
});

it('leave small cones as they were: nothing is stored before the milestone', async () => {
  const { rig, network, read } = await startBeforeLarge(100);
  const batches: string[] = [];
  rig.following.db = disturbed(db, async (sql) => void batches.push(sql));
  await passTo(rig, 2, 1);
  expect(batches.filter((sql) => sql.includes('INSERT INTO open')).length).toBeLessThan(2);
  expect(read.length).toBe(101);
  await expectApplied(network, 2);
});

it('go on where they were, whenever the object is killed', async () => {
  const { rig, network, read } = await startBeforeLarge(1800);
  let batches = 0;
  let killAt = 0;
  rig.following.db = disturbed(db, async (sql) => {
    if (sql.includes('INSERT INTO open') && ++batches === killAt) throw new Error('killed');
  });
  for (let life = 0; life < 3; life++) {
    rig.following.memory = smallMemory();
    killAt = batches + 3;
    await expect(passTo(rig, 2)).rejects.toThrow('killed');
    // two parts more than in the life before
    expect((await openIds()).length).toBeGreaterThanOrEqual((life + 1) * 2 * MAX_PART);
  }
  killAt = 0;
  read.length = 0;
  rig.following.memory = smallMemory();
  await passTo(rig, 2);
  await expectApplied(network, 2);
  expect(new Set(read).size).toBeLessThanOrEqual(1801 - 6 * MAX_PART);
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
    await pass(rig);
  }
  await expectApplied(network, 2);
});

it('give way to another follower that applies the milestone between two parts, or before a write', async () => {
  for (const when of ['between', 'before the write']) {
    const { rig, network } = await startBeforeLarge(900);
    const other = { ...rig.following, memory: createFollowerMemory() };
    let parts = 0;
    const meddled = disturbed(db, async (sql) => {
      if (!sql.includes('INSERT INTO open') || ++parts !== 3 || when === 'between') return;
      await followOnce(other, { deadline: Date.now() + 20_000, milestones: 1 });
    });
    rig.following.db = meddled;
    if (when === 'between') {
      for (let i = 0; i < 12 && parts === 0; i++) await pass(rig, { fetches: 550 });
      expect(await ledgerIndex(db)).toBe(1);
      await followOnce(other, { deadline: Date.now() + 20_000, milestones: 1 });
    } else {
      for (let i = 0; i < 12 && (await ledgerIndex(db)) < 2; i++) await pass(rig);
      expect(parts).toBe(3);
    }
    await pass(rig);
    await expectApplied(network, 2);
    expect(rig.following.memory.large).toBeUndefined();
    expect(await openIds()).toEqual([]);
  }
});

/**
 * Imported at milestone 2, and at 3 now. The next cone has blocks upon an entry point alone, which
 * nothing proves open, and many more upon what milestone 3 references.
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

it('hold what is not proven open in memory, and never store it before the milestone', async () => {
  const { rig, network, loose, firm } = await startAfterImport(100, 800);
  const stored = new Set<string>();
  rig.following.db = disturbed(db, async (sql) => {
    if (sql.includes('INSERT INTO')) for (const id of await openIds()) stored.add(id);
  });
  await passTo(rig, 4, 12, { fetches: 900 });
  await expectApplied(network, 4);
  expect(firm.filter((id) => stored.has(id))).toEqual(firm);
  expect(loose.filter((id) => stored.has(id))).toEqual([]);
});

it('are not followed where too much of them is not proven open, and health says why', async () => {
  const { rig, read } = await startAfterImport(700, 300);
  for (let i = 0; i < 4; i++) await pass(rig);
  expect(await ledgerIndex(db)).toBe(3);
  const before = read.length;
  expect(await pass(rig)).toEqual({ applied: 0, behind: false });
  expect(read.length).toBe(before);
  const status = (await readNodeStatus(db, FOLLOWING))!;
  expect(whyUnhealthy(status, Date.now())).toBe(
    'stopped: the past cone of milestone 4 is too large to be followed, more blocks than can be ' +
      'held at once are not proven open by their parents: import a snapshot from after it',
  );
  // with room for them it is followed as ever
  rig.following.memory = createFollowerMemory();
  await passTo(rig, 4);
});

it('do not take a block for open whose parents may have been forgotten', async () => {
  const { rig } = await startBeforeLarge(900);
  await db.prepare('UPDATE head SET forgotten = 1').run();
  for (let i = 0; i < 4; i++) await pass(rig);
  expect(await openIds()).toEqual([]);
  expect((await readNodeStatus(db, FOLLOWING))!.follower.state).toBe('stopped');
});
