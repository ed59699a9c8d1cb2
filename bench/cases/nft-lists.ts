/**
 * Lists of NFTs, galleries, batches and one with its output, among a million.
 */
import { strict as assert } from 'node:assert';
import { toBech32 } from '../../src/stardust/bech32.ts';
import type { Bench, BenchCase } from '../case.ts';
import { keptLedger } from '../tools/ledger.ts';
import { type Load, measureRate } from '../tools/load.ts';
import { median } from '../tools/measure.ts';
import { nftId } from '../tools/nft-index.ts';
import { addressOf, fillNftLedger, HELD, PREFIX } from '../tools/nft-ledger.ts';
import { withEdge } from '../tools/servers.ts';

const NFTS = 1_000_000;

const BATCH = 100;

/** Of each turn. */
const TURN_MS = 500;
const TURNS = 15;
const WARM_UP = 3;

/** Times by each other. */
const GOALS = [
  { name: 'a page of 100 by address', by: 'a batch of 100 IDs', most: 1.5 },
  { name: 'a batch of 100 IDs', by: 'one hop', most: 5 },
  { name: 'one hop', by: 'a lookup that D1 answers', most: 1.3 },
  { name: 'a gallery of 100', by: 'a batch of 100 IDs', most: 1.5 },
  { name: 'a gallery of 100', by: 'a page of 100 by address', most: 3 },
];

/** Never the same one twice in a turn, and all over the ledger. */
function* numbers(below: number): Generator<number, never> {
  for (let at = 0; ; at = (at + 7919) % below) yield at;
}

function loadOf(url: string, next: () => string, isRight: (body: unknown) => boolean): Load {
  return {
    url,
    next,
    check: (path, { status, body }) => {
      assert.equal(status, 200, path);
      assert(isRight(JSON.parse(body)), path);
    },
  };
}

function loadsOf(url: string): Record<string, Load> {
  const one = numbers(NFTS);
  const looked = numbers(NFTS - 1);
  const many = numbers(NFTS / BATCH);
  const owners = numbers(NFTS / HELD);
  const idOf = (number: number) => `0x${nftId(number)}`;
  const ids = () => {
    const start = many.next().value;
    return Array.from({ length: BATCH }, (_, i) => idOf(start + (i * NFTS) / BATCH)).join();
  };
  // what is asked is made before it is timed
  const prepared = (count: number, make: () => string) => {
    const paths = Array.from({ length: count }, make);
    let i = 0;
    return () => paths[i++ % count]!;
  };
  const holds = (count: number) => (body: unknown) =>
    (body as { nfts: unknown[] }).nfts.filter(Boolean).length === count;
  const address = () => toBech32(PREFIX, addressOf(owners.next().value));
  return {
    'a lookup that D1 answers': loadOf(
      url,
      prepared(20_000, () => `/api/indexer/v1/outputs/nft/${idOf(looked.next().value)}`),
      (body) => (body as { items: unknown[] }).items.length === 1,
    ),
    'one hop': loadOf(
      url,
      prepared(20_000, () => `/api/edge/v1/nfts/${idOf(one.next().value)}`),
      (body) => 'owner' in (body as object),
    ),
    'a batch of 100 IDs': loadOf(
      url,
      prepared(500, () => `/api/edge/v1/nfts?ids=${ids()}`),
      holds(BATCH),
    ),
    'a page of 100 by address': loadOf(
      url,
      prepared(5000, () => `/api/indexer/v1/outputs/nft?pageSize=100&address=${address()}`),
      (body) => (body as { items: unknown[] }).items.length === HELD,
    ),
    'a gallery of 100': loadOf(
      url,
      prepared(5000, () => `/api/edge/v1/nfts?pageSize=100&address=${address()}`),
      holds(HELD),
    ),
  };
}

async function compareRequests({ worker, report }: Bench): Promise<void> {
  const persistTo = await keptLedger(`listed-${NFTS}`, (db) => fillNftLedger(db, NFTS));
  await withEdge({ folder: worker, persistTo }, async ({ url }) => {
    const loads = Object.entries(loadsOf(url));
    const times = Object.fromEntries(loads.map(([name]) => [name, [] as number[]]));
    for (let turn = -WARM_UP; turn < TURNS; turn++) {
      for (const [name, load] of loads) {
        const rate = await measureRate(load, 1, TURN_MS);
        if (turn >= 0) times[name]!.push(1000 / rate);
      }
    }
    for (const [name, values] of Object.entries(times))
      report({ name, value: median(values), unit: 'ms' });
    for (const { name, by, most } of GOALS) {
      const shares = times[name]!.map((ms, i) => ms / times[by]![i]!);
      report({ name: `${name} by ${by}`, value: median(shares), unit: 'times', target: { most } });
    }
  });
}

export const nftListCases: readonly BenchCase[] = [
  {
    name: 'NFT lists',
    about: 'A million NFTs; over one connection, every answer asserted.',
    run: compareRequests,
  },
];
