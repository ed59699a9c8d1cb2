/** A module whose feed cannot be opened: the follower polls, as without it. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import type { CoreFollower } from '../../src/follower/follower.ts';
import type { FollowerPart } from '../../src/follower/follower-part.ts';
import { followerOf } from '../../src/follower/follower-stub.ts';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import type { NodeState } from '../support/hornet-double/node-state.ts';
import { respond } from '../support/hornet-double/routes.ts';
import { startLedger } from '../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The object of a follower with these modules, over a network of two milestones. */
async function following(
  modules: readonly FollowerPart[],
  work: (object: CoreFollower, node: NodeState) => Promise<void>,
): Promise<void> {
  const network = new SyntheticNetwork({ seed: 'failing feed' });
  for (let i = 0; i < 2; i++) network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  vi.stubGlobal('fetch', async (url: string, init: { headers: { accept: string } }) =>
    respond(rig.node, url, init.headers.accept),
  );
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
    Object.defineProperty(object, 'modules', { value: modules, configurable: true });
    await work(object, rig.node);
    Object.defineProperty(object, 'env', own);
  });
}

function loggedErrors() {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  return () => errors.mock.calls.flat().map((line) => JSON.parse(line));
}

it('of which a module has a second one is not opened, and the log says why', async () => {
  const errors = loggedErrors();
  const openFeed = () => expect.unreachable('it is not known which');
  await following([{ openFeed }, {}, { openFeed }], async (object, node) => {
    node.confirm(1);
    expect(await object.pass()).toMatchObject({ applied: 1 });
  });
  expect(errors()).toMatchObject([
    {
      event: 'follower.feed-not-opened',
      error: expect.stringContaining('two modules have a feed'),
    },
  ]);
});

it('fails no pass, and is opened once it can be', async () => {
  const errors = loggedErrors();
  let opened = 0;
  const openFeed: FollowerPart['openFeed'] = () => {
    if (opened++ === 0) throw new Error('of a module');
    return { state: () => 'down', stop: () => {} };
  };
  await following([{ openFeed }], async (object, node) => {
    for (const index of [1, 2]) {
      node.confirm(index);
      expect(await object.pass()).toMatchObject({ applied: 1 });
      expect(opened).toBe(index);
    }
  });
  expect(errors()).toMatchObject([{ event: 'follower.feed-not-opened' }]);
});
