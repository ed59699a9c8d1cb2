/**
 * The scrub as a part of the follower's passes, on a real D1: a row that vanished, which no milestone
 * and no request meets, makes every read of the ledger an error, and `/health` names the table.
 */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { LedgerDamaged } from '../../src/ledger/core/checksum.ts';
import { readNodeStatus } from '../../src/ledger/read/node-status.ts';
import {
  FOLLOWING,
  followTo,
  passOnce,
  type Rig,
  startNew,
} from '../support/ledger/ledger-harness.ts';

const db = env.LEDGER;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Passes, with more time between them than between two steps of the scrub. */
async function pass(rig: Rig, times: number): Promise<void> {
  for (let passes = 0; passes < times; passes++) {
    vi.setSystemTime(Date.now() + 10_000);
    await passOnce(rig).catch((error: unknown) => expect(error).toBeInstanceOf(LedgerDamaged));
  }
}

const steps = async () => JSON.stringify(await db.prepare('SELECT integrity FROM head').first());

it('finds a row that vanished', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { network, rig } = await startNew(db, 'scrubbed');
  network.quietMilestone();
  await followTo(rig, 2);
  await pass(rig, 12);
  const { fingerprint } = (await readNodeStatus(db, FOLLOWING))!;
  expect(fingerprint).toMatch(/^[0-9a-f]{13}$/);
  expect(logged).not.toHaveBeenCalled();

  await db.prepare('DELETE FROM output WHERE id = (SELECT max(id) FROM output)').run();
  await pass(rig, 12);
  const damaged = 'rows of the table output are damaged on disk';
  await expect(readNodeStatus(db, FOLLOWING)).rejects.toThrow(damaged);
  expect(logged).toHaveBeenCalledWith(expect.stringContaining('"follower.ledger-damaged"'));
  expect(await steps()).toContain('damaged');
});

it('takes one step each ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { rig } = await startNew(db, 'paced');
  const before = await steps();
  const idle = () => passOnce(rig);
  // an object that begins takes the first one: the platform may evict it after each pass
  await idle();
  expect(await steps()).not.toBe(before);
  const first = await steps();
  for (let passes = 0; passes < 3; passes++) await idle();
  expect(await steps()).toBe(first);
  await pass(rig, 1);
  const after = await steps();
  expect(after).not.toBe(first);
  for (let passes = 0; passes < 3; passes++) await idle();
  expect(await steps()).toBe(after);
});
