/**
 * Before each file of tests in workerd: its databases are its own and empty, here they get their
 * tables.
 */
import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

declare global {
  namespace Cloudflare {
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
    }
  }
}

await applyD1Migrations(env.LEDGER, env.TEST_MIGRATIONS);
