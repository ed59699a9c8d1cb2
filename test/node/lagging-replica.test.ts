/** A proposal that comes to a replica of D1 or to a ledger which is behind. */
import { expect, it, vi } from 'vitest';
import type { Database } from '../../src/ledger/core/database.ts';
import { answerOnceCaughtUp } from '../../src/node/answer-once-caught-up.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { defaultSettings } from '../support/default-settings.ts';
import {
  followTo,
  requestOf,
  rootsOf,
  startLedger,
  storeNow,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { stopClock } from '../support/stopped-clock.ts';

stopClock();

it('is answered by the primary database, however far the replica is behind', async () => {
  const network = new SyntheticNetwork({ seed: 'lagging replica' });
  for (let i = 0; i < 6; i++) {
    network.note();
    network.milestone();
  }
  const [primary, replica] = [await openMemory(), await openMemory()];
  await followTo(await startLedger(replica, network, 0), 1);
  const rig = await startLedger(primary, network, 0);
  await followTo(rig, 6);
  network.note();
  const { request, response } = network.propose();
  await storeNow(rig, primary);
  const ledger = {
    prepare: (sql: string) => primary.prepare(sql),
    batch: (statements: D1PreparedStatement[]) => primary.batch(statements as never),
    withSession: () => primary,
  };
  const settings = { ...defaultSettings({ LEDGER: ledger }), milestoneKeys: network.keys };
  const ask = (index: number, db: Database) => {
    const asked = { request: requestOf({ ...request, index }), client: 'a client' };
    return answerOnceCaughtUp(db, settings, asked, computeWhiteFlag);
  };
  const answered = await ask(7, replica);
  expect(answered.ok && rootsOf(answered)).toEqual(response);
  for (const db of [replica, primary])
    expect(await ask(20, db)).toMatchObject({ ok: false, reason: 'unknown', ahead: 13 });
});

it('is computed once where there is no replica', async () => {
  const network = new SyntheticNetwork({ seed: 'no replica' });
  network.milestone();
  const db = await openMemory();
  await startLedger(db, network, 1);
  const ledger = { prepare: db.prepare, batch: db.batch, withSession: () => db };
  const request = requestOf({ ...network.propose().request, index: 20 });
  for (const [oneIsolate, times] of [
    [true, 1],
    [false, 2],
  ] as const) {
    const compute = vi.fn(computeWhiteFlag);
    const settings = { ...defaultSettings({ LEDGER: ledger }), oneIsolate };
    const answer = await answerOnceCaughtUp(db, settings, { request, client: 'a' }, compute);
    expect(answer).toMatchObject({ ok: false, reason: 'unknown', ahead: 18 });
    expect(compute).toHaveBeenCalledTimes(times);
  }
});

it('is answered once the follower has taken the milestone in, in however many parts', async () => {
  const network = new SyntheticNetwork({ seed: 'in parts' });
  network.note();
  network.milestone();
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  network.note();
  const { request, response } = network.propose();
  await storeNow(rig, db);
  const ledger = { prepare: db.prepare, batch: db.batch, withSession: () => db };
  let parts = 0;
  const catchUp = async () => {
    if (++parts < 3) return { applied: 0, behind: true };
    await followTo(rig, 1);
    return { applied: 1, behind: true };
  };
  const follower = { idFromName: () => 'one', get: () => ({ catchUp }) };
  const settings = {
    ...defaultSettings({ LEDGER: ledger, FOLLOWER: follower }),
    upstreams: ['http://a.example'],
  };
  const asked = { request: requestOf(request), client: 'a client' };
  const answered = await answerOnceCaughtUp(db, settings, asked, computeWhiteFlag);
  expect(answered.ok && rootsOf(answered)).toEqual(response);
  expect(parts).toBe(3);
});
