/** What is allowed, but keeps `serve` from serving or following. */
import type { Database } from '../../src/ledger/core/database.ts';
import { isTold, readHead } from '../../src/ledger/core/head.ts';
import { networkNames, readParameters } from '../../src/ledger/core/ledger-parameters.ts';
import { requireNetwork } from '../lib/network.ts';
import { CALLED_AS } from '../lib/process/command.ts';

/**
 * Returns warnings as sentences. Throws an Error with a sentence where a ledger that can be read is
 * of another network.
 *
 * @param folder the data folder
 * @param vars the settings
 * @param network what `--network` names
 */
export async function noteStart(
  db: Database,
  folder: string,
  vars: Readonly<Record<string, string>>,
  network?: string,
): Promise<string[]> {
  const notes: string[] = [];
  let ledger: number | undefined;
  try {
    ledger = (await readHead(db))?.ledger;
    if (ledger === undefined)
      notes.push(`${folder} has no ledger: ${CALLED_AS} import FILE --persist-to ${folder}`);
  } catch (error) {
    // /health says it too, which monitoring reads
    if (!isTold(error)) throw error;
    notes.push(error.message);
  }
  if (ledger !== undefined && network !== undefined)
    requireNetwork(network, networkNames(await readParameters(db)));
  const rest = ledger === undefined ? '' : `, the ledger stays at ${ledger}`;
  if (!vars.UPSTREAM_URL?.trim()) notes.push(`UPSTREAM_URL is not set: nothing is followed${rest}`);
  const final = Number(vars.FINAL_MILESTONE?.trim() || Number.POSITIVE_INFINITY);
  if (ledger !== undefined && ledger > final)
    notes.push(`FINAL_MILESTONE is ${final}, but the ledger is at ${ledger} already`);
  return notes;
}
