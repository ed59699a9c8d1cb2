/**
 * Serves the built Worker in miniflare, as a process of its own that may be killed at any moment:
 * `node serve.ts '{"folder":…,"persistTo":…,"port":…,"vars":{…}}'`, with EdgeOptions.
 *
 * Its databases are those of `wrangler dev --persist-to`. Prints one line with its URL when it
 * answers.
 */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { describeWorkers } from '../../../cli/lib/wrangler/describe-workers.ts';
import { persistPath } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { runWorker } from '../../../cli/serve/run-worker.ts';
import type { EdgeOptions } from './edge.ts';

const options: EdgeOptions = JSON.parse(process.argv[2]!);
const { folder, persistTo, port = 0, vars = {}, inspect = false, byMiniflare } = options;
const config = readWranglerConfig();
const host = '127.0.0.1';

interface Running {
  url: URL;
  inspector: URL | undefined;
  stop(): Promise<void>;
}

const { url, inspector, stop } = await (options.asServe
  ? runWorker({ folder, persistTo, host, port, config, vars, inspect })
  : runInMiniflare());
// miniflare's own listener ends the process before it has ended workerd
process.removeAllListeners('SIGTERM');
process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
console.log(JSON.stringify({ url: url.origin, inspector: inspector?.href }));

async function runInMiniflare(): Promise<Running> {
  const { whiteFlagLimit: limit, quiet } = options;
  const [own, files] = describeWorkers({ folder, config, vars });
  const simple = { limit: limit!, period: 60 } as const;
  const converted = convertV4MiniflareOptions({
    host,
    port: byMiniflare ? port : 0,
    cf: false,
    logRequests: false,
    ...(quiet && { handleStructuredLogs: () => {} }),
    ...(inspect && { inspectorPort: 0 }),
    workers: [
      {
        ...own,
        ...(!byMiniflare && { unsafeDirectSockets: [{ host, port }] }),
        ...(limit !== undefined && {
          ratelimits: { WHITE_FLAG_LIMIT: { namespace_id: '1', simple } },
        }),
      },
      files,
    ],
  });
  const miniflare = new Miniflare({
    ...converted,
    resourcePersistencePath: persistPath(persistTo),
  });
  return {
    url: byMiniflare ? await miniflare.ready : await miniflare.unsafeGetDirectURL(),
    inspector: inspect ? await miniflare.getInspectorURL() : undefined,
    stop: () => miniflare.dispose(),
  };
}
