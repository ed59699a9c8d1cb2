/**
 * Logs: one line of JSON each, whose fields Workers Logs indexes
 * (https://developers.cloudflare.com/workers/observability/logs/workers-logs/).
 */
export type LogLevel = 'info' | 'warn' | 'error';

/** Writes one line. Fields that are undefined are left out. */
export function writeLog(
  level: LogLevel,
  event: string,
  fields: Record<string, unknown> = {},
): void {
  console[level](JSON.stringify({ event, ...fields }));
}

/** An unexpected failure as text for the log. It must not go into an answer. */
export function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
