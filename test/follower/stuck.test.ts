/**
 * Passes without progress although an upstream has the next milestone: the third makes the state
 * `failing`, which says what is waited for, and none of them is followed by another at once.
 */
import { beforeEach, expect, it, vi } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import {
  followerState,
  ledgerIndex,
  passOnce,
  type Rig,
  startLedger,
  startNew,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

/** The state after each of so many passes. */
async function statesAfter(db: Database, rig: Rig, upstreams: Upstream[], passes: number) {
  const states: string[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const { behind } = await passOnce({ following: { ...rig.following, upstreams } });
    expect(behind).toBe(false);
    states.push((await followerState(db)).state);
  }
  return states;
}

it('are failing while a block of the milestone is nowhere, until it is there', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'lost');
  const lost = network.note([root]);
  network.milestone({ parents: [root, lost] });
  rig.node.confirm(2);
  const readBlock = async (id: string) =>
    `0x${id}` === lost ? undefined : rig.upstream.readBlock(id);
  const lacking = { ...rig.upstream, readBlock };
  const [first, second, third] = await statesAfter(db, rig, [lacking], 3);
  expect([first, second, third]).toEqual(['following', 'following', 'failing']);
  const { reason } = await followerState(db);
  expect(reason).toBe(`no pass gets beyond milestone 1: block ${lost} is not known upstream`);
  // another one is asked in the same pass
  expect(await statesAfter(db, rig, [lacking, rig.upstream], 1)).toEqual(['following']);
  expect(await ledgerIndex(db)).toBe(2);
});

it('are failing while no upstream has the milestone that it claims to have', async () => {
  const db = await openMemory();
  const { rig } = await startNew(db, 'claimed');
  const heads = await rig.upstream.readHeads();
  const claiming = { ...rig.upstream, readHeads: async () => ({ ...heads, confirmed: 2 }) };
  expect((await statesAfter(db, rig, [claiming], 3))[2]).toBe('failing');
  // its word alone is nothing beside that of one that is level
  rig.following.memory = createFollowerMemory();
  const states = await statesAfter(db, rig, [claiming, rig.upstream], 4);
  expect(states[3]).toBe('following');
});

it('are failing for a reason that names no upstream', async () => {
  const db = await openMemory();
  const { rig } = await startNew(db, 'named');
  const heads = await rig.upstream.readHeads();
  const named = (name: string): Upstream => ({
    ...rig.upstream,
    name,
    readHeads: async () => ({ ...heads, confirmed: 2 }),
    readMilestone: () => Promise.reject(new UpstreamFailure(`${name} milestones: status 500`)),
  });
  const upstreams = [named('10.1.2.3:14265'), named('hornet.internal')];
  expect((await statesAfter(db, rig, upstreams, 3))[2]).toBe('failing');
  const { reason } = await followerState(db);
  expect(reason).toMatch(/^no pass gets beyond milestone 1: an upstream milestones: status 500$/);
});

it('are not failing while parts of a large milestone are stored', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'parts');
  let last = root;
  for (let i = 0; i < 400; i++) last = network.note([last]);
  network.milestone({ parents: [root, last] });
  rig.node.confirm(2);
  rig.following.upstreams = [{ ...rig.upstream, readTips: async () => [] }];
  for (let pass = 0; pass < 9 && (await ledgerIndex(db)) === 1; pass++) {
    await passOnce(rig, { fetches: 50 });
    expect((await followerState(db)).state).toBe('following');
  }
  expect(await ledgerIndex(db)).toBe(2);
});

it('a large milestone gets on beside an upstream that diverges, after the other one failed once', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'diverging');
  let last = root;
  // more levels than one pass walks down
  for (let i = 0; i < 400; i++) last = network.note([last]);
  network.milestone({ parents: [root, last] });
  rig.node.confirm(2);
  let reads = 0;
  const readBlock = async (id: string) => {
    if (++reads === 300) throw new UpstreamFailure('no answer');
    return rig.upstream.readBlock(id);
  };
  const readTips = async () => [];
  const diverging = {
    ...rig.upstream,
    name: 'diverging',
    readMilestone: async () => Uint8Array.of(7),
  };
  rig.following.upstreams = [{ ...rig.upstream, readBlock, readTips }, diverging];
  for (let pass = 0; pass < 9 && (await ledgerIndex(db)) === 1; pass++) await passOnce(rig);
  expect(await ledgerIndex(db)).toBe(2);
});

it('let each upstream come first in turn, as those before it may use up what a pass may do', async () => {
  const db = await openMemory();
  const { rig } = await startNew(db, 'in turn');
  const heads = await rig.upstream.readHeads();
  const asked: number[] = [];
  const claiming = [0, 1, 2].map((place) => {
    const readHeads = async () => {
      asked.push(place);
      return { ...heads, confirmed: 2 };
    };
    return { ...rig.upstream, readHeads };
  });
  await statesAfter(db, rig, claiming, 4);
  expect(asked.filter((_, i) => i % 3 === 0)).toEqual([0, 1, 2, 0]);
});

it('a large milestone gets on beside an upstream that denies its blocks, after the other one failed', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'denied' });
  network.milestone();
  network.milestone();
  const rig = await startLedger(db, network, 2);
  // more levels than three passes walk down
  let last = network.milestoneBlock!;
  for (let i = 0; i < 900; i++) last = network.note([last]);
  network.milestone({ parents: [network.milestoneBlock!, last] });
  rig.node.confirm(3);
  let pass = 0;
  const failing = new Set([1, 3, 5, 7, 9]);
  const readHeads = async () => {
    if (failing.has(pass)) throw new UpstreamFailure('no answer');
    return rig.upstream.readHeads();
  };
  const readTips = async () => [];
  const readBlock = async () => undefined;
  const denying = {
    ...rig.upstream,
    name: 'denying',
    readBlock,
    readReference: readBlock,
    readTips,
  };
  rig.following.upstreams = [{ ...rig.upstream, readHeads, readTips }, denying];
  for (; pass < 25 && (await ledgerIndex(db)) === 2; pass++) await passOnce(rig);
  expect(await ledgerIndex(db)).toBe(3);
});
