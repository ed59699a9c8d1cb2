/** The platform's contract, by workerd itself. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { followerOf } from '../../../src/follower/follower-stub.ts';
import { describePlatform, type Platform } from './contract.ts';

const follower = followerOf(env.FOLLOWER);

describePlatform({
  run: (test) => test(),
  d1: env.LEDGER,
  kv: env.NFT_INDEX,
  caches,
  follower: follower as unknown as Platform['follower'],
  inObject: (work) =>
    runInDurableObject(followerOf(env.FOLLOWER), (_object, state) => work(state as never)) as never,
  openFollower: () => followerOf(env.FOLLOWER) as never,
  reset: () =>
    runInDurableObject(followerOf(env.FOLLOWER), (_object, state) => state.abort('reset')).catch(
      () => {},
    ),
  makePair: () => Object.values(new WebSocketPair()) as never,
  respond: (status, webSocket) => new Response(null, { status, webSocket: webSocket as never }),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});
