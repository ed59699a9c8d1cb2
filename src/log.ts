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

/** An unexpected failure as text for the log. It must not go into an answer. */
export function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
