/**
 * Logs: one line of JSON each, which Workers Logs takes apart into fields (platform.md §1,
 * "Observability").
 */
export type LogLevel = 'info' | 'warn' | 'error';

/** Writes one line; fields that are undefined are left out. */
export function writeLog(
  level: LogLevel,
  event: string,
  fields: Record<string, unknown> = {},
): void {
  console[level](JSON.stringify({ event, ...fields }));
}

/** An unexpected failure as text for the log, never for an answer. */
export function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
