/**
 * What a feed brought is stored only where it is open for certain (src/follower/pushed/store-pushed.ts),
 * and a pushed milestone is applied with what was pushed (src/follower/apply-next.ts).
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { applyPushed } from '../../../src/follower/apply-next.ts';
import { noteLedger, takePushed } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { storePushed } from '../../../src/follower/pushed/store-pushed.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readView } from '../../../src/ledger/view/consistent-view.ts';
import { expectRoots } from '../../support/ledger/expect-roots.ts';
import {
  ask,
  disturbed,
  ledgerIndex,
  type Rig,
  startLedger,
  startNew,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { milestoneAt } from '../../support/network/network-model.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const db = env.LEDGER;

async function start(network: SyntheticNetwork, index = network.genesis.index): Promise<Rig> {
  return noted(await startLedger(db, network, index));
}

/** At milestone 1. */
async function startFed(seed: string): Promise<{ network: SyntheticNetwork; rig: Rig }> {
  const { network, rig } = await startNew(db, seed);
  return { network, rig: await noted(rig) };
}

async function noted(rig: Rig): Promise<Rig> {
  noteLedger(rig.following.memory, await readPosition(db, rig.following));
  return rig;
}

/** Pushes blocks, or all that no milestone references. */
function push({ following, network }: Rig, ids?: readonly string[]): void {
  const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
  for (const id of ids ?? open.map((block) => block.id))
    takePushed(following.memory, 'block', network.blocks.get(id)!.bytes);
}

async function isKnown(id: string): Promise<boolean> {
  const index = (await ledgerIndex(db)) + 1;
  const view = await readView(db, { index, named: [id.slice(2)] });
  return view!.named.size > 0;
}

it('stores blocks whose parents prove them open, in any order of coming', async () => {
  const { network, rig } = await startFed('pushed');
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(network.note());
  push(rig, [...ids.toReversed(), network.milestoneBlock!]);
  expect(await storePushed(rig.following)).toBe(31);
  expect(rig.following.memory.pool.pushed()).toEqual([]);
  await expectRoots(rig, network);
});

it('leaves out what waits for a parent, and says that something is loose', async () => {
  const { network, rig } = await startFed('late');
  const parent = network.note([network.milestoneBlock!]);
  const child = network.note([parent]);
  push(rig, [network.milestoneBlock!, child]);
  expect(await storePushed(rig.following)).toBe(1);
  expect(await isKnown(child)).toBe(false);
  push(rig, [parent]);
  await storePushed(rig.following);
  await storePushed(rig.following);
  expect(await isKnown(child)).toBe(true);
});

it('does not store what was referenced before the import, nor what stands upon it', async () => {
  const network = new SyntheticNetwork({ seed: 'trap' });
  network.milestone();
  const parent = network.note([network.milestoneBlock!]);
  const old = network.note([parent]);
  const { index } = network.milestone({ parents: [network.milestoneBlock!, network.note([old])] });
  // the parent of the old block is a solid entry point, the old block is none
  network.note([parent, network.milestoneBlock!]);
  const rig = await start(network, index);
  while (network.milestones.length < 6) network.milestone({ parents: [network.milestoneBlock!] });
  while ((await ledgerIndex(db)) < 6) await takeNext(rig, db);
  const uponOld = network.note([old, network.milestoneBlock!]);
  const harmless = network.note([network.milestoneBlock!]);
  push(rig, [network.milestoneBlock!, old, uponOld, harmless]);
  await storePushed(rig.following);
  expect(await isKnown(old)).toBe(false);
  expect(await isKnown(uponOld)).toBe(false);
  expect(await isKnown(harmless)).toBe(true);
  expect(rig.following.memory.tips.hasLooseEnds).toBe(true);
});

it('stores nothing where a milestone is applied between the decision and the write', async () => {
  const { network, rig } = await startFed('between');
  for (let i = 0; i < 5; i++) network.note();
  push(rig);
  const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
  network.milestone();
  let applied = false;
  const meddled = disturbed(db, async (sql) => {
    if (applied || !/INSERT INTO pack|UPDATE pack SET next_block/.test(sql)) return;
    applied = true;
    await takeNext(rig, db);
  });
  await expect(storePushed({ ...rig.following, db: meddled })).rejects.toThrow(LedgerMoved);
  expect(applied).toBe(true);
  // what the milestone took is not stored a second time
  expect(await storePushed(rig.following)).toBe(0);
  for (const { id } of open) expect(await isKnown(id)).toBe(true);
  const { request, response } = network.propose();
  push(rig);
  await storePushed(rig.following);
  expect(await ask(rig, request)).toEqual(response);
});

it('gives up what was pushed for another ledger', async () => {
  const { network, rig } = await startFed('imported');
  network.note();
  push(rig);
  await startLedger(db, network, network.genesis.index);
  expect(await storePushed(rig.following)).toBe(0);
  expect(rig.following.memory.pool.pushed()).toEqual([]);
});

it('applies a pushed milestone when its cone is there, and not before', async () => {
  const { network, rig } = await startFed('applied');
  const ids = [network.milestoneBlock!, network.note(), network.note(), network.note()];
  network.milestone();
  const { memory } = rig.following;
  takePushed(memory, 'milestone', milestoneAt(network, 2)!.payload);
  push(rig, ids.slice(1));
  expect(await applyPushed(rig.following)).toBe(0);
  push(rig, ids);
  expect(await applyPushed(rig.following)).toBe(1);
  expect(await ledgerIndex(db)).toBe(2);
  expect(memory.milestones.at(2)).toEqual([]);
});

it('refuses a milestone that is not signed, and takes the one that is', async () => {
  const { network, rig } = await startFed('signed');
  push(rig, [network.milestoneBlock!]);
  network.milestone({ parents: [network.milestoneBlock!] });
  const { payload } = milestoneAt(network, 2)!;
  const forged = new Uint8Array(payload);
  forged[forged.length - 1]! ^= 1;
  const { memory } = rig.following;
  takePushed(memory, 'milestone', forged);
  expect(await applyPushed(rig.following)).toBe(0);
  expect(memory.milestones.at(2)).toEqual([]);
  takePushed(memory, 'milestone', payload);
  expect(await applyPushed(rig.following)).toBe(1);
});

it('does not go beyond the final milestone, though more was pushed', async () => {
  const { network, rig } = await startFed('over');
  for (let index = 2; index <= 4; index++) {
    push(rig);
    network.milestone();
    push(rig);
    takePushed(rig.following.memory, 'milestone', milestoneAt(network, index)!.payload);
  }
  expect(await applyPushed({ ...rig.following, finalMilestone: 3 })).toBe(2);
  expect(await ledgerIndex(db)).toBe(3);
  expect(await applyPushed({ ...rig.following, finalMilestone: 2 })).toBe(0);
  // the fourth was there
  expect(await applyPushed(rig.following)).toBe(1);
});
