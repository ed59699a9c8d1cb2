/**
 * Before each file of tests in workerd: everything that an earlier file stored goes, and the
 * database gets its tables. What stands in caches stays, so a file whose tests go through caches
 * asks a host of its own.
 */
import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

declare global {
  namespace Cloudflare {
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
    }
  }
}

await reset();
await applyD1Migrations(env.LEDGER, env.TEST_MIGRATIONS);
