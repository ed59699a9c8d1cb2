/**
 * Before each file of tests in workerd: everything that an earlier file stored goes, and the
 * database gets its tables. What stands in caches stays, so a file whose tests go through caches
 * asks a host of its own.
 */
import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';

declare global {
  namespace Cloudflare {
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
    }
  }
}

const COUNT_TABLES = 'SELECT count(*) FROM sqlite_master';
const countTables = () => env.LEDGER.prepare(COUNT_TABLES).first<number>('count(*)');

// workerd unloads a store that was idle for ten seconds, and `reset` only empties what is loaded
await Promise.all([countTables(), env.NFT_INDEX.get('loaded')]);
await reset();
const left = [await countTables(), (await env.NFT_INDEX.list()).keys.length];
if (left.some((count) => count !== 0))
  throw new Error(`an earlier file left ${left.join(' tables and ')} keys behind`);
await applyD1Migrations(env.LEDGER, env.TEST_MIGRATIONS);

// the Worker behind `exports` remembers for seconds what it read for an earlier file
vi.resetModules();
