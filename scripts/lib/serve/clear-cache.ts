/**
 * What version 0.2 left in the data folder: a file for each white-flag answer, in miniflare's Cache
 * API, which evicts nothing.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { persistPath } from '../wrangler/local-database.ts';

/** Removes miniflare's Cache API from a data folder; nothing that counts is there. */
export function clearCache(persistTo: string): void {
  rmSync(join(persistPath(persistTo), 'cache'), { recursive: true, force: true });
}
