/** Lines of log that would be repeated. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDedupedLog } from '../src/log.ts';

afterEach(() => vi.restoreAllMocks());

it('a line is written when it is new, and once a minute while it is the same', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  let now = 0;
  const log = createDedupedLog(() => now);
  for (; now < 150_000; now += 1000) {
    log('warn', 'upstream.failed', { upstream: 'a' });
    if (now % 50_000 === 0) log('warn', 'upstream.failed', { upstream: 'b' });
  }
  const lines = warn.mock.calls.map(([line]) => JSON.parse(line));
  const repeated = (upstream: string) =>
    lines.filter((line) => line.upstream === upstream).map((line) => line.repeated);
  expect(repeated('a')).toEqual([undefined, 59, 59]);
  expect(repeated('b')).toEqual([undefined, 1]);
});
