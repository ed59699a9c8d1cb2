/**
 * `node tools/run.js tools/bundle-explorer.ts`: writes the static files that the Worker serves.
 * Wrangler calls it before it runs or deploys the Worker (`[build]` of wrangler.toml).
 */
import { parseArgs } from 'node:util';
import { STATIC_FILES, writeExplorer } from '../cli/lib/explorer/bundle-explorer.ts';
import { runMain } from '../cli/lib/process/command-line.ts';

const USAGE = `Usage: node tools/run.js tools/bundle-explorer.ts [FOLDER]

Bundles the explorer, the page at /, for browsers, and writes it and the OpenAPI description to a
folder, by default dist/explorer, from where the Worker serves them. The commands start, serve and
deploy do so by themselves.`;

await runMain(USAGE, async (args) => {
  const [folder = STATIC_FILES] = parseArgs({ args, allowPositionals: true }).positionals;
  await writeExplorer(folder);
  return 0;
});
