/** What starts the follower's passes: its timer, its alarm, and cron and requests, which wake it. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import type { CoreFollower } from '../../src/follower/follower.ts';
import { followerOf } from '../../src/follower/follower-stub.ts';
import { openTestLedger } from '../support/nft-index/d1-test-ledger.ts';

const HOUR_MS = 3_600_000;

const alarmOf = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());

/** Milliseconds to each alarm, when it is set. None of them goes off. */
async function waitsForAlarms(storage: DurableObjectStorage): Promise<number[]> {
  const waits: number[] = [];
  await storage.deleteAlarm();
  vi.spyOn(storage, 'setAlarm').mockImplementation(async (at) => {
    waits.push(Number(at) - Date.now());
  });
  return waits;
}

it('an alarm that a clock set which was an hour ahead is set again', async () => {
  const follower = followerOf(env.FOLLOWER);
  const stub = follower as unknown as DurableObjectStub;
  const before = Date.now();
  await runInDurableObject(stub, (_object, { storage }) => storage.setAlarm(before + HOUR_MS));
  await follower.wake();
  // it may have gone off already
  expect((await alarmOf(stub)) ?? 0).toBeLessThan(before + HOUR_MS / 2);
});

it('an alarm that is due within the interval is left alone', async () => {
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  // so far ahead that it does not go off meanwhile
  const due = Date.now() + HOUR_MS;
  await runInDurableObject(stub, async (object, { storage }) => {
    await storage.setAlarm(due);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(due - 900);
    await object.wake();
    clock.mockRestore();
  });
  expect(await alarmOf(stub)).toBe(due);
  await runInDurableObject(stub, (_object, { storage }) => storage.deleteAlarm());
});

it('a timer starts the passes between two alarms, and the alarm outlives the object', async () => {
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  const started = Date.now();
  const seen = await runInDurableObject(stub, async (object, { storage }) => {
    const passes = vi.spyOn(object, 'pass');
    const alarms = vi.spyOn(storage, 'setAlarm');
    const settings = {
      UPSTREAM_URL: 'http://127.0.0.1:1',
      MILESTONE_PUBLIC_KEYS: 'ab'.repeat(32),
      MILESTONE_THRESHOLD: '1',
    };
    const own = Object.getOwnPropertyDescriptor(object, 'env')!;
    Object.defineProperty(object, 'env', { ...own, value: { ...env, ...settings } });
    await object.alarm();
    await vi.waitFor(() => expect(passes.mock.calls.length).toBeGreaterThanOrEqual(3), 20_000);
    Object.defineProperty(object, 'env', own);
    return { alarms: alarms.mock.calls.length, alarm: await storage.getAlarm() };
  });
  expect(seen.alarms).toBe(1);
  expect(seen.alarm! - started).toBeGreaterThan(9000);
});

it('a pass that fails is followed by another one a second later, by an alarm', async () => {
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  let waits: number[] = [];
  await runInDurableObject(stub, async (object, { storage }) => {
    waits = await waitsForAlarms(storage);
    vi.spyOn(object, 'pass').mockRejectedValue(new Error('D1 is down'));
    await object.alarm();
    vi.restoreAllMocks();
  });
  // the first one is set in any case, as the object may be evicted
  expect(waits).toHaveLength(2);
  expect(waits[1]).toBeLessThanOrEqual(1000);
});

it('passes that have used up the queries of an invocation wait for an alarm', async () => {
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  let waits: number[] = [];
  await runInDurableObject(stub, async (object, { storage }) => {
    waits = await waitsForAlarms(storage);
    const settings = {
      UPSTREAM_URL: 'http://127.0.0.1:1',
      MILESTONE_PUBLIC_KEYS: 'ab'.repeat(32),
      MILESTONE_THRESHOLD: '1',
    };
    const own = Object.getOwnPropertyDescriptor(object, 'env')!;
    Object.defineProperty(object, 'env', { ...own, value: { ...env, ...settings } });
    await object.alarm();
    // those of requests use the same queries; each pass has one at least
    for (let passes = 0; passes <= 400; passes++) await object.pass();
    await vi.waitFor(() => expect(waits.length).toBeGreaterThan(1), 20_000);
    Object.defineProperty(object, 'env', own);
    vi.restoreAllMocks();
  });
  expect(waits[0]).toBeGreaterThan(9000);
  expect(waits[1]).toBeLessThanOrEqual(1000);
});

it('passes that have used up the operations on KV of an invocation wait for an alarm', async () => {
  const burned = Array.from({ length: 1000 }, (_, i) => ({
    nft: i.toString(16).padStart(64, '0'),
    output: null,
  }));
  const ledger = openTestLedger(env.LEDGER);
  await ledger.import('g', 100, []);
  // so that a scrub finds no damage
  const integrity = JSON.stringify({ fingerprints: { output: 0, id_0: 0 } });
  await env.LEDGER.prepare('UPDATE head SET integrity = ?1').bind(integrity).run();
  await ledger.apply(burned);
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  /** Milliseconds to each alarm, when it was set, and the end. None of them goes off. */
  const waits: (number | 'all was put')[] = [];
  await runInDurableObject(stub, async (object, { storage }) => {
    await storage.deleteAlarm();
    vi.spyOn(storage, 'setAlarm').mockImplementation(async (at) => {
      waits.push(Number(at) - Date.now());
    });
    vi.spyOn(storage, 'deleteAlarm').mockImplementation(async () => {
      waits.push('all was put');
    });
    // what was published before has nothing of it
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 5000);
    await object.alarm();
    clock.mockRestore();
    await vi.waitFor(() => expect(waits.length).toBeGreaterThan(1), 60_000);
    vi.restoreAllMocks();
  });
  expect(waits[0]).toBeGreaterThan(9000);
  expect(waits[1]).toBeLessThanOrEqual(1000);
});

it('requests that are ahead share one look at the upstreams each 200 ms', async () => {
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  const took = await runInDurableObject(stub, async (object) => {
    const began = Date.now();
    for (let looks = 0; looks < 5; looks++) {
      const [one, other] = await Promise.all([object.catchUp(), object.catchUp()]);
      expect(other).toBe(one);
    }
    return Date.now() - began;
  });
  expect(took).toBeGreaterThanOrEqual(800);
});
