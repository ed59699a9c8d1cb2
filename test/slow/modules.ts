/**
 * `npm run test:slow -- modules`: takes each module away from a copy of the project, and checks what
 * is left: types, structure, the tests of the core, and those of modules that do not need it.
 * `node tools/run.js test/slow/modules.ts NAME` does so with one; `--fast` leaves out all tests but
 * that of the contract.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { MODULES } from '../../src/modules/list.ts';
import { ScratchCopy } from '../simulator/scratch-copy.ts';
import { takeAway, withDependents } from '../support/take-away.ts';

const USAGE = `Usage: node tools/run.js test/slow/modules.ts [--fast] [NAME…]

Takes modules away, one after the other, and checks the rest. All of them, or those that are named.`;

const TYPES = [
  ['wrangler', 'types', '--strict-vars=false', 'worker-configuration.d.ts'],
  ...['src', 'explorer', '.'].map((project) => ['tsc', '-p', project]),
];

const STRUCTURE = [
  ['biome', 'lint', 'src', 'test', 'bench'],
  ['tools/check-structure/check-structure.ts'],
];

/** Tests of the core, and of the modules that are left. */
const TESTED = ['follower', 'http', 'ledger', 'mqtt', 'modules', 'nft-index', 'node', 'platform'];

function check(folder: string, fast: boolean): boolean {
  const paths = fast
    ? ['test/http/contract']
    : [...TESTED, 'upstream'].map((each) => `test/${each}`);
  const commands = [
    ...TYPES,
    ...STRUCTURE,
    ['tools/openapi.ts'],
    ['vitest', 'run', ...paths],
  ];
  return commands.every((command) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'tools/run.js'), ...command],
      { cwd: folder, encoding: 'utf8' },
    );
    if (status !== 0) console.log(`${command.join(' ')}:\n${stdout}${stderr}`);
    return status === 0;
  });
}

await runMain(USAGE, (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { fast: { type: 'boolean', default: false } },
  });
  const names = positionals.length > 0 ? positionals : MODULES.map(({ name }) => name);
  const failed = names.filter((name) => {
    const parent = mkdtempSync(join(tmpdir(), 'module-'));
    try {
      const copy = new ScratchCopy(join(parent, 'project'));
      const gone = withDependents(name);
      takeAway(copy, gone);
      const passes = check(copy.folder, values.fast);
      console.log(`without ${gone.join(', ')}: ${passes ? 'passes' : 'fails'}`);
      return !passes;
    } finally {
      rmSync(parent, { recursive: true });
    }
  });
  return failed.length === 0 ? 0 : 1;
});
