/** The Worker's entrypoints, nothing else. */
import { EventBroker } from './events/event-broker.ts';
import { Follower } from './follower/follower.ts';
import { followerOf } from './follower/follower-stub.ts';
import { type App, createApp, createMisconfiguredApp } from './http/app.ts';
import { openNode } from './node/edge-node.ts';
import { hasPassed } from './platform/clock.ts';
import { readSettings } from './settings.ts';

interface Instance {
  app: App;
  /** Whether the settings name an upstream to follow. */
  follows: boolean;
}

/** Settings are read once for each environment, which lives as long as the isolate. */
const instances = new WeakMap<object, Instance>();

function instanceFor(env: Env): Instance {
  let instance = instances.get(env);
  if (instance === undefined) {
    instance = createInstance(env);
    instances.set(env, instance);
  }
  return instance;
}

function createInstance(env: Env): Instance {
  const result = readSettings(env);
  if (!result.ok) return { app: createMisconfiguredApp(result.problems), follows: false };
  const { settings } = result;
  const app = createApp({ settings, node: openNode(settings) });
  return { app, follows: settings.upstreams.length > 0 };
}

export { EventBroker, Follower };

/**
 * Milliseconds between two calls to wake the follower by requests of one isolate. It is awake,
 * except before its first start or after its alarm was lost.
 */
const WAKE_INTERVAL_MS = 60_000;
let wokenAt = Number.NEGATIVE_INFINITY;

export default {
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
