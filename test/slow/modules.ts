/**
 * `npm run test:slow -- modules`: takes each module away from a copy of the project, and checks what
 * is left: types, structure, the tests of the core, and those of modules that do not need it. Then
 * adds the example of src/modules/README.md to a copy, as that page says.
 * `node tools/run.js test/slow/modules.ts NAME` does so with one, or with `example`; `--fast` leaves
 * out all tests but that of the contract.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { MODULES } from '../../src/modules/list.ts';
import { ScratchCopy } from '../simulator/scratch-copy.ts';
import { takeAway, withDependents } from '../support/take-away.ts';

const USAGE = `Usage: node tools/run.js test/slow/modules.ts [--fast] [NAME…]

Takes modules away, one after the other, and checks the rest; "example" adds the one of
src/modules/README.md. All of them, or those that are named.`;

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

const TESTS = [...TESTED, 'upstream'].map((each) => `test/${each}`);

function check(folder: string, paths: readonly string[]): boolean {
  const commands = [...TYPES, ...STRUCTURE, ['tools/openapi.ts'], ['vitest', 'run', ...paths]];
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

/** As src/modules/README.md says. */
function addExample({ folder }: ScratchCopy): void {
  for (const [name, path] of [
    ['module.ts', 'src/modules/demo/module.ts'],
    ['test.ts', 'test/modules/demo/demo.test.ts'],
  ] as const) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(PROJECT, 'examples/demo', name), join(folder, path));
  }
  const list = join(folder, 'src/modules/list.ts');
  const changed = readFileSync(list, 'utf8')
    .replace(
      /^import .* '\.\/events\/.*$/m,
      "import { demo, describeDemo } from './demo/module.ts';\n$&",
    )
    .replace('  page,\n', '$&  demo,\n')
    .replace('  ...describeAssets(),\n', '$&  ...describeDemo(),\n');
  writeFileSync(list, changed);
}

await runMain(USAGE, (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { fast: { type: 'boolean', default: false } },
  });
  const names =
    positionals.length > 0 ? positionals : [...MODULES.map(({ name }) => name), 'example'];
  const paths = values.fast ? ['test/http/contract'] : TESTS;
  const failed = names.filter((name) => {
    const parent = mkdtempSync(join(tmpdir(), 'module-'));
    try {
      const copy = new ScratchCopy(join(parent, 'project'));
      const isExample = name === 'example';
      if (isExample) addExample(copy);
      else takeAway(copy, withDependents(name));
      const passes = check(copy.folder, isExample ? ['test/modules/demo'] : paths);
      const what = isExample ? 'with the example' : `without ${withDependents(name).join(', ')}`;
      console.log(`${what}: ${passes ? 'passes' : 'fails'}`);
      return !passes;
    } finally {
      rmSync(parent, { recursive: true });
    }
  });
  return failed.length === 0 ? 0 : 1;
});
