/** Lines of log that would be repeated, and lines that strangers cause. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDedupedLog, createLimitedLog } from '../../src/platform/log.ts';

afterEach(() => vi.restoreAllMocks());

it('a line is written when it is new, and once a minute while it is the same', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  let now = 0;
  const log = createDedupedLog(() => now);
  for (; now < 150_000; now += 1000) {
    log('warn', 'upstream.failed', { upstream: 'a' });
    if (now % 50_000 === 0) log('warn', 'upstream.failed', { upstream: 'b' });
    // as workerd writes it
    log('warn', 'failed', { upstream: 'c', error: `internal error; reference = ${now}abc` });
  }
  const lines = warn.mock.calls.map(([line]) => JSON.parse(line));
  const repeated = (upstream: string) =>
    lines.filter((line) => line.upstream === upstream).map((line) => line.repeated);
  expect(repeated('a')).toEqual([undefined, 59, 59]);
  expect(repeated('b')).toEqual([undefined, 1]);
  expect(repeated('c')).toEqual([undefined, 59, 59]);
});

it('of each kind ten lines are written in 20 seconds', () => {
  const info = vi.spyOn(console, 'info').mockImplementation(() => {});
  let now = 1_000_000;
  const log = createLimitedLog(() => now);
  const written = () => info.mock.calls.splice(0).map(([line]) => JSON.parse(line));
  for (let i = 0; i < 100; i++) log('refused', 'info', 'http.request', { i });
  log('other', 'info', 'http.request');
  expect(written().map(({ i, leftOut }) => [i, leftOut])).toEqual([
    ...Array.from({ length: 10 }, (_, i) => [i, undefined]),
    [undefined, undefined],
  ]);
  // 1,000 a second for a minute: three windows begin, of which one has passed already
  for (let i = 0; i < 60_000; i++, now++) log('refused', 'info', 'http.request');
  const later = written();
  expect(later).toHaveLength(20);
  expect(later.flatMap(({ leftOut }) => leftOut ?? [])).toEqual([20_090, 19_990]);
  now += 3_600_000;
  log('refused', 'info', 'http.request');
  expect(written()).toMatchObject([{ leftOut: 19_990 }]);
  // a clock that is set back stops nothing
  for (let i = 0; i < 20; i++) log('refused', 'info', 'http.request');
  now -= 3_600_000;
  log('refused', 'info', 'http.request');
  expect(written().at(-1)).toMatchObject({ leftOut: 11 });
});
