/**
 * Where the project is on this machine.
 */
import { join } from 'node:path';

/** The folder of package.json and wrangler.toml. */
export const PROJECT = join(import.meta.dirname, '../..');

/** Where wrangler keeps local data by default. */
export const DEFAULT_PERSIST_TO = join(PROJECT, '.wrangler', 'state');
