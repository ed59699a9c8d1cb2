/**
 * Answers about many outputs let other requests in: an output has up to 21 KB, and a hundred of them
 * take 0.1 s to be written as JSON.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { fetchRecorded } from '../../support/lies/recorded-source.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const fetch = await fetchRecorded(recordedNetwork('network-a'), 60);

interface Answer {
  items: string[];
  nfts?: { owner: { address: string } }[];
  outputs?: unknown[];
}

async function ask(path: string): Promise<Answer> {
  const response = await fetch(path);
  expect(response.status).toBe(200);
  return response.json();
}

afterEach(() => vi.restoreAllMocks());

/** How often others had a turn, if each look at the clock is 30 ms after the one before. */
async function turnsDuring(path: string): Promise<[count: number, turns: number]> {
  let now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 30));
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const { nfts, outputs } = await ask(path);
  return [(nfts ?? outputs)!.length, timers.mock.calls.length];
}

const { items } = await ask('/api/indexer/v1/outputs/nft?pageSize=1');
const ids = new Array(50).fill(items[0]).join();
const { nfts } = await ask(`/api/edge/v1/nfts?ids=${items[0]}`);

it.each([
  ['NFTs by their IDs', `/api/edge/v1/nfts?ids=${ids}`],
  ['outputs by their IDs', `/api/edge/v1/outputs?ids=${ids}`],
  ['NFTs of an address', `/api/edge/v1/nfts?address=${nfts![0]!.owner.address}`],
])('%s', async (_, path) => {
  const [count, turns] = await turnsDuring(path);
  expect(count).toBeGreaterThan(0);
  expect(turns).toBeGreaterThanOrEqual(count);
});
