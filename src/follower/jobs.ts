/** Jobs of the follower's object: work that waits for the network, and so is no step (steps.ts). */
import type { WriteLog } from '../platform/log.ts';
import { logFailure } from './follower-context.ts';

export interface Job<T> {
  /** Returns the run that is under way, or else a new one. */
  join(): Promise<T>;
  /** Returns a run that begins from now on, once that under way has ended. */
  next(): Promise<T>;
  /** Starts a run; one that is under way is followed by another. Logs failures. */
  start(): void;
}

/**
 * @param failure the event to log where a started run fails
 * @param rest what each run waits for before it begins
 */
export function createJob<T>(
  log: WriteLog,
  failure: string,
  work: () => Promise<T>,
  rest?: () => Promise<void>,
): Job<T> {
  let running: Promise<T> | undefined;
  let isResting = false;
  let isStarted = false;

  async function run(): Promise<T> {
    isResting = true;
    await rest?.();
    isResting = false;
    return work();
  }

  function join(): Promise<T> {
    running ??= run().finally(() => {
      running = undefined;
      if (isStarted) start();
    });
    return running;
  }

  async function next(): Promise<T> {
    if (!isResting) await running?.catch(() => undefined);
    return join();
  }

  function start(): void {
    isStarted = running !== undefined;
    if (!isStarted) join().catch((error: unknown) => logFailure(log, failure, error));
  }

  return { join, next, start };
}
