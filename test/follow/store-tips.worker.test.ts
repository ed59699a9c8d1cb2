/**
 * Tips stored between milestones (src/follow/store-tips.ts): more open blocks than one pass may fetch come in over several passes.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { ask, startLedger, storeNow, takeNext } from '../ledger/rig.ts';
import { SyntheticNetwork } from '../network/synthetic.ts';

const db = env.LEDGER;

function networkWithOpenBlocks(count: number): SyntheticNetwork {
  const network = new SyntheticNetwork({ seed: 'tips' });
  network.milestone();
  for (let i = 0; i < count; i++) network.note();
  return network;
}

it('stores 1,000 open blocks in a few passes, then answers without upstream', async () => {
  const network = networkWithOpenBlocks(1000);
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  const stored: number[] = [];
  while (stored.reduce((sum, each) => sum + each, 0) < 1001 && stored.length < 6) stored.push(await storeNow(rig, db));
  // the fourth pass reaches the last of them, and the milestone's block
  expect(stored).toEqual([0, 0, 0, 1001]);
  expect(await storeNow(rig, db)).toBe(0);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);
});

it('asks upstream about none of them twice', async () => {
  const network = networkWithOpenBlocks(700);
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  const asked: string[] = [];
  const upstream = {
    ...rig.upstream,
    readReference: (id: string) => {
      asked.push(id);
      return rig.upstream.readReference(id);
    },
  };
  for (let i = 0; i < 4; i++) await storeNow({ ...rig, upstream }, db);
  expect(asked).toHaveLength(701);
  expect(new Set(asked).size).toBe(701);
});

it('does not store what a milestone took in meanwhile', async () => {
  const network = networkWithOpenBlocks(500);
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  expect(await storeNow(rig, db)).toBe(0);
  network.milestone();
  await takeNext(rig, db);
  network.note();
  const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
  expect(open.length).toBeLessThan(300);
  expect(await storeNow(rig, db)).toBe(open.length);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);
});
