/**
 * Scripts called within this process, for what they say of their command line. As a process of its
 * own each would take far longer to start than to say it.
 */
import { join } from 'node:path';
import { vi } from 'vitest';
import { PROJECT } from '../../../scripts/lib/project.ts';
import type { Ended } from './script-process.ts';

let calls = 0;

/** @param script path from scripts/. It must not be one that asks whether it is the main module. */
export async function callScript(script: string, ...args: string[]): Promise<Ended> {
  const { argv } = process;
  const printed = { stdout: '', stderr: '' };
  const channels = { log: 'stdout', warn: 'stderr', error: 'stderr' } as const;
  const spies = (['log', 'warn', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((text: unknown) => {
      printed[channels[name]] += `${text}\n`;
    }),
  );
  process.argv = [process.execPath, script, ...args];
  process.exitCode = undefined;
  try {
    // under another name it is another module, and is run again
    await import(`${join(PROJECT, 'scripts', script)}?call=${calls++}`);
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.argv = argv;
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
  }
}
