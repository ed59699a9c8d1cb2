/** The progress bar: what it says, and how often. */
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { ProgressBar } from '../../../cli/lib/import/progress-bar.ts';

function draw(isTTY: boolean) {
  const written: string[] = [];
  const out = Object.assign(
    new Writable({
      write: (chunk, _encoding, done) => {
        written.push(String(chunk));
        done();
      },
    }),
    { isTTY },
  ) as unknown as NodeJS.WriteStream;
  let now = 1000;
  const bar = new ProgressBar('bytes', out, () => now);
  const at = (time: number, done: number) => {
    now = 1000 + time;
    bar.show('Reading', done * 1e6, 100e6);
  };
  return { written, bar, at };
}

it('is drawn over itself on a terminal, five times a second', () => {
  const { written, bar, at } = draw(true);
  for (let time = 0; time <= 1000; time += 50) at(time, time / 100);
  bar.clear();
  expect(written).toHaveLength(7);
  expect(written[0]).toBe(`\r\x1b[KReading ${'░'.repeat(30)} 0 %, 0.0 MB of 100.0 MB`);
  expect(written[5]).toBe(
    `\r\x1b[KReading ${'█'.repeat(3)}${'░'.repeat(27)} 10 %, 10.0 MB of 100.0 MB, 10.0 MB/s, 0:09 left`,
  );
  expect(written[6]).toBe('\r\x1b[K');
});

it('is a line every five seconds elsewhere, and none for what takes less', () => {
  const { written, bar, at } = draw(false);
  for (let time = 0; time <= 12_000; time += 1000) at(time, time / 1000);
  bar.clear();
  expect(written).toEqual([
    `Reading ${'█'}${'█'}${'░'.repeat(28)} 5 %, 5.0 MB of 100.0 MB, 1.0 MB/s, 1:35 left\n`,
    `Reading ${'█'.repeat(3)}${'░'.repeat(27)} 10 %, 10.0 MB of 100.0 MB, 1.0 MB/s, 1:30 left\n`,
  ]);
});

it('goes by the pace of the last seconds', () => {
  const { written, at } = draw(true);
  at(0, 0);
  at(1000, 50);
  for (let time = 2000; time <= 30_000; time += 1000) at(time, 50 + time / 1000);
  expect(written.at(-1)).toMatch(/80\.0 MB of 100\.0 MB, 1\.0 MB\/s, 0:20 left$/);
});
