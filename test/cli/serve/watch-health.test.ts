/** How `serve` finds that workerd hangs. Nothing waits here: the timers are a double. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchHealth } from '../../../cli/serve/watch-health.ts';

/** @param answers whether each request is answered; after these none is. Returns the calls */
async function watch(answers: readonly boolean[], requests: number, endAfter = requests) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const onHang = vi.fn<() => void>();
  const request = vi.fn<(url: string, withinMs: number) => Promise<void>>(async () => {
    if (!answers[request.mock.calls.length - 1]) throw new Error('no answer');
  });
  const end = watchHealth('http://a.example', onHang, request);
  await vi.advanceTimersByTimeAsync(30_000 * (endAfter - 1));
  if (endAfter < requests) end();
  await vi.advanceTimersByTimeAsync(30_000 * (requests - endAfter));
  end();
  return { asked: request.mock.calls.length, hangs: onHang.mock.calls.length };
}

it.each([
  ['ten requests are not answered', [true], 11, 1],
  ['nine are not', [true], 10, 0],
  ['it answers in between', [true, ...Array<boolean>(9).fill(false), true], 20, 0],
  ['it hangs for longer', [true], 50, 1],
  ['it has not answered yet, as its start takes long', [], 59, 0],
  ['it has never answered', [], 60, 1],
])('calls it a hang, or does not, where %s', async (_what, answers, requests, hangs) => {
  expect(await watch(answers, requests)).toEqual({ asked: requests, hangs });
});

it('asks a workerd that has ended no more', async () => {
  expect(await watch([true], 50, 10)).toEqual({ asked: 10, hangs: 0 });
});
