/** What is allowed, but keeps `serve` from serving or following. */
import { LedgerDamaged } from '../../src/ledger/core/checksum.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { LedgerUnreadable, readHead } from '../../src/ledger/core/head.ts';
import { CALLED_AS } from '../lib/process/command.ts';

/** Returns warnings as sentences; of a data folder, and the settings `vars`. */
export async function noteStart(
  db: Database,
  folder: string,
  vars: Readonly<Record<string, string>>,
): Promise<string[]> {
  const notes: string[] = [];
  let ledger: number | undefined;
  try {
    ledger = (await readHead(db))?.ledger;
    if (ledger === undefined)
      notes.push(`${folder} has no ledger: ${CALLED_AS} import FILE --persist-to ${folder}`);
  } catch (error) {
    // health says so too
    if (!(error instanceof LedgerUnreadable || error instanceof LedgerDamaged)) throw error;
    notes.push(error.message);
  }
  if (!vars.UPSTREAM_URL?.trim()) {
    const stays = ledger === undefined ? '' : `, the ledger stays at ${ledger}`;
    notes.push(`UPSTREAM_URL is not set: nothing is followed${stays}`);
  }
  const final = Number(vars.FINAL_MILESTONE?.trim() || Number.POSITIVE_INFINITY);
  if (ledger !== undefined && ledger > final)
    notes.push(`FINAL_MILESTONE is ${final}, but the ledger is at ${ledger} already`);
  return notes;
}
