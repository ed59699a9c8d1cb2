/** What the front of `npm run serve` loads: its process lives long, and starts while clients wait. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { PROJECT } from '../../../../cli/lib/project.ts';

const LIST = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    console.log(url);
    return next(url, context);
  },
});
await import(process.argv[1]);
process.exit();
`;

/** Paths of the modules below a folder of the project, relative to it. */
function loadedBy(module: string, folder: string): string[] {
  const flags = ['--no-warnings', '--input-type=module', '-e', LIST, join(PROJECT, module)];
  const loaded = execFileSync(process.execPath, flags, { encoding: 'utf8' }).trim().split('\n');
  const start = `${pathToFileURL(join(PROJECT, folder))}/`;
  return loaded.filter((url) => url.startsWith(start)).map((url) => url.slice(start.length));
}

it('of the Worker it loads what it shares with it, and nothing of ledger and protocol', () => {
  const loaded = loadedBy('cli/serve/front/front.ts', 'src');
  expect(loaded).toContain('platform/log.ts');
  expect(
    loaded.filter((file) => !/^(?:http|platform)\/[^/]+\.ts$|^http\/access\//.test(file)),
  ).toEqual([]);
});

it('it does not bundle, which would leave 170 MB to it', () => {
  const loaded = loadedBy('cli/serve/serve-folder.ts', 'cli');
  expect(loaded).toContain('lib/wrangler/build-worker.ts');
  expect(loaded.filter((file) => file.includes('bundle'))).toEqual([]);
});
