/**
 * Scripts as processes, and folders that go when the tests are done.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { type Launched, launch } from '../edge/launch.ts';
import { readVector } from '../vectors.ts';

export interface Ended {
  /** Null where it was killed. */
  code: number | null;
  stdout: string;
  stderr: string;
}

function startScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Launched & { ended: Promise<Ended> } {
  const launched = launch(process.execPath, [script, ...args], { env });
  const { child } = launched;
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => ({ code, ...output }));
  return { ...launched, ended };
}

/** A command of `stardust-edge`. */
export const startCommand = (
  name: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => startScript('cli/stardust-edge.js', [name, ...args], env);

export function runCommand(name: string, ...args: string[]): Promise<Ended> {
  return startCommand(name, args).ended;
}

export function runScript(script: string, ...args: string[]): Promise<Ended> {
  return startScript(script, args).ended;
}

/** A recorded file, unpacked into a folder; returns its path. */
export function unpackVector(folder: string, name: string): string {
  const path = join(folder, name.replace('/', '-'));
  writeFileSync(path, readVector(name));
  return path;
}

/** A folder of a module, which several files of tests may share: it goes with the process. */
export function lastingFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stardust-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder of this file of tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stardust-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
