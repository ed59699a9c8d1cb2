/** Every command says how it is called, and refuses what it does not know. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { errorMessage } from '../../scripts/lib/process/command-line.ts';
import { PROJECT } from '../../scripts/lib/project.ts';
import { callScript } from '../support/scripts/call-script.ts';
import { runScript } from '../support/scripts/script-process.ts';

const scripts = [
  ...readdirSync(join(PROJECT, 'scripts')).filter((name) => name.endsWith('.ts')),
  'start/collect-sample.ts',
  '../bench/run.ts',
  '../test/run.ts',
  '../test/slow/backups.ts',
  '../test/slow/clock.ts',
  '../test/slow/full-disk.ts',
  '../test/slow/histories.ts',
  '../test/slow/mutations.ts',
  '../test/slow/run.ts',
  '../test/slow/starts.ts',
  '../test/support/scripts/made-snapshot.ts',
];

/** Their flags go to wrangler or vitest. */
const PASS_ON = ['start.ts', '../test/run.ts'];

/** What is a module too is a command only as a process; import.ts shows that others are. */
function call(script: string, flag: string) {
  const source = readFileSync(join(PROJECT, 'scripts', script), 'utf8');
  const isModuleToo = source.includes('import.meta.main');
  return isModuleToo || script === 'import.ts' ? runScript(script, flag) : callScript(script, flag);
}

it.each(scripts)('%s says with --help how it is called', async (script) => {
  const { code, stdout, stderr } = await call(script, '--help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: /);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

it.each(scripts.filter((script) => !PASS_ON.includes(script)))(
  '%s refuses a flag that it does not know',
  async (script) => {
    const { code, stdout, stderr } = await call(script, '--nothing-of-this-name');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Unknown option '--nothing-of-this-name'.*\nUsage: /);
  },
);

it('a full disk is named, whether SQLite or the system finds it', () => {
  const db = new DatabaseSync(':memory:');
  db.exec('PRAGMA max_page_count = 2; CREATE TABLE a (b)');
  const fillings = [
    () => db.exec('INSERT INTO a SELECT randomblob(100000)'),
    () => writeFileSync('/dev/full', 'a'),
  ];
  for (const fill of fillings) {
    let thrown: unknown;
    try {
      fill();
    } catch (error) {
      thrown = error;
    }
    expect(errorMessage(thrown)).toMatch(/^the disk is full: free some space, .* \(.+\)$/);
  }
  expect(errorMessage(new Error('other'))).toBe('other');
});
