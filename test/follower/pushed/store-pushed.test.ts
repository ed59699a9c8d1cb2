/**
 * Pushed blocks (src/follower/pushed/store-pushed.ts): in whatever order they come they are stored
 * behind their parents, and those that cannot be stored are left to the walk from the tips.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { noteLedger, takePushed } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { storePushed } from '../../../src/follower/pushed/store-pushed.ts';
import { issue, type Rig, startNew, takeNext } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { Random } from '../../support/network/random.ts';
import type { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const HOUR_MS = 3_600_000;
const START = 1_700_000_000_000;

let now = START;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A ledger at milestone 1, whose clock stands still. */
async function start(seed: string): Promise<{ rig: Rig; network: SyntheticNetwork; root: string }> {
  const db = await openMemory();
  const { rig, network, root } = await startNew(db, seed);
  noteLedger(rig.following.memory, await readPosition(db, rig.following));
  now = START;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  return { rig, network, root };
}

function push({ following, network }: Rig, ...ids: string[]): void {
  for (const id of ids) takePushed(following.memory, 'block', network.blocks.get(id)!.bytes);
}

async function countStored({ db }: Rig): Promise<number> {
  const sql = 'SELECT sum(json_array_length(blocks)) AS blocks FROM pack WHERE live = 1';
  return Number(await db.prepare(sql).first('blocks'));
}

it.each(['a', 'b', 'c', 'd'])('are stored whole in any order of coming: %s', async (seed) => {
  const { rig, network, root } = await start('order');
  const random = new Random(seed);
  const ids = [root, ...Array.from({ length: 120 }, () => network.note())];
  const places = ids.map((id, i) => ({ id, place: i + random.below(60) }));
  for (const [i, { id }] of places.sort((a, b) => a.place - b.place).entries()) {
    push(rig, id);
    now += 10;
    if (i % 16 === 0) await storePushed(rig.following);
  }
  await storePushed(rig.following);
  expect(await countStored(rig)).toBe(ids.length);
  expect(rig.following.memory.pool.pushed()).toEqual([]);
  expect(ids.filter((id) => rig.following.memory.pool.get(id.slice(2)))).toEqual([]);
  expect(rig.following.memory.tips.hasLooseEnds).toBe(false);
});

it.each([1000, HOUR_MS, -HOUR_MS])(
  'wait for a parent for a second, and are a loose end then: after %s ms',
  async (step) => {
    const { rig, network, root } = await start('lost');
    const parent = network.note([root]);
    const child = network.note([parent]);
    const { memory } = rig.following;
    push(rig, root, child);
    expect(await storePushed(rig.following)).toBe(1);
    now += Math.sign(step) * 999;
    await storePushed(rig.following);
    expect(memory.pool.pushed()).toHaveLength(1);
    expect(memory.tips.hasLooseEnds).toBe(false);
    now += step;
    await storePushed(rig.following);
    expect(memory.pool.pushed()).toEqual([]);
    expect(memory.tips.hasLooseEnds).toBe(true);
    // whoever walks to it finds it all the same
    expect(memory.pool.get(child.slice(2))).toBeDefined();
  },
);

it('are given up where they are below max depth', async () => {
  const { rig, network, root } = await start('deep');
  const old = network.note([root]);
  await issue(rig, network, [old]);
  const lastParents = (): string[] => [network.milestoneBlock!];
  while (network.milestones.length < 18) {
    network.milestone({ parents: lastParents() });
    await takeNext(rig, rig.db);
  }
  const { belowMaxDepth } = rig.following.memory.lastLedger!.parameters[0]!;
  expect(belowMaxDepth).toBe(15);
  const deep = network.note([old, network.milestoneBlock!]);
  push(rig, network.milestoneBlock!, deep);
  expect(await storePushed(rig.following)).toBe(1);
  expect(rig.following.memory.pool.get(deep.slice(2))).toBeUndefined();
  expect(rig.following.memory.tips.hasLooseEnds).toBe(false);
});

it('look up no more IDs each, however many are stored at once', async () => {
  const lookups: number[] = [];
  for (const count of [256, 1024]) {
    const { rig, network, root } = await start('lookups');
    const { memory } = rig.following;
    const { view } = memory.index;
    let named = 0;
    memory.index = {
      ...memory.index,
      view(db, head, ids, outputs) {
        named += ids.length + (outputs?.mentioned.length ?? 0);
        return view(db, head, ids, outputs);
      },
    };
    let last = root;
    push(rig, root);
    for (let i = 1; i < count; i++) {
      last = network.attachTransaction(network.transfer(network.genesisCoins[0]!, i), [last]);
      push(rig, last);
    }
    expect(await storePushed(rig.following)).toBe(count);
    lookups.push(named / count);
  }
  expect(lookups[1]).toBeLessThan(1.05 * lookups[0]!);
});

it('take no room where they cannot be stored, and never more than there is', async () => {
  const { rig, network, root } = await start('room');
  const { memory } = rig.following;
  const lost = Array.from({ length: 200 }, (_, i) => network.note([root], new Uint8Array([i])));
  const upon = lost.map((id) => network.note([id]));
  const chain = [root];
  for (let i = 0; i < 9; i++) chain.push(network.note([chain.at(-1)!]));
  push(rig, ...upon, ...chain);
  memory.upkeep.room = 60;
  expect(await storePushed(rig.following)).toBe(10);
  expect(memory.upkeep.room).toBe(50);
  const more = Array.from({ length: 130 }, (_, i) => network.note([root], new Uint8Array([1, i])));
  push(rig, ...more);
  expect(await storePushed(rig.following)).toBe(50);
  expect(await countStored(rig)).toBe(60);
  expect(await storePushed(rig.following)).toBe(0);
});
