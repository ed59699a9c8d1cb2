/**
 * The Worker's entrypoints, nothing else (design §2).
 */
import { type App, createApp } from './http/app.ts';
import { createBrokenApp } from './http/broken-app.ts';
import { CacheApi } from './http/response-cache.ts';
import { openNode } from './ledger/node.ts';
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
        openNode: (ctx) => openNode(result.settings, ctx),
        cache: new CacheApi(caches.default),
      })
    : createBrokenApp(result.problems);
  apps.set(env, app);
  return app;
}

export default {
  fetch(request, env, ctx) {
    return appFor(env).fetch(request, ctx);
  },
} satisfies ExportedHandler<Env>;
