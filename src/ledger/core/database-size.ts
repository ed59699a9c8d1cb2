/**
 * Size of the database, and its limits. Every result of D1 has the size in `size_after`, at no cost
 * (https://developers.cloudflare.com/d1/worker-api/return-object/): `page_count` less
 * `freelist_count` (https://github.com/cloudflare/workerd/blob/main/src/workerd/api/sql.c%2B%2B,
 * getDatabaseSize). So it falls when rows are deleted, though the file does not shrink.
 */
import type { Query } from './read-batch.ts';

/** Limit of D1, Workers Paid (https://developers.cloudflare.com/d1/platform/limits/). */
const D1_LIMIT_BYTES = 10_000_000_000;

/** @param oneIsolate whether this is `npm run serve`, where only the disk limits the database */
export function limitBytesOf({ oneIsolate }: { oneIsolate: boolean }): number | undefined {
  return oneIsolate ? undefined : D1_LIMIT_BYTES;
}

/** Share of the limit from which on health warns. */
export const WARN_AT = 0.75;

/** Share of the limit from which on fewer milestones are kept. */
export const SHRINK_AT = 0.8;

/** Share of the limit from which on the node is not healthy: writes are about to fail. */
export const UNHEALTHY_AT = 0.95;

export interface DatabaseSize {
  bytes: number;
  limitBytes: number | undefined;
}

/** The share of the limit that is used; 0 where there is no limit. */
export function shareUsed({ bytes, limitBytes }: DatabaseSize): number {
  return limitBytes === undefined ? 0 : bytes / limitBytes;
}

/** The query's value, and the database's size in bytes after it. */
export function withSize<T>({ statements, read }: Query<T>): Query<{ value: T; bytes: number }> {
  return {
    statements,
    read: (results) => ({ value: read(results), bytes: results.at(-1)!.meta.size_after }),
  };
}

/** Whether a write failed for want of room: D1's error, or SQLITE_FULL in `npm run serve`. */
export function isDatabaseFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Exceeded maximum DB size|database or disk is full/i.test(error.message)
  );
}
