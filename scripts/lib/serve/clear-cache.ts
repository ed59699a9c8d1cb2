/**
 * What other runs over the data folder may have left there: miniflare's Cache API has a file for
 * each answer that was put, and evicts nothing. `serve` does not use it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { persistPath } from '../wrangler/local-database.ts';

/** Removes miniflare's Cache API from a data folder; nothing that counts is there. */
export function clearCache(persistTo: string): void {
  rmSync(join(persistPath(persistTo), 'cache'), { recursive: true, force: true });
}
