/** What the host writes of the lines of workerd. */
import { expect, it, vi } from 'vitest';
import { relayLine } from '../../../cli/serve/run-worker.ts';

it("lines of the Worker are written as they are; workerd's own are few and short", () => {
  const own = '{"time":"2026-01-01T00:00:00.000Z","level":"warn","event":"a"}';
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const limited = vi.spyOn(console, 'error').mockReturnValue();
  for (let i = 0; i < 30; i++) {
    relayLine({ level: 'warn', message: own });
    relayLine({ level: 'error', message: `kj/http.c++: failed ${i} ${'x'.repeat(5000)}` });
    relayLine({ level: 'error', message: 'database is locked: SQLITE_BUSY' });
  }
  const lines = limited.mock.calls.map(([line]) => String(line));
  const ownLines = written.mock.calls.map(([line]) => line);
  vi.restoreAllMocks();
  expect(ownLines).toEqual(Array(30).fill(`${own}\n`));
  expect(lines).toHaveLength(10);
  for (const [i, line] of lines.entries()) {
    expect(JSON.parse(line)).toMatchObject({ event: 'serve.workerd' });
    expect(line).toContain(`failed ${i} x`);
    expect(line.length).toBeLessThan(1200);
  }
});
