/**
 * What strangers can cost in an hour under the rate limits of a deployment, beyond what the plan
 * includes (docs/cloudflare.md#what-a-stranger-can-cost).
 */
import { type LimitBinding, REQUESTS_A_MINUTE } from '../../cli/deploy/rate-limits.ts';
import { ROW_BUDGET } from '../../src/modules/lists/list-statements.ts';
import { PRICES, type Usage } from './bill.ts';

/** Of a past cone of 1,000 blocks: six rows a block, as of the 60 blocks that were counted. */
const CONE_ROWS = 6000;

/** 100 NFTs of an address, four rows each (test/modules/lists/list-cost.worker.test.ts). */
const GALLERY_ROWS = 404;

/**
 * The dearest request under each limit. CPU is more than was measured here (docs/performance.md). A
 * request may write a line of log.
 */
const DEAREST: Record<LimitBinding, Partial<Usage>> = {
  WHITE_FLAG_LIMIT: { rowsRead: CONE_ROWS, cpuMs: 100, objectRequests: 1 },
  SCAN_LIMIT: { rowsRead: ROW_BUDGET + 1000, cpuMs: 200 },
  EVENTS_LIMIT: { cpuMs: 2, objectRequests: 1, objectGbSeconds: 0.128 * 0.01 },
  FETCH_LIMIT: { rowsRead: 20, cpuMs: 5, objectRequests: 1 },
  READ_LIMIT: { rowsRead: GALLERY_ROWS, cpuMs: 5, kvReads: 2 },
};

const ALWAYS: Partial<Usage> = { requests: 1, logLines: 1 };

/** A request that is over its limit. */
const REFUSED: Partial<Usage> = { ...ALWAYS, cpuMs: 1 };

function dollarsOf(usage: Partial<Usage>): number {
  const used = Object.entries(usage) as [keyof Usage, number][];
  return used.reduce((sum, [kind, amount]) => {
    const { dollars, per } = PRICES[kind];
    return sum + (amount / per) * dollars;
  }, 0);
}

/** By the binding that limits them: all that so many addresses are allowed in an hour. */
export function strangerDollars(addresses: number): Record<LimitBinding, number> {
  const entries = Object.entries(REQUESTS_A_MINUTE) as [LimitBinding, number][];
  return Object.fromEntries(
    entries.map(([name, requests]) => [
      name,
      addresses * requests * 60 * dollarsOf({ ...ALWAYS, ...DEAREST[name] }),
    ]),
  ) as Record<LimitBinding, number>;
}

/** Of a million requests that are refused. */
export const refusedDollars = (): number => 1e6 * dollarsOf(REFUSED);
