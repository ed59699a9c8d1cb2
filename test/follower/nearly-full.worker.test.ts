/**
 * A database that becomes nearly full (src/ledger/write/prune.ts): fewer milestones are kept, every
 * answer stays right, and once there is room again more are kept. Its size is that of a real D1.
 */
import '../support/vectors-in-workerd.ts';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { watchDatabase } from '../../src/follower/follower-context.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { SHRINK_AT } from '../../src/ledger/core/database-size.ts';
import { readNodeStatus } from '../../src/ledger/read/node-status.ts';
import { MIN_RETENTION } from '../../src/ledger/write/prune.ts';
import {
  ask,
  disturbed,
  FOLLOWING,
  followTo,
  ledgerIndex,
  passOnce,
  questionOf,
  type Rig,
  startLedger,
} from '../support/ledger/ledger-harness.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;
const RETENTION = 120;
const BLOCKS = 12;

function busyNetwork(milestones: number): SyntheticNetwork {
  const network = new SyntheticNetwork({ seed: 'nearly full' });
  network.milestone();
  while (network.milestones.length < milestones) {
    const before = network.milestoneBlock!;
    let last = before;
    for (let i = 0; i < BLOCKS; i++) last = network.note([last]);
    network.milestone({ parents: [before, last] });
  }
  return network;
}

async function readStatus() {
  const status = (await readNodeStatus(db, { ...FOLLOWING, retention: RETENTION }))!;
  const forgotten = Number(await db.prepare('SELECT forgotten FROM head').first('forgotten'));
  return { bytes: status.database.bytes, kept: status.retention.kept, forgotten };
}

/** Every milestone that is kept is answered as it should be, every other 404. */
async function askEverything(rig: Rig): Promise<void> {
  const ledger = await ledgerIndex(db);
  const { kept } = await readStatus();
  for (let index = 2; index <= ledger; index += 3) {
    const { question, answer } = questionOf(rig.network, index);
    expect([index, await ask(rig, question)]).toEqual([
      index,
      index > ledger - kept ? answer : 404,
    ]);
  }
}

it('keeps fewer milestones and says so, and more again when there is room', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const said = () =>
    warn.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('shortened'));
  const network = busyNetwork(228);
  const rig = await startLedger(db, network, 0, { retention: RETENTION });
  await followTo(rig, 72);
  const { bytes } = await readStatus();
  expect(said()).toEqual([]);

  // it is at the threshold now
  rig.following.databaseLimit = bytes / SHRINK_AT;
  const kept: number[] = [];
  for (let index = 84; index <= 192; index += 12) {
    await followTo(rig, index);
    const status = await readStatus();
    kept.push(status.kept);
    // a pass applies 12 milestones and then frees more
    expect(status.bytes).toBeLessThan(bytes * 1.15);
    expect(status.kept).toBeGreaterThanOrEqual(MIN_RETENTION);
    // IDs go back four times as far as the states, or to where they did before
    expect(status.forgotten).toBeLessThan(Math.max(index - 4 * MIN_RETENTION, 1));
    expect(index - status.kept - status.forgotten).toBeGreaterThanOrEqual(
      Math.min(3 * MIN_RETENTION, index - status.kept),
    );
  }
  expect(Math.max(...kept)).toBeLessThan(RETENTION);
  // it does not swing: what fits is kept
  const steady = kept.slice(-5);
  expect(Math.max(...steady) - Math.min(...steady)).toBeLessThanOrEqual(40);
  await askEverything(rig);
  expect(said().length).toBeGreaterThan(0);
  expect(JSON.parse(said().at(-1)!)).toMatchObject({
    event: 'follower.retention-shortened',
    configuredMilestones: RETENTION,
  });

  rig.following.databaseLimit = bytes * 10;
  let before = await readStatus();
  for (let index = 204; index <= lastIndex(network); index += 12) {
    await followTo(rig, index);
    const now = await readStatus();
    expect(now.kept).toBe(Math.min(before.kept + 12, RETENTION));
    expect(now.forgotten).toBeLessThan(Math.max(index - 4 * RETENTION, before.forgotten + 1));
    before = now;
  }
  await askEverything(rig);
  warn.mockRestore();
});

/** Refuses what inserts while the database is larger than this, as D1 does at its limit. */
function limited(limitBytes: number, refused: () => void): Database {
  return disturbed(db, async (sql) => {
    const { meta } = await db.prepare('SELECT 1').run();
    if (!/INSERT INTO (?!head)/.test(sql) || meta.size_after <= limitBytes) return;
    refused();
    throw new Error('D1_ERROR: Exceeded maximum DB size');
  });
}

it('goes on where writes are refused for want of room, at a limit that it does not know', async () => {
  for (const level of ['warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation(() => {});
  const network = busyNetwork(132);
  const rig = await startLedger(db, network, 0, { retention: RETENTION });
  await followTo(rig, 72);
  const { bytes } = await readStatus();
  let refusals = 0;
  const full = limited(bytes, () => refusals++);
  rig.following.db = watchDatabase(full, rig.following.memory);
  rig.node.confirm(lastIndex(network));
  for (let passes = 0; (await ledgerIndex(db)) < lastIndex(network); passes++) {
    if (passes > 100) throw new Error('it does not get there');
    const pass = passOnce(rig);
    await pass.catch(({ message }: Error) => expect(message).toMatch('Exceeded maximum DB size'));
  }
  expect(refusals).toBeGreaterThan(2);
  const { kept } = await readStatus();
  expect(kept).toBeGreaterThanOrEqual(MIN_RETENTION);
  expect(kept).toBeLessThan(RETENTION);
  await askEverything(rig);
  vi.restoreAllMocks();
});
