import { afterEach, expect, it, vi } from 'vitest';
import { createJob } from '../../src/follower/jobs.ts';
import { writeLog } from '../../src/platform/log.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

afterEach(() => {
  vi.restoreAllMocks();
});

it('is joined while it runs, and runs again once if it was started meanwhile', async () => {
  let runs = 0;
  const job = createJob(writeLog, 'job-failed', async () => {
    const mine = ++runs;
    await pause(5);
    return mine;
  });
  const joined = [job.join(), job.join()];
  job.start();
  job.start();
  expect(await Promise.all(joined)).toEqual([1, 1]);
  expect(await job.join()).toBe(2);
  await pause(20);
  expect(runs).toBe(2);
  expect(await job.join()).toBe(3);
});

it('goes on after a failure, which is logged where nobody waits for it', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  let runs = 0;
  const job = createJob(writeLog, 'job-failed', async () => {
    await pause(1);
    if (++runs <= 2) throw new Error('fails');
    return runs;
  });
  await expect(job.join()).rejects.toThrow('fails');
  expect(warn).not.toHaveBeenCalled();
  job.start();
  job.start();
  expect(await vi.waitUntil(() => runs === 3 && runs, 1000)).toBe(3);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('"job-failed"')]]);
});

it('gives those who need a run that begins from now on the same next one', async () => {
  let runs = 0;
  const job = createJob(writeLog, 'job-failed', async () => {
    const mine = ++runs;
    await pause(5);
    return mine;
  });
  const first = job.next();
  await pause(1);
  expect(await Promise.all([first, job.next(), job.next()])).toEqual([1, 2, 2]);
});

it('gives those who come before a run has begun that one', async () => {
  let runs = 0;
  const rest = async () => void (await pause(5));
  const job = createJob(writeLog, 'job-failed', async () => ++runs, rest);
  const first = job.next();
  await pause(1);
  expect(await Promise.all([first, job.next(), job.join()])).toEqual([1, 1, 1]);
  expect(await job.next()).toBe(2);
});
