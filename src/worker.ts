/**
 * The Worker's entrypoints, nothing else (design §2).
 */
import { Follower } from './follower/follower.ts';
import { followerOf } from './follower/follower-stub.ts';
import { type App, createApp } from './http/app.ts';
import { createBrokenApp } from './http/misconfigured-app.ts';
import { CacheApi } from './http/response-cache.ts';
import { openNode } from './node/open-node.ts';
import { readSettings } from './settings.ts';

/** Settings are read once for each environment, which lives as long as the isolate. */
const apps = new WeakMap<object, App>();

function appFor(env: Env): App {
  const known = apps.get(env);
  if (known !== undefined) return known;
  const result = readSettings(env);
  const app = result.ok
    ? createApp({
        settings: result.settings,
        node: openNode(result.settings),
        cache: new CacheApi(caches.default),
      })
    : createBrokenApp(result.problems);
  apps.set(env, app);
  return app;
}

export { Follower };

/** Milliseconds between two calls to wake the follower by requests of one isolate: it is awake but after a first start, or a lost alarm. */
const WAKE_INTERVAL = 60_000;
let woken = Number.NEGATIVE_INFINITY;

export default {
  fetch(request, env, ctx) {
    if (env.UPSTREAM_URL && Date.now() - woken > WAKE_INTERVAL) {
      woken = Date.now();
      ctx.waitUntil(followerOf(env.FOLLOWER).wake());
    }
    return appFor(env).fetch(request, ctx);
  },
  async scheduled(_controller, env) {
    const follower = followerOf(env.FOLLOWER);
    if (env.UPSTREAM_URL) await follower.wake();
    const { behind } = await follower.pass();
    // without an upstream it is awake only while an import is still to be published
    if (behind) await follower.wake();
  },
} satisfies ExportedHandler<Env>;
