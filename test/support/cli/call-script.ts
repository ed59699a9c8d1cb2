/**
 * Commands and scripts called within this process, for what they say of their command line. As a
 * process of its own each would take far longer to start than to say it.
 */
import { join } from 'node:path';
import { vi } from 'vitest';
import { runCommandLine } from '../../../cli/commands.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import type { Ended } from './script-process.ts';

/** A command of `stardust-edge`. */
export function callCommand(name: string, ...args: string[]): Promise<Ended> {
  return record(async () => {
    process.exitCode = await runCommandLine([name, ...args]);
  });
}

let calls = 0;

/** @param script path in the project. It must not be one that asks whether it is the main module. */
export async function callScript(script: string, ...args: string[]): Promise<Ended> {
  const { argv } = process;
  process.argv = [process.execPath, script, ...args];
  try {
    // under another name it is another module, and is run again
    return await record(() => import(`${join(PROJECT, script)}?call=${calls++}`));
  } finally {
    process.argv = argv;
  }
}

async function record(run: () => Promise<unknown>): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const channels = { log: 'stdout', warn: 'stderr', error: 'stderr' } as const;
  const spies = (['log', 'warn', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((text: unknown) => {
      printed[channels[name]] += `${text}\n`;
    }),
  );
  process.exitCode = undefined;
  try {
    await run();
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
  }
}
