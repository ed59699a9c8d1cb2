/** A module whose feed cannot be opened: the follower polls, as without it. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import type { CoreFollower } from '../../src/follower/follower.ts';
import type { FollowerPart } from '../../src/follower/follower-part.ts';
import { followerOf } from '../../src/follower/follower-stub.ts';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { respond } from '../support/hornet-double/routes.ts';
import { startLedger } from '../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('fails no pass, and is opened once it can be', async () => {
  const network = new SyntheticNetwork({ seed: 'failing feed' });
  for (let i = 0; i < 2; i++) network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  vi.stubGlobal('fetch', async (url: string, init: { headers: { accept: string } }) =>
    respond(rig.node, url, init.headers.accept),
  );
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  let opened = 0;
  const openFeed: FollowerPart['openFeed'] = () => {
    if (opened++ === 0) throw new Error('of a module');
    return { state: () => 'down', stop: () => {} };
  };
  const stub = followerOf(env.FOLLOWER) as unknown as DurableObjectStub<CoreFollower>;
  await runInDurableObject(stub, async (object) => {
    const settings = {
      UPSTREAM_URL: 'http://upstream.example',
      MILESTONE_PUBLIC_KEYS: network.keys.keys
        .map(({ publicKey }) => toHexDigits(publicKey))
        .join(),
      MILESTONE_THRESHOLD: String(network.keys.threshold),
    };
    const own = Object.getOwnPropertyDescriptor(object, 'env')!;
    Object.defineProperty(object, 'env', { ...own, value: { ...env, ...settings } });
    Object.defineProperty(object, 'modules', { value: [{ openFeed }] });
    for (const index of [1, 2]) {
      rig.node.confirm(index);
      expect(await object.pass()).toMatchObject({ applied: 1 });
      expect(opened).toBe(index);
    }
    Object.defineProperty(object, 'env', own);
  });
  expect(errors.mock.calls.flat().map((line) => JSON.parse(line).event)).toEqual([
    'follower.feed-not-opened',
  ]);
});
