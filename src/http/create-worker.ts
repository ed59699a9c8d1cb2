/** The Worker around a list of modules: what it does with requests, and each minute. */
import { followerOf } from '../follower/follower-stub.ts';
import { openNode } from '../node/edge-node.ts';
import { hasPassed } from '../platform/clock.ts';
import { readSettings } from '../settings.ts';
import { type App, createApp, createMisconfiguredApp } from './app.ts';
import type { HttpPart } from './route.ts';

interface Instance {
  app: App;
  /** Whether the settings name an upstream to follow. */
  follows: boolean;
}

/**
 * Milliseconds between two calls to wake the follower by requests of one isolate. It is awake,
 * except before its first start or after its alarm was lost.
 */
const WAKE_INTERVAL_MS = 60_000;

export function createWorker(modules: readonly HttpPart[]) {
  /** Settings are read once for each environment, which lives as long as the isolate. */
  const instances = new WeakMap<object, Instance>();
  let wokenAt = Number.NEGATIVE_INFINITY;

  function instanceFor(env: Env): Instance {
    const known = instances.get(env);
    if (known !== undefined) return known;
    const result = readSettings(env);
    const instance = result.ok
      ? {
          app: createApp({ settings: result.settings, node: openNode(result.settings), modules }),
          follows: result.settings.upstreams.length > 0,
        }
      : { app: createMisconfiguredApp(result.problems), follows: false };
    instances.set(env, instance);
    return instance;
  }

  return {
    fetch(request, env, ctx) {
      const { app, follows } = instanceFor(env);
      if (follows && hasPassed(WAKE_INTERVAL_MS, wokenAt, Date.now())) {
        wokenAt = Date.now();
        ctx.waitUntil(followerOf(env.FOLLOWER).wake());
      }
      return app.fetch(request, ctx);
    },
    async scheduled(_controller, env) {
      const follower = followerOf(env.FOLLOWER);
      const { follows } = instanceFor(env);
      if (follows) await follower.wake();
      const { behind } = await follower.pass();
      // without an upstream the follower is awake only while an import is still to be published
      if (behind) await follower.wake();
    },
  } satisfies ExportedHandler<Env>;
}
