/**
 * Static files in miniflare, for workers whose clients are connected to them directly: a worker of
 * its own serves the files, and ours is bound to it. Miniflare's own way, `assets` of our worker,
 * would lead every request through two more workers.
 */

const NAME = 'static-files';

/** How our worker is bound to {@link staticFilesWorker}. */
export const STATIC_FILES_BINDING = { ASSETS: NAME };

/** @param directory of the files; they are served as `[assets]` of wrangler.toml says */
export function staticFilesWorker(directory: string, compatibilityDate: string) {
  return {
    name: NAME,
    modules: true,
    script: 'export default { fetch: () => new Response(null, { status: 404 }) }',
    compatibilityDate,
    assets: {
      directory,
      assetConfig: { html_handling: 'none', not_found_handling: 'none' },
      routerConfig: { has_user_worker: true },
    },
  } as const;
}
