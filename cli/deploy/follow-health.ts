/**
 * Waits until a deployed node runs the expected version and has caught up.
 */
import * as v from 'valibot';
import type { NodeClient } from '../../client/node-client.ts';
import { ProgressBar } from '../lib/import/progress-bar.ts';
import { errorMessage } from '../lib/process/command-line.ts';

/** Between two polls. */
const POLL_EVERY_MS = 5000;

/** The wait is given up when nothing has changed for this time. */
const STALL_MS = 10 * 60_000;

const INFO = '/api/core/v2/info';
const HOW_TO_ASK = ': give --url with user name and password';
const info = v.object({
  version: v.string(),
  status: v.object({
    confirmedMilestone: v.object({ index: v.number() }),
    latestMilestone: v.object({ index: v.number() }),
  }),
});

/** What a node reports about itself. */
export interface NodeState {
  /** Undefined if it does not answer yet. */
  version: string | undefined;
  /** Index of the ledger, and of the newest milestone that is known; 0 where none is. */
  ledgerIndex: number;
  latestIndex: number;
  isHealthy: boolean;
  /** Whether it is healthy at a milestone that it applied itself: one that can be verified. */
  hasApplied: boolean;
  /** Why it is not healthy or has not applied its milestone, for people. */
  reason: string;
}

/** Never throws: a node that cannot be reached is not healthy, with that reason. */
async function readNodeState(node: NodeClient): Promise<NodeState> {
  const unknown = { version: undefined, ledgerIndex: 0, latestIndex: 0, hasApplied: false };
  try {
    const health = await node('/health');
    await health.body?.cancel();
    const isHealthy = health.status === 200;
    const whyNot = health.headers.get('x-error-detail') ?? `health is ${health.status}`;
    const reasonOf = (path: string, status: number) =>
      isHealthy ? `${path} is ${status}${status === 401 ? HOW_TO_ASK : ''}` : whyNot;
    const response = await node(INFO);
    if (response.status !== 200) {
      await response.body?.cancel();
      return { ...unknown, isHealthy, reason: reasonOf(INFO, response.status) };
    }
    const { version, status } = v.parse(info, await response.json());
    const ledgerIndex = status.confirmedMilestone.index;
    // a milestone that came with a snapshot has no explanation
    const path = `/api/edge/v1/whiteflag/${ledgerIndex}`;
    const explanation = isHealthy ? await node(path) : undefined;
    await explanation?.body?.cancel();
    return {
      version,
      ledgerIndex,
      latestIndex: status.latestMilestone.index,
      isHealthy,
      hasApplied: explanation?.status === 200,
      reason: reasonOf(path, explanation?.status ?? 0),
    };
  } catch (error) {
    return { ...unknown, isHealthy: false, reason: errorMessage(error) };
  }
}

/** Time, which tests replace. */
export interface Clock {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

/**
 * Returns the state that `isReady`. Throws an Error with the reason when nothing has changed for
 * ten minutes, or the node has been healthy that long: its milestones come without an end.
 */
export async function followHealth(
  node: NodeClient,
  isReady: (state: NodeState) => boolean,
  clock: Clock,
): Promise<NodeState> {
  const bar = new ProgressBar('milestones', process.stderr, clock.now);
  let first: number | undefined;
  let changed = { what: '', at: clock.now() };
  try {
    for (;;) {
      const state = await readNodeState(node);
      if (isReady(state)) return state;
      const { version, isHealthy, ledgerIndex, latestIndex, reason } = state;
      if (ledgerIndex > 0) {
        first ??= ledgerIndex;
        bar.show('Following', ledgerIndex - first, latestIndex - first);
      }
      const what = `${version} ${isHealthy || ledgerIndex}`;
      if (what !== changed.what) changed = { what, at: clock.now() };
      else if (clock.now() - changed.at > STALL_MS)
        throw new Error(
          `The node${version ? `, version ${version},` : ''} ${isHealthy ? 'is healthy and cannot be verified' : 'does not become healthy'}: ${reason}`,
        );
      await clock.sleep(POLL_EVERY_MS);
    }
  } finally {
    bar.clear();
  }
}
