/**
 * What `serve` and `start` check before they start anything: the address and the clock; and what is
 * allowed but keeps `serve` from serving or following.
 */
import { createServer } from 'node:net';
import { distance } from 'fastest-levenshtein';
import type { Database } from '../../src/ledger/core/database.ts';
import { LedgerUnreadable, readHead } from '../../src/ledger/core/head.ts';
import { VAR_NAMES } from '../../src/settings.ts';
import { CALLED_AS, callWith } from '../lib/process/command.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';

/** Throws an Error with a sentence on a day on which workerd refuses the Worker. */
export function checkClock({ compatibilityDate }: WranglerConfig): void {
  const today = new Date(Date.now()).toISOString().slice(0, 10);
  if (today < compatibilityDate)
    throw new Error(
      `the clock of this machine says ${today}, before the compatibility date of wrangler.toml, ` +
        `${compatibilityDate}: set the clock`,
    );
}

/** Rejects with a sentence if nothing can listen at the address. */
export function checkAddress(
  host: string,
  port: number,
  command: 'serve' | 'start' = 'serve',
): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(describe(error.code, host, port, command), { cause: error })),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

function describe(code: string | undefined, host: string, port: number, command: string): string {
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use: ${callWith(command, '--port N')} names another`;
  if (code === 'EACCES') return `port ${port} needs rights that this process does not have`;
  return `${host} is no address of this machine (${code}): name another by --host`;
}

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
