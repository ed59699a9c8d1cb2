/**
 * What a month of the Worker costs on Cloudflare's Workers Paid plan.
 *
 * A month has 30 days. Prices are those of Cloudflare's public pages in November 2026, without
 * taxes; what the plan includes is taken off.
 */
import type { Rate } from './rate.ts';

interface Price {
  /** What is counted. */
  name: string;
  /** In the plan each month. */
  included: number;
  /** Dollars for each `per` more. */
  dollars: number;
  per: number;
}

const MILLION = 1e6;

/** https://developers.cloudflare.com/workers/platform/pricing/ */
const PLAN_DOLLARS = 5;

export const PRICES = {
  // https://developers.cloudflare.com/workers/platform/pricing/
  requests: { name: 'Workers requests', included: 10 * MILLION, dollars: 0.3, per: MILLION },
  cpuMs: { name: 'Workers CPU, ms', included: 30 * MILLION, dollars: 0.02, per: MILLION },
  // https://developers.cloudflare.com/d1/platform/pricing/
  rowsWritten: { name: 'D1 rows written', included: 50 * MILLION, dollars: 1, per: MILLION },
  rowsRead: { name: 'D1 rows read', included: 25_000 * MILLION, dollars: 0.001, per: MILLION },
  d1Bytes: { name: 'D1 bytes stored', included: 5e9, dollars: 0.75, per: 1e9 },
  // https://developers.cloudflare.com/kv/platform/pricing/
  kvReads: { name: 'KV reads', included: 10 * MILLION, dollars: 0.5, per: MILLION },
  kvWrites: { name: 'KV writes', included: MILLION, dollars: 5, per: MILLION },
  // https://developers.cloudflare.com/durable-objects/platform/pricing/
  objectRequests: {
    name: 'Durable Object requests',
    included: MILLION,
    dollars: 0.15,
    per: MILLION,
  },
  objectGbSeconds: {
    name: 'Durable Object GB-s',
    included: 400_000,
    dollars: 12.5,
    per: MILLION,
  },
  // the same page, storage in SQLite; docs/cloudflare.md#costs says what it leaves open
  objectRows: {
    name: 'Durable Object rows written',
    included: 50 * MILLION,
    dollars: 1,
    per: MILLION,
  },
  // https://developers.cloudflare.com/workers/observability/logs/workers-logs/#pricing
  logLines: { name: 'lines of log', included: 20 * MILLION, dollars: 0.6, per: MILLION },
} as const satisfies Record<string, Price>;

/** What is used in a month, by what is billed. */
export type BilledUsage = Record<keyof typeof PRICES, number>;

export interface BillLine {
  name: string;
  used: number;
  dollars: number;
}

/** The lines of the bill; they add up to it. */
export function bill(usage: BilledUsage): BillLine[] {
  const kinds = Object.keys(PRICES) as (keyof typeof PRICES)[];
  return [
    { name: 'the plan', used: 1, dollars: PLAN_DOLLARS },
    ...kinds.map((kind) => {
      const { name, included, dollars, per } = PRICES[kind];
      const beyond = Math.max(0, usage[kind] - included);
      return { name, used: usage[kind], dollars: (beyond / per) * dollars };
    }),
  ];
}

/** What was counted. */
export interface Costs {
  /** Of each milestone, all that the follower and the publisher do until the next one. */
  milestone: {
    rowsWritten: number;
    rowsRead: number;
    kvReads: number;
    kvWrites: number;
    logLines: number;
    /** That it adds to D1 until it is pruned: its pack, and its IDs. */
    packBytes: number;
    idBytes: number;
    /** That it adds to D1 for good, with HISTORY `all`. */
    historyBytes: number;
  };
  lookup: { kvReads: number; rowsRead: number; logLines: number };
  whiteFlag: { rowsRead: number };
}

const DAYS = 30;
const DAY_SECONDS = 86_400;
export const MONTH_SECONDS = DAYS * DAY_SECONDS;

/** An alarm every ten seconds, and a row for setting it (src/follower/follower.ts). */
const ALARMS = MONTH_SECONDS / 10;

/** The cron trigger wakes the follower once a minute (wrangler.toml). */
const WAKES = MONTH_SECONDS / 60;

/** An object is billed as if it took 128 MB, here for all of the month. */
export const OBJECT_GB = 0.128;

/** A step of the scrub every ten seconds (src/follower/pass.ts). */
const SCRUB_STEPS = MONTH_SECONDS / 10;
const SCRUB_ROWS_READ = 8000;

/** CPU that is reckoned for each request, more than they took here: milliseconds. */
const LOOKUP_CPU_MS = 1;
const WHITE_FLAG_CPU_MS = 50;

/** A white-flag request writes a line (src/http/app.ts). */
const WHITE_FLAG_LOG_LINES = 1;

/** Retentions: milestones stay one, of a day, and IDs at most five (src/ledger/write/prune.ts). */
const RETENTION_SECONDS = DAY_SECONDS;
const ID_RETENTIONS = 5;

/** The first month at this rate. */
export function usageOf({ milestone, lookup, whiteFlag }: Costs, rate: Rate): BilledUsage {
  const milestones = MONTH_SECONDS / rate.seconds;
  const lookups = DAYS * rate.lookups;
  const whiteFlags = DAYS * rate.whiteflags;
  const retention = RETENTION_SECONDS / rate.seconds;
  return {
    requests: lookups + whiteFlags + WAKES,
    cpuMs: lookups * LOOKUP_CPU_MS + whiteFlags * WHITE_FLAG_CPU_MS,
    rowsWritten: milestones * milestone.rowsWritten + SCRUB_STEPS,
    rowsRead:
      milestones * milestone.rowsRead +
      lookups * lookup.rowsRead +
      whiteFlags * whiteFlag.rowsRead +
      SCRUB_STEPS * SCRUB_ROWS_READ,
    d1Bytes:
      retention * (milestone.packBytes + ID_RETENTIONS * milestone.idBytes) +
      milestones * milestone.historyBytes,
    kvReads: milestones * milestone.kvReads + lookups * lookup.kvReads,
    kvWrites: milestones * milestone.kvWrites,
    // each white-flag request may wake the follower
    objectRequests: ALARMS + WAKES + whiteFlags,
    objectGbSeconds: OBJECT_GB * MONTH_SECONDS,
    objectRows: ALARMS,
    logLines:
      milestones * milestone.logLines +
      lookups * lookup.logLines +
      whiteFlags * WHITE_FLAG_LOG_LINES,
  };
}
