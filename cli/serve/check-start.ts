/** What is allowed, but keeps `serve` from serving or following. */
import { distance } from 'fastest-levenshtein';
import type { Database } from '../../src/ledger/core/database.ts';
import { LedgerUnreadable, readHead } from '../../src/ledger/core/head.ts';
import { VAR_NAMES } from '../../src/settings.ts';
import { CALLED_AS } from '../lib/process/command.ts';

/**
 * Returns warnings as sentences.
 *
 * @param folder the data folder
 * @param vars the settings
 * @param environment names and values, among which may be settings that are misspelt
 */
export async function noteStart(
  db: Database,
  folder: string,
  vars: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<string[]> {
  const notes: string[] = [];
  let ledger: number | undefined;
  try {
    ledger = await readLedgerIndex(db);
    if (ledger === undefined)
      notes.push(`${folder} has no ledger: ${CALLED_AS} import FILE --persist-to ${folder}`);
  } catch (error) {
    if (!(error instanceof LedgerUnreadable)) throw error;
    notes.push(error.message);
  }
  if (!vars.UPSTREAM_URL?.trim()) {
    const stays = ledger === undefined ? '' : `, the ledger stays at ${ledger}`;
    notes.push(`UPSTREAM_URL is not set: nothing is followed${stays}`);
  }
  const final = Number(vars.FINAL_MILESTONE?.trim() || Number.POSITIVE_INFINITY);
  if (ledger !== undefined && ledger > final)
    notes.push(`FINAL_MILESTONE is ${final}, but the ledger is at ${ledger} already`);
  const names = new Set([...Object.keys(vars), ...Object.keys(environment)]);
  return [...notes, ...[...names].flatMap(noteMisspelling)];
}

/** The most typing errors in a name that is taken for a misspelt one. */
const MAX_TYPOS = 2;

function noteMisspelling(name: string): string[] {
  if (VAR_NAMES.includes(name)) return [];
  const meant = VAR_NAMES.find((known) => distance(name, known) <= MAX_TYPOS);
  return meant === undefined ? [] : [`${name} is not a setting and is ignored: is ${meant} meant?`];
}

/** Undefined if there is no ledger. Throws a LedgerUnreadable if it has another schema. */
async function readLedgerIndex(db: Database): Promise<number | undefined> {
  return (await readHead(db))?.ledger;
}
