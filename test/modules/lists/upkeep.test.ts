/**
 * Upkeep of lists: whether every kind of output is wanted, and when it is looked at.
 */
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  createFollowerMemory,
  type FollowerMemory,
} from '../../../src/follower/follower-context.ts';
import type { RunStep, StepName } from '../../../src/follower/steps.ts';
import { keepUp } from '../../../src/follower/upkeep.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import type { IndexSettings } from '../../../src/ledger/output-list/indexed-kinds.ts';
import { lists } from '../../../src/modules/lists/module.ts';
import { pause } from '../../../src/platform/clock.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { passOnce, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { EVERY_KIND, listedLedger, ONLY_NFTS } from '../../support/nft-list/listed-ledger.ts';

const LEDGER = 30;

const ofLists = { moduleUpkeep: lists.upkeep! };

/** How it goes with the index. */
async function keepIndex(db: Database, settings: IndexSettings, memory: FollowerMemory) {
  const tools = { db, upstreams: [], verify: verifySignature, memory, retention: 100, ...ofLists };
  return (await keepUp({ ...tools, ...settings }, true)).index;
}

it('indexes every kind at the final milestone, and then stays', async () => {
  const db = await listedLedger(LEDGER);
  const keep = async (settings: typeof EVERY_KIND) => {
    expect(await keepIndex(db, settings, createFollowerMemory())).toBe('done');
    return (await readHead(db))?.indexed;
  };
  expect(await keep(ONLY_NFTS)).toBe('');
  expect(await keep({ ...ONLY_NFTS, finalMilestone: LEDGER + 1 })).toBe('');
  expect(await keep({ ...ONLY_NFTS, finalMilestone: LEDGER })).toBe('all');
  expect(await keep({ ...ONLY_NFTS, finalMilestone: LEDGER - 1 })).toBe('all');
});

it('indexes every kind where INDEX says so', async () => {
  const db = await listedLedger(LEDGER);
  expect(await keepIndex(db, EVERY_KIND, createFollowerMemory())).toBe('done');
  expect((await readHead(db))?.indexed).toBe('all');
});

it('that a damaged output stops is an error, and not filled for ever', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const db = await listedLedger(LEDGER);
  const last = '(SELECT max(id) FROM output)';
  await db.prepare(`UPDATE output SET created = created + 1 WHERE id = ${last}`).run();
  expect(await keepIndex(db, EVERY_KIND, createFollowerMemory())).toBe('failed');
  await expect(readHead(db)).rejects.toThrow('rows of the table output are damaged on disk');
});

it('is filled for a second of a pass, and waits as long as each step took', async () => {
  const db = await listedLedger(LEDGER);
  const memory = createFollowerMemory();
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const steps: { begun: number; ended: number }[] = [];
  const takeStep = async (name: StepName) => {
    const begun = Date.now();
    await pause(70);
    if (name === 'index') steps.push({ begun, ended: Date.now() });
    return false;
  };
  const kept = keepIndex(db, EVERY_KIND, { ...memory, step: takeStep as RunStep });
  await vi.advanceTimersByTimeAsync(3000);
  expect(await kept).toBe('more');
  expect(steps).toHaveLength(8);
  for (const [i, { begun }] of steps.entries())
    expect(begun - (steps[i - 1]?.ended ?? begun - 70)).toBe(70);
});

it('is looked at where every kind is or may be wanted, until it is whole', async () => {
  const db = await listedLedger(LEDGER);
  const memory = createFollowerMemory();
  const note = (indexed: string) => {
    memory.lastLedger = { generation: 'g', ledger: LEDGER, indexed, parameters: [] };
  };
  note('');
  const unread: Database = {
    prepare() {
      throw new Error('it was looked at');
    },
    batch: async () => [],
  };
  expect(await keepIndex(db, EVERY_KIND, memory)).toBe('done');
  note((await readHead(db))!.indexed);
  expect(await keepIndex(unread, EVERY_KIND, memory)).toBe('done');
  // Time Travel, which leaves the generation as it is
  note('');
  expect(await keepIndex(unread, EVERY_KIND, memory)).toBe('failed');
  expect(await keepIndex(unread, { ...ONLY_NFTS, finalMilestone: 99 }, memory)).toBe('failed');
  expect(await keepIndex(unread, ONLY_NFTS, memory)).toBe('done');
});

it('is filled again after an import into a ledger that is over, while the follower rests', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'over' });
  for (let index = 1; index <= 3; index++) network.milestone();
  const rig = await startLedger(db, network, 0);
  const following = { ...rig.following, ...ofLists, indexAll: true, finalMilestone: 3 };
  for (const index of [2, 3]) {
    rig.node.confirm(index);
    await passOnce({ following });
  }
  await startLedger(db, network, 3);
  expect((await readHead(db))?.indexed).toBe('');
  expect(await passOnce({ following })).toMatchObject({ ended: true });
  expect((await readHead(db))?.indexed).toBe('all');
  expect(following.memory.lastLedger?.generation).toBe((await readHead(db))?.generation);
});

it('is filled again after an import while no upstream answers', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'alone' });
  for (let index = 1; index <= 3; index++) network.milestone();
  const rig = await startLedger(db, network, 0);
  rig.node.confirm(3);
  const following = { ...rig.following, ...ofLists, indexAll: true };
  await passOnce({ following });
  // which notes that all is done
  await passOnce({ following });
  expect(following.memory.lastLedger?.indexed).toBe('all');
  await startLedger(db, network, 3);
  expect((await readHead(db))?.indexed).toBe('');
  const [upstream] = rig.following.upstreams;
  const readHeads = () => Promise.reject(new UpstreamFailure('down'));
  await passOnce({ following: { ...following, upstreams: [{ ...upstream!, readHeads }] } });
  expect((await readHead(db))?.indexed).toBe('all');
});
