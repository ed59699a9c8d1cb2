/**
 * One loop of steps. Whatever reads the ledger in order to write it is a step, and one step runs at
 * a time, the most urgent first: two at once would fail each other's fences, repeatedly. Fences
 * keep the ledger right all the same, also against another object during a deployment. A step is
 * bounded and does not wait for the network, so a request waits for one step only.
 */
import { hasPassed } from '../platform/clock.ts';

/** Names of steps, the most urgent first. */
const STEPS = ['apply', 'store', 'resolve', 'index', 'prune', 'drop', 'scrub'] as const;

export type StepName = (typeof STEPS)[number];

/** Runs a step once it is its turn, and settles as the work does. */
export type RunStep = <T>(name: StepName, work: () => Promise<T>) => Promise<T>;

/** Milliseconds after which a step that waits comes first, whatever it is. */
const MAX_WAIT_MS = 1000;

interface Waiting {
  urgency: number;
  since: number;
  start: () => void;
}

const failedIn = new WeakMap<Error, StepName>();

/** The step that threw the error; undefined if none did. */
export const stepOf = (error: unknown): StepName | undefined =>
  error instanceof Error ? failedIn.get(error) : undefined;

/** @param clock Unix milliseconds */
export function createSteps(clock: () => number): RunStep {
  let waiting: Waiting[] = [];
  let isBusy = false;

  function startNext(): void {
    const now = clock();
    const rank = ({ urgency, since }: Waiting) =>
      hasPassed(MAX_WAIT_MS, since, now) ? -1 : urgency;
    const [next] = waiting.toSorted((a, b) => rank(a) - rank(b));
    isBusy = next !== undefined;
    waiting = waiting.filter((each) => each !== next);
    next?.start();
  }

  return async (name, work) => {
    const urgency = STEPS.indexOf(name);
    if (isBusy)
      await new Promise<void>((start) => waiting.push({ urgency, since: clock(), start }));
    isBusy = true;
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error) failedIn.set(error, name);
      throw error;
    } finally {
      startNext();
    }
  };
}
