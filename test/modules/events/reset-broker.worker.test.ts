/** A broker that was reset, as by a deployment: the follower's next call reaches the new one. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { createAnnouncer } from '../../../src/modules/events/announcer.ts';
import { brokerOf } from '../../../src/modules/events/events-stub.ts';

it('a stub that a reset broke is not used again', async () => {
  let now = 0;
  const log = vi.fn<() => void>();
  const announcer = createAnnouncer(
    () => brokerOf(env.EVENTS)!,
    () => now,
    log,
  );
  const calls = vi.spyOn(env.EVENTS, 'get');
  const move = async (ledger: number) => {
    now += 60_000;
    const before = calls.mock.results.length;
    announcer.moved({ generation: 'one', ledger });
    await vi.waitFor(() => expect(calls.mock.results.length).toBeGreaterThan(before));
    await brokerOf(env.EVENTS)!.readCounts();
  };
  await move(1);
  await runInDurableObject(brokerOf(env.EVENTS)!, (_, state) => state.abort('reset')).catch(
    () => undefined,
  );
  for (let ledger = 2; ledger < 6; ledger++) await move(ledger);
  expect(log).not.toHaveBeenCalled();
});
