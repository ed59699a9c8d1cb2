/**
 * The cron trigger without an upstream: what an import left to publish comes into KV, however many
 * calls it takes.
 */
import { createScheduledController } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import worker from '../../src/worker.ts';
import { startLedger } from '../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

it('wakes the follower, which goes on by itself', async () => {
  await startLedger(env.LEDGER, new SyntheticNetwork({ seed: 'scheduled' }), 0);
  await worker.scheduled(createScheduledController(), env);
  const isComplete = async () =>
    (await openIndexLedger(env.LEDGER).readState()).stored?.state?.entries.kind === 'complete';
  await vi.waitFor(async () => expect(await isComplete()).toBe(true), {
    timeout: 300_000,
    interval: 200,
  });
});
