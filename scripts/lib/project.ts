/**
 * Where the project lies on this machine.
 */
import { join } from 'node:path';

/** The folder of package.json and wrangler.toml. */
export const PROJECT = join(import.meta.dirname, '../..');
