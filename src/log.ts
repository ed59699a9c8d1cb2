/**
 * Logs: one line of JSON each, whose fields Workers Logs indexes
 * (https://developers.cloudflare.com/workers/observability/logs/workers-logs/).
 */
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

/** As {@link writeLog}. */
export type WriteLog = typeof writeLog;

/** A line that goes on being true is written again after so long. */
const REPEAT_MS = 60_000;

/**
 * For what is tried again every second: a line is written at once when it is new, and once a minute
 * while it is the same; `repeated` says how often it would have been written meanwhile.
 *
 * @param clock Unix milliseconds
 */
export function createDedupedLog(clock: () => number): WriteLog {
  const written = new Map<string, { at: number; repeated: number }>();
  return (level, event, fields = {}) => {
    const now = clock();
    const line = JSON.stringify([level, event, fields]);
    const before = written.get(line);
    if (before !== undefined && !hasPassed(REPEAT_MS, before.at, now)) {
      before.repeated++;
      return;
    }
    for (const [old, { at }] of written) if (hasPassed(2 * REPEAT_MS, at, now)) written.delete(old);
    written.set(line, { at: now, repeated: 0 });
    const repeated = before?.repeated || undefined;
    writeLog(level, event, { ...fields, repeated });
  };
}

/** Lines of one kind at once, and milliseconds until there may be another one. */
const BURST_LINES = 10;
const LINE_EVERY_MS = 2000;

/** @param kind what is bounded together: of a bounded number of values */
export type WriteLimitedLog = (kind: string, ...line: Parameters<WriteLog>) => void;

/**
 * For what strangers can repeat at any rate: of each kind ten lines, and one each two seconds.
 * `leftOut` says how many of its kind were not written since the last one.
 *
 * @param clock Unix milliseconds
 */
export function createLimitedLog(clock: () => number): WriteLimitedLog {
  const kinds = new Map<string, { lines: number; at: number; leftOut: number }>();
  return (kind, level, event, fields = {}) => {
    const now = clock();
    const known = kinds.get(kind) ?? { lines: BURST_LINES, at: now, leftOut: 0 };
    kinds.set(kind, known);
    // a clock that was set back begins again
    const passed = now < known.at ? 0 : Math.floor((now - known.at) / LINE_EVERY_MS);
    known.lines = Math.min(BURST_LINES, known.lines + passed);
    known.at =
      known.lines === BURST_LINES || now < known.at ? now : known.at + passed * LINE_EVERY_MS;
    if (known.lines === 0) {
      known.leftOut++;
      return;
    }
    known.lines--;
    writeLog(level, event, { ...fields, leftOut: known.leftOut || undefined });
    known.leftOut = 0;
  };
}

const limitedByEvent = createLimitedLog(Date.now);

/** As {@link createLimitedLog}; a kind is an event. */
export const writeLimitedLog: WriteLog = (level, event, fields) =>
  limitedByEvent(event, level, event, fields);

/** An unexpected failure as text for the log. It must not go into an answer. */
export function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
