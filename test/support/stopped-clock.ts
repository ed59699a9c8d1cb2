/**
 * A clock that stands still: what the product does within some seconds is done on a busy machine
 * too, however long that takes there.
 */
import { beforeEach, vi } from 'vitest';

/** For all tests of the file that calls it. */
export function stopClock(): void {
  beforeEach(() => {
    const now = Date.now();
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now);
    return () => spy.mockRestore();
  });
}
