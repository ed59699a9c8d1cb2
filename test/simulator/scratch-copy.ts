/**
 * What finds a mistake in the product: programs that are run with it, in a copy of the project or as
 * a patch of the simulator.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';
import type { Patch } from './platform/bundle.ts';

export interface Ended {
  code: number | null;
  /** Of both outputs. */
  text: string;
}

/**
 * Runs Node until its end; undefined if that took more than so many seconds: then all that it has
 * started is killed.
 */
export async function runNode(
  args: readonly string[],
  cwd: string,
  { seconds, env = {} }: { seconds?: number | undefined; env?: Record<string, string> } = {},
): Promise<Ended | undefined> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: seconds !== undefined,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      text += data;
    });
  let isLate = false;
  const end = () => {
    isLate = true;
    process.kill(-child.pid!, 'SIGKILL');
  };
  const timer = seconds === undefined ? undefined : setTimeout(end, 1000 * seconds);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  return isLate ? undefined : { code, text };
}

/** What the simulator says of a story. */
export interface Told {
  seed: string;
  ok: boolean;
  kind?: string;
  message?: string;
  shrunkTo?: number;
  cpuMs: number;
}

/** Runs the simulator with these patches until a story fails; undefined if it did not end. */
export async function runStories(
  folder: string,
  patches: readonly Patch[],
  options: readonly string[],
  seconds?: number,
): Promise<(Ended & { stories: Told[] }) | undefined> {
  const patch = join(folder, 'patch.json');
  writeFileSync(patch, JSON.stringify(patches));
  const simulator = join(PROJECT, 'test/simulator/run.ts');
  const args = [simulator, '--patch', patch, '--stop', '--json', ...options];
  const ended = await runNode(args, folder, { seconds });
  const lines = ended?.text.split('\n').filter((line) => line.startsWith('{"seed"')) ?? [];
  return ended && { ...ended, stories: lines.map((line) => JSON.parse(line) as Told) };
}

const LEFT_OUT = /\/(?:node_modules|\.git|dist|\.wrangler)$/;

/** A copy of the project in which sources can be changed. Dependencies are those of the project. */
export class ScratchCopy {
  readonly folder: string;

  /** @param folder must not be there yet */
  constructor(folder: string) {
    this.folder = folder;
    cpSync(PROJECT, folder, { recursive: true, filter: (path) => !LEFT_OUT.test(path) });
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  }

  /** Changes a file for as long as the work takes. */
  async with<T>(
    file: string,
    change: (text: string) => string,
    work: () => Promise<T>,
  ): Promise<T> {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, change(text));
    try {
      return await work();
    } finally {
      writeFileSync(path, text);
    }
  }
}
