/** What the front of `npm run serve` loads: its process lives long, and starts while clients wait. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../../../cli/lib/project.ts';

const LIST = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    if (url.includes('/src/')) console.log(url.replace(/.*\\/src\\//, ''));
    return next(url, context);
  },
});
await import(process.argv[1]);
process.exit();
`;

it('of the Worker it loads what it shares with it, and nothing of ledger and protocol', () => {
  const front = join(PROJECT, 'cli/serve/front/front.ts');
  const flags = ['--no-warnings', '--input-type=module', '-e', LIST, front];
  const loaded = execFileSync(process.execPath, flags, { encoding: 'utf8' }).trim().split('\n');
  expect(loaded).toContain('platform/log.ts');
  expect(
    loaded.filter((file) => !/^(?:http|platform)\/[^/]+\.ts$|^http\/access\//.test(file)),
  ).toEqual([]);
});
