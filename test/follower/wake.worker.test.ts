/** The follower's alarm after the clock was set back: cron and requests wake it. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { followerOf } from '../../src/follower/follower-stub.ts';

const HOUR_MS = 3_600_000;

const alarmOf = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());

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
  const follower = followerOf(env.FOLLOWER);
  const stub = follower as unknown as DurableObjectStub;
  const due = Date.now() + 900;
  await runInDurableObject(stub, (_object, { storage }) => storage.setAlarm(due));
  await follower.wake();
  expect(await alarmOf(stub)).toBe(due);
  await runInDurableObject(stub, (_object, { storage }) => storage.deleteAlarm());
});
