/**
 * What an import may replace without a question: a ledger of the same network that is not newer.
 */
import { printable } from '../../../client/printable.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import {
  networkNames,
  parameterTable,
  SELECT_PARAMETERS,
} from '../../../src/ledger/core/ledger-parameters.ts';
import { ReplacementRefused } from '../../../src/ledger/import/load-snapshot.ts';
import { askInTerminal } from '../process/ask.ts';

/** Whether the operator wants what the sentence says. */
export type MayReplace = (sentence: string) => Promise<boolean>;

/** For `--older`. */
export const replaceAny: MayReplace = async (sentence) => {
  console.warn(`Note: ${sentence}.`);
  return true;
};

/** Asks in the terminal. Without one the answer is no. */
export const askToReplace: MayReplace = async (sentence) => {
  if (!process.stdin.isTTY) return false;
  return (await askInTerminal(`Note: ${sentence}. Type yes to replace it:`, '--older')) === 'yes';
};

/** A network that began again has its name, and other milestones of the same indexes. */
const NOTE_CACHES =
  'Note: if its milestones are others, empty the caches of proxies after the import: ' +
  'they keep answers for up to a year.';

export interface ServedLedger {
  index: number;
  /** Names that the network has had, oldest first. */
  networks: readonly string[];
}

/** Read without checksums: an import is also how a damaged ledger is mended. */
export const SELECT_SERVED = ['SELECT ledger FROM head', SELECT_PARAMETERS];

type Rows = readonly Record<string, unknown>[];

/** @param results rows of each statement of SELECT_SERVED. Undefined if there is no ledger */
export function servedFromRows([heads = [], parameters = []]: readonly Rows[]):
  | ServedLedger
  | undefined {
  const [head] = heads;
  if (head === undefined) return undefined;
  return { index: Number(head.ledger), networks: namesOf(parameters) };
}

/** Damaged parameters are of no network that could be compared: the operator is asked. */
function namesOf(parameters: Rows): readonly string[] {
  try {
    const names = networkNames(parameterTable(parameters.map(({ bytes }) => String(bytes))));
    if (names.length > 0) return names;
  } catch {
    // as where none can be read
  }
  return ['(damaged)'];
}

export async function readServed(db: Database): Promise<ServedLedger | undefined> {
  const results = await db.batch<Record<string, unknown>>(
    SELECT_SERVED.map((sql) => db.prepare(sql)),
  );
  return servedFromRows(results.map((result) => result.results));
}

/**
 * Throws a ReplacementRefused if the new ledger is older than the served one, or of another
 * network, and the operator does not want that. Returns whether he was asked, and wants it.
 *
 * @param served undefined if there is none
 */
export async function checkReplacement(
  served: ServedLedger | undefined,
  { ledger, network }: { ledger: number; network: string },
  mayReplace: MayReplace = async () => false,
): Promise<boolean> {
  if (served === undefined) return false;
  const isSameNetwork = served.networks.includes(network);
  if (isSameNetwork && ledger >= served.index) return false;
  const sentence = isSameNetwork
    ? `the ledger at milestone ${served.index} is to be replaced by an older one, at ${ledger}`
    : `the ledger of network ${printable(served.networks[0]!)} at milestone ${served.index} ` +
      `is to be replaced by one of network ${printable(network)} at ${ledger}`;
  if (!(await mayReplace(sentence)))
    throw new ReplacementRefused(`${sentence}: nothing was replaced; add --older if it is right`);
  console.warn(NOTE_CACHES);
  return true;
}
