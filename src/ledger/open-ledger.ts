/**
 * The binding of D1. On Cloudflare it is D1 itself; in `npm run serve` a SQLite file that commands
 * write, too. There workerd waits for no other process, and each call ends by writing a bookmark:
 * it fails while a command is in a transaction, or if one has committed since the call began. Such
 * a call has changed nothing, and is repeated with the lock for writing from its beginning on.
 */
import { pause } from '../platform/clock.ts';
import type { Database } from './core/database.ts';
import { wrapDatabase } from './core/wrap-database.ts';

/** The Worker's side of D1. */
export type Ledger = Database & { withSession(constraint: D1SessionConstraint): Database };

/** Longer than the last step of an import, in which it replaces the ledger. */
const PATIENCE_MS = 30_000;

/** Milliseconds between two attempts: shorter than a command's pause between two transactions. */
const PAUSE_MS = 2;

/** Changes nothing, and takes the lock for writing. */
const LOCK = 'DELETE FROM head WHERE 0';

/** Error of a call that found the lock taken: at once, or when it wrote its bookmark. */
const BUSY = /SQLITE_BUSY/;
const MAY_BE_BUSY = /SQLITE_BUSY|session commit token/;

export function openLedgerBinding(env: {
  LEDGER: D1Database;
  ONE_ISOLATE?: string | undefined;
}): Ledger {
  const db = env.LEDGER;
  if (env.ONE_ISOLATE !== 'true') return db;
  return { ...patient(db), withSession: (constraint) => patient(db.withSession(constraint)) };
}

function patient(db: Database): Database {
  async function batch<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    const end = Date.now() + PATIENCE_MS;
    const isWorthwhile = (error: unknown, sign: RegExp) =>
      sign.test(String(error)) && Date.now() < end;
    try {
      return await db.batch<T>(statements);
    } catch (error) {
      if (!isWorthwhile(error, MAY_BE_BUSY)) throw error;
    }
    for (;;) {
      await pause(PAUSE_MS * Math.random());
      try {
        return (await db.batch<T>([db.prepare(LOCK), ...statements])).slice(1);
      } catch (error) {
        if (!isWorthwhile(error, BUSY)) throw error;
      }
    }
  }
  const all = async <T>(statement: D1PreparedStatement) => (await batch<T>([statement]))[0]!;
  return wrapDatabase(db, { all, batch });
}
