/**
 * Lines that strangers can cause are limited for each event, in the whole process (src/platform/log.ts): a
 * test that wants such a line is run at a time at which none was written yet.
 */
import { onTestFinished, vi } from 'vitest';

/** Longer than the limit looks back. */
const APART_MS = 60_000;

let tests = 0;

export function atFreshTime(): void {
  tests++;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + tests * APART_MS });
  onTestFinished(() => void vi.useRealTimers());
}
