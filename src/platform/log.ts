/**
 * Logs: one line of JSON each, whose fields Workers Logs indexes
 * (https://developers.cloudflare.com/workers/observability/logs/workers-logs/).
 */
import { createBoundedMap } from './bounded-map.ts';
import { hasPassed } from './clock.ts';

export type LogLevel = 'info' | 'warn' | 'error';

/** Writes one line, with the time in UTC. Fields that are undefined are left out. */
export function writeLog(
  level: LogLevel,
  event: string,
  fields: Record<string, unknown> = {},
): void {
  const time = new Date().toISOString();
  console[level](JSON.stringify({ time, level, event, ...fields }));
}

/** Writes a line like {@link writeLog}. */
export type WriteLog = typeof writeLog;

/** Kinds of lines that are counted, the most recent ones. */
const MAX_KINDS = 1000;

/**
 * Counts lines by their kind. Returns how many were left out since the kind's last line; undefined
 * if this one is left out too.
 *
 * @param clock Unix milliseconds
 * @param most lines of a kind in `windowMs`
 */
function createLineLimit(clock: () => number, most: number, windowMs: number) {
  const kinds = createBoundedMap<{ since: number; lines: number; leftOut: number }>(MAX_KINDS);
  return (kind: string): number | undefined => {
    const now = clock();
    const known = kinds.get(kind) ?? { since: now, lines: 0, leftOut: 0 };
    const { leftOut } = known;
    if (hasPassed(windowMs, known.since, now)) Object.assign(known, { since: now, lines: 0 });
    const isWritten = known.lines < most;
    if (isWritten) Object.assign(known, { lines: known.lines + 1, leftOut: 0 });
    else known.leftOut++;
    kinds.set(kind, known);
    return isWritten ? leftOut : undefined;
  };
}

/** Milliseconds after which a line that is still true is written again. */
const REPEAT_MS = 60_000;

/** Number that workerd gives an error of its own; the same one is in its log. */
const REFERENCE = /reference = \w+/g;

/**
 * Creates a log of what is retried every second: a new line is written at once, the same one once a
 * minute; `repeated` says how often it was left out.
 *
 * @param clock Unix milliseconds
 */
export function createDedupedLog(clock: () => number): WriteLog {
  const limit = createLineLimit(clock, 1, REPEAT_MS);
  return (level, event, fields = {}) => {
    const repeated = limit(JSON.stringify([level, event, fields]).replace(REFERENCE, ''));
    if (repeated !== undefined)
      writeLog(level, event, { ...fields, repeated: repeated || undefined });
  };
}

/** Lines of one kind that strangers may cause in so many milliseconds. */
const MOST_LINES = 10;
const LINES_MS = 20_000;

/** @param kind what is bounded together: of a bounded number of values */
export type WriteLimitedLog = (kind: string, ...line: Parameters<WriteLog>) => void;

/**
 * Creates a log of what strangers can repeat: ten lines of each kind in 20 seconds. `leftOut` says
 * how many of its kind were not written since the last one.
 *
 * @param clock Unix milliseconds
 */
export function createLimitedLog(clock: () => number): WriteLimitedLog {
  const limit = createLineLimit(clock, MOST_LINES, LINES_MS);
  return (kind, level, event, fields) => {
    const leftOut = limit(kind);
    if (leftOut !== undefined) writeLog(level, event, { ...fields, leftOut: leftOut || undefined });
  };
}

const limitedByEvent = createLimitedLog(() => Date.now());

/** Writes like {@link createLimitedLog}; a kind is an event. */
export const writeLimitedLog: WriteLog = (level, event, fields) =>
  limitedByEvent(event, level, event, fields);

/** An unexpected failure as text for the log. It must not go into an answer. */
export const describeError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
