/**
 * `stardust-edge verify` and `stardust-edge explain` within this process, so that they run hundreds
 * of times a minute. The block whose proof is requested is always the first one.
 */
import { vi } from 'vitest';
import { SAMPLE_KEYS } from '../browser/sample-facts.ts';
import { callCommand } from '../cli/call-script.ts';
import type { Ended } from '../cli/script-process.ts';

/** Time limits are over so many times sooner for who waits for what never comes. */
const SOONER = 30;

export interface Verified extends Ended {
  /** Lines that say what was proved. */
  proved: string[];
}

const KEYS = ['--keys', SAMPLE_KEYS.join(), '--threshold', '7'];

/** @param waits whether the node does not answer something */
export async function runVerify(
  url: string,
  args: readonly string[] = KEYS,
  waits = false,
): Promise<Verified> {
  const ended = await callAtOnce('verify', [url, ...args], waits);
  const lines = ended.stdout.split('\n').filter((line) => line !== '');
  return { ...ended, proved: lines.filter((line) => !/^(False|Not checked): /.test(line)) };
}

export async function callAtOnce(
  command: string,
  args: readonly string[],
  waits = false,
): Promise<Ended> {
  const { timeout } = AbortSignal;
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  const limit = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) => timeout.call(AbortSignal, waits ? ms / SOONER : ms));
  try {
    return await callCommand(command, ...args);
  } finally {
    random.mockRestore();
    limit.mockRestore();
  }
}
