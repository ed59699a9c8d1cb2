/**
 * The jobs of the follower's object: what waits for upstreams or KV, and so is no step (steps.ts). A
 * job runs once at a time.
 */
import { logFailure } from './follower-context.ts';

export interface Job<T> {
  /** The run that is under way, or else a new one. */
  join(): Promise<T>;
  /** Runs the job again once it has ended if it is under way: there is more to do. Logs failures. */
  start(): void;
}

/** @param failure the event to log where a started run fails */
export function createJob<T>(failure: string, work: () => Promise<T>): Job<T> {
  let running: Promise<T> | undefined;
  let isStarted = false;

  function join(): Promise<T> {
    running ??= work().finally(() => {
      running = undefined;
      if (isStarted) start();
    });
    return running;
  }

  function start(): void {
    isStarted = running !== undefined;
    if (!isStarted) join().catch((error: unknown) => logFailure(failure, error));
  }

  return { join, start };
}
