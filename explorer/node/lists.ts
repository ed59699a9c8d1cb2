/**
 * Lists of outputs (TIP-26): all IDs that a list has, of one moment, and the outputs themselves.
 */

import { outputFromJson } from '../../src/stardust/json/read-rest-json.ts';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import type { Output } from '../../src/stardust/wire/output.ts';
import { askJson, NodeError } from './ask.ts';
import { readOutput } from './ledger.ts';
import { type OutputAnswer, outputIds } from './shapes.ts';

/** Of a list that is read as a whole, in pages of 1,000. */
const MAX_IDS = 10_000;

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
    if (pages.length * first.items.length >= MAX_IDS)
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
    const filter: Record<string, string> = isWhole ? {} : { createdAfter: String(now - seconds) };
    const { items, cursor } = await askJson(listPath(kind, filter), outputIds);
    if (cursor === undefined && (isWhole || items.length >= count))
      return items.slice(-count).reverse();
    if (cursor === undefined) tooShort = seconds;
    else tooLong = seconds;
    // there is none between: one second has more than a page
    if (tooLong - tooShort <= 1) return (await readIds(kind, filter)).ids.slice(0, count);
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

export interface ReadOutput extends OutputAnswer {
  outputId: string;
  /** The output, of a known kind. */
  decoded: Output;
}

/** The output with this ID, which is one of the four kinds that hold base tokens. */
export async function readDecoded(outputId: string): Promise<Said<ReadOutput>> {
  const { said } = await readOutput(outputId);
  const { transactionId, outputIndex } = said.metadata;
  const place = [outputIndex & 0xff, outputIndex >> 8].map((byte) => hexOf(byte)).join('');
  if (outputId !== `${transactionId}${place}`)
    throw new NodeError(0, `The node was asked for output ${outputId}, and answers another one.`);
  return { said: { ...said, outputId, decoded: decode(said.output) } };
}

const hexOf = (byte: number) => byte.toString(16).padStart(2, '0');

function decode(json: unknown): Output {
  try {
    return outputFromJson(json);
  } catch (error) {
    throw new NodeError(
      0,
      `The node's answer is not what its contract says: ${(error as Error).message}.`,
      error,
    );
  }
}

/** Requests under way at once: a browser makes no more of one host. */
const AT_ONCE = 6;

/** Each output by its ID, in order. */
export async function readAll(
  ids: readonly string[],
  onRead: (count: number) => void = () => {},
): Promise<readonly ReadOutput[]> {
  const found: ReadOutput[] = [];
  let next = 0;
  let count = 0;
  async function readOn(): Promise<void> {
    while (next < ids.length) {
      const place = next++;
      found[place] = (await readDecoded(ids[place]!)).said;
      onRead(++count);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readOn));
  return found;
}
