/**
 * Lists of outputs (TIP-26): all IDs that a list has, of one moment, and the outputs themselves.
 */
import { OutputType } from '../../src/stardust/wire/output.ts';
import { formatCount } from '../format.ts';
import { askJson, NodeError } from './ask.ts';
import { type LedgerOutputJson, readUnspent } from './outputs.ts';
import { outputIds } from './shapes.ts';

/** Of a list that is read as a whole, and of a page of it. */
const [MAX_IDS, PAGE_IDS] = [10_000, 1000];

/** A ledger that moves while several pages are read. */
const MAX_TRIES = 3;

export interface IdList {
  ledgerIndex: number;
  /** The newest first. */
  ids: readonly string[];
}

export type ListKind = 'nft' | 'basic' | 'alias' | 'foundry';

/** The path of a list; without a kind, of outputs of every kind. */
export function listPath(kind: ListKind | undefined, filter: Record<string, string>): string {
  const path = `/api/indexer/v1/outputs${kind === undefined ? '' : `/${kind}`}`;
  return `${path}?${new URLSearchParams(filter)}`;
}

/** All of a list at one ledger index. Throws a NodeError if it has more than 10,000 outputs. */
export async function readIds(
  kind: ListKind | undefined,
  filter: Record<string, string>,
): Promise<IdList> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const list = await readPages(kind, filter);
    if (list !== undefined) return list;
  }
  throw new NodeError(0, 'The ledger moved on each time that the list was read. Try again.');
}

/** Undefined if the ledger moved between two pages. */
async function readPages(
  kind: ListKind | undefined,
  filter: Record<string, string>,
): Promise<IdList | undefined> {
  const first = await askJson(listPath(kind, filter), outputIds);
  const pages = [first.items];
  for (let { cursor } = first; cursor !== undefined; ) {
    // pages of a node that lies may be empty, and never end
    if (pages.length * PAGE_IDS >= MAX_IDS)
      throw new NodeError(
        0,
        `The list has more than ${MAX_IDS.toLocaleString('en')} outputs, which are too many for this page. The API has them.`,
      );
    const page = await askJson(listPath(kind, { ...filter, cursor }), outputIds);
    if (page.ledgerIndex !== first.ledgerIndex) return undefined;
    pages.push(page.items);
    cursor = page.cursor;
  }
  // a node lists the oldest first
  return { ledgerIndex: first.ledgerIndex, ids: pages.flat().reverse() };
}

export async function hasOutputs(kind: ListKind | undefined, address: string): Promise<boolean> {
  const filter = { unlockableByAddress: address, pageSize: '1' };
  return (await askJson(listPath(kind, filter), outputIds)).items.length > 0;
}

/** How many outputs a list has, as far as its first page shows: `60`, or `1,000+`. */
export async function countListed(path: string): Promise<string> {
  const { items, cursor } = await askJson(path, outputIds);
  return `${formatCount(items.length)}${cursor === undefined ? '' : '+'}`;
}

/** The filter for what was created in so many seconds before; for all of it, if they are enough. */
function within(seconds: number, now: number): Record<string, string> {
  return seconds >= now ? {} : { createdAfter: String(now - seconds) };
}

/** More than it takes to find any second of 136 years. */
const MAX_WINDOWS = 60;

/**
 * The newest outputs of a list, the newest first, without reading all of it: those that were created
 * within a time before the ledger's milestone, which grows until there are enough.
 *
 * @param now seconds, of the ledger's milestone
 */
export async function readNewest(
  kind: ListKind | undefined,
  count: number,
  now: number,
): Promise<readonly string[]> {
  let [tooShort, tooLong, seconds] = [0, Infinity, 60];
  for (let tries = 0; tries < MAX_WINDOWS; tries++) {
    const isWhole = seconds >= now;
    const { items, cursor } = await askJson(listPath(kind, within(seconds, now)), outputIds);
    if (cursor === undefined && (isWhole || items.length >= count))
      return items.slice(-count).reverse();
    if (cursor === undefined) tooShort = seconds;
    else tooLong = seconds;
    // there is none between: one second has more than a page
    if (tooLong - tooShort <= 1)
      return (await readIds(kind, within(tooLong, now))).ids.slice(0, count);
    seconds = tooLong === Infinity ? 8 * seconds : Math.floor((tooShort + tooLong) / 2);
  }
  throw new NodeError(0, 'The node does not say which outputs are the newest.');
}

/** The unspent output that holds an alias or a foundry, by its ID. */
export async function readIdOfChain(kind: 'alias' | 'foundry', id: string): Promise<string> {
  const path = `/api/indexer/v1/outputs/${kind}/${encodeURIComponent(id)}`;
  const { items } = await askJson(path, outputIds);
  const [outputId] = items;
  if (outputId === undefined || items.length > 1)
    throw new NodeError(0, `The node answers ${items.length} outputs of one ${kind}.`);
  return outputId;
}

/** An unspent output of a list. */
export interface ListedOutput extends LedgerOutputJson {
  /** 0x and 68 hex digits. */
  outputId: string;
}

/** Of a request. */
const BATCH = 100;

/** Each output by its ID, in order; undefined if the ledger moved on since the IDs were listed. */
export async function readAll(
  ids: readonly string[],
): Promise<readonly ListedOutput[] | undefined> {
  const found: ListedOutput[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH);
    const outputs = await readUnspent(batch);
    if (outputs === undefined) return undefined;
    found.push(...outputs.map((each, place) => ({ ...each, outputId: batch[place]! })));
  }
  return found;
}

/**
 * Foundries of a list, and how many it has.
 *
 * @param pick which of all its IDs are read
 */
export async function readFoundries(
  filter: Record<string, string>,
  pick: (ids: readonly string[]) => readonly string[],
) {
  const { ids, ledgerIndex } = await readIds('foundry', filter);
  const found = await readAll(pick(ids));
  if (found === undefined) throw new NodeError(0, 'The ledger moved on. Try again.');
  const foundries = found.flatMap(({ outputId, output }) =>
    output.type === OutputType.Foundry ? [{ outputId, foundry: output }] : [],
  );
  if (foundries.length < found.length)
    throw new NodeError(0, 'The node lists an output as a foundry that is none.');
  return { foundries, count: ids.length, ledgerIndex };
}
