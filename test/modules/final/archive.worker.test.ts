/** The trees over a final ledger that was imported, and nothing is followed. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { CoreFollower } from '../../../src/follower/follower.ts';
import { followerOf } from '../../../src/follower/follower-stub.ts';
import { readFinalLedger } from '../../../src/modules/final/prove-final.ts';
import { startLedger } from '../../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const db = env.LEDGER;

it('builds the trees over the ledger where nothing is followed', async () => {
  const network = new SyntheticNetwork({ seed: 'archive' });
  for (let index = 1; index <= 3; index++) network.milestone();
  await startLedger(db, network, 3);
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  const passAt = (finalMilestone: string) =>
    runInDurableObject(stub, async (object) => {
      const own = Object.getOwnPropertyDescriptor(object, 'env')!;
      const settings = { ...env, UPSTREAM_URL: '', FINAL_MILESTONE: finalMilestone };
      Object.defineProperty(object, 'env', { ...own, value: settings });
      const result = await object.pass();
      Object.defineProperty(object, 'env', own);
      return result;
    });
  expect(await passAt('')).toMatchObject({ isBuilding: false });
  expect(await readFinalLedger(db, 3)).toMatchObject({ ok: false, isBuilding: true });
  expect(await passAt('3')).toMatchObject({ isBuilding: false });
  expect(await readFinalLedger(db, 3)).toMatchObject({ ok: true });
});
