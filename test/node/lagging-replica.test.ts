/** A proposal that comes to a replica of D1 which is many milestones behind the primary database. */
import { expect, it } from 'vitest';
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
