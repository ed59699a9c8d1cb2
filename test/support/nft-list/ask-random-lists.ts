/**
 * Random queries of lists over HTTP, most of them odd: each must be answered as the plain
 * implementation says, 200 or 400.
 */
import { expect } from 'vitest';
import { checkAlways, errorBody, type Fetch } from '../http/contract.ts';
import { Random } from '../network/random.ts';
import { type ListName, plainList } from './plain-list.ts';
import { randomQuery, vocabularyOf } from './random-queries.ts';
import { LAST_INDEX, recordedOutputs } from './recorded-nfts.ts';

/** @param fetch asks a ledger that is network-n's at this index and has this list */
export async function askRandomLists(
  fetch: Fetch,
  { index, queries, list = 'nft' }: { index: number; queries: number; list?: ListName },
): Promise<void> {
  const outputsAt = recordedOutputs('network-n');
  const outputs = outputsAt(index);
  // at early indexes of what is not there yet, too
  const words = vocabularyOf(outputsAt(LAST_INDEX), 'tst');
  const random = new Random(`${queries} lists at ${index}`);
  const statuses = new Map<number, number>();
  for (let i = 0; i < queries; i++) {
    const query = randomQuery(random, words, 0.1 + 0.2 * (i % 4));
    const path = `/api/indexer/v1/outputs${list === 'all' ? '' : `/${list}`}?${query}`;
    const response = await fetch(path);
    // what a client makes of it on the way
    const { search } = new URL(path, 'http://edge.example');
    const plain = plainList(outputs, index, 'tst', search.slice(1), list);
    checkAlways(response);
    const text = await response.text();
    const { status } = response;
    const due = plain.status === 200 ? JSON.stringify(plain.response) : errorBody(response.status);
    if (status !== plain.status || text !== due)
      expect({ query, status, text }).toEqual({ query, status: plain.status, text: due });
    statuses.set(plain.status, (statuses.get(plain.status) ?? 0) + 1);
  }
  for (const status of [200, 400]) expect(statuses.get(status)).toBeGreaterThan(queries / 20);
}
