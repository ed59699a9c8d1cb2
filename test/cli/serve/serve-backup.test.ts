/** Back-ups of a data folder (docs/operations.md#back-up): kills, wrong files, wrong folders. */
import { existsSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { localDatabasePath } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../../cli/start/prepare-sample.ts';
import { runCommand, startCommand, temporaryFolder } from '../../support/cli/script-process.ts';

const folder = temporaryFolder();
const served = join(folder, 'served');
const config = readWranglerConfig();
const STATE_HASH = /^state hash +([0-9a-f]{64})$/m;

beforeAll(() => prepareSample(served, config, () => {}));

const backUp = (file: string) => runCommand('backup', '--persist-to', served, file);

it('is restored to the same state, and is not overwritten', async () => {
  const file = join(folder, 'saved');
  const saved = await backUp(file);
  expect(saved).toMatchObject({ code: 0, stderr: '' });
  const into = join(folder, 'restored');
  const restored = await runCommand('restore', '--persist-to', into, file);
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(STATE_HASH.exec(restored.stdout)![1]).toBe(STATE_HASH.exec(saved.stdout)![1]);
  // for this user alone, as what an import makes
  const made = readdirSync(into, { recursive: true, encoding: 'utf8' });
  for (const path of [file, into, ...made.map((name) => join(into, name))])
    expect(statSync(path).mode & 0o077, path).toBe(0);

  expect(await backUp(file)).toMatchObject({
    code: 1,
    stderr: `${file} exists: name another file\n`,
  });
  expect(await runCommand('restore', '--persist-to', into, file)).toMatchObject({
    code: 1,
    stderr: `${into} is not empty: name a new folder by --persist-to\n`,
  });
});

describe('a folder without a ledger', () => {
  it.each(['backup', 'reindex'])('%s refuses it, and makes nothing there', async (script) => {
    for (const empty of [join(folder, 'mistyped'), join(folder, `empty-${script}`)]) {
      if (empty.includes('empty')) mkdirSync(empty);
      const file = script === 'backup' ? [join(folder, 'never')] : [];
      expect(await runCommand(script, '--persist-to', empty, ...file)).toMatchObject({
        code: 1,
        stderr: `${empty} has no ledger: name another folder by --persist-to\n`,
      });
      expect(existsSync(empty) ? readdirSync(empty) : []).toEqual([]);
    }
  });
});

it('what is no back-up is not restored, and nothing is left', async () => {
  const text = join(folder, 'text');
  writeFileSync(text, 'not a database, however long this line may be '.repeat(100));
  const cut = join(folder, 'cut');
  await backUp(cut);
  truncateSync(cut, 40_000);
  const empty = join(folder, 'zero');
  writeFileSync(empty, '');
  for (const file of [text, cut, empty, join(folder, 'absent')]) {
    const into = join(folder, 'into');
    const { code, stderr } = await runCommand('restore', '--persist-to', into, file);
    expect([code, stderr]).toEqual([1, expect.stringContaining(file)]);
    if (file === empty)
      expect(stderr).toBe(`${empty} cannot be restored: the database holds no ledger\n`);
    expect(existsSync(into)).toBe(false);
  }
});

it('killed at any point, the next call goes on as if nothing had happened', async () => {
  const expected = STATE_HASH.exec((await backUp(join(folder, 'whole'))).stdout)![1];
  for (const ms of [150, 250, 350, 450, 550]) {
    const file = join(folder, `killed-${ms}`);
    const into = join(folder, `killed-into-${ms}`);
    await killAfter(ms, 'backup', '--persist-to', served, file);
    if (!existsSync(file)) expect(await backUp(file)).toMatchObject({ code: 0 });
    await killAfter(ms, 'restore', '--persist-to', into, file);
    if (!existsSync(localDatabasePath(into, config))) {
      const restored = await runCommand('restore', '--persist-to', into, file);
      expect(STATE_HASH.exec(restored.stdout)![1]).toBe(expected);
    }
    expect(existsSync(localDatabasePath(into, config))).toBe(true);
  }
});

async function killAfter(ms: number, name: string, ...args: string[]): Promise<void> {
  const { child, ended } = startCommand(name, args);
  await Promise.race([sleep(ms), ended]);
  child.kill('SIGKILL');
  await ended;
}
