/**
 * NFT lookups with a million NFTs in the index. In turns with them: a Worker that answers a
 * constant, and one that does a single get of KV.
 */
import { strict as assert } from 'node:assert';
import { entryKey } from '../../src/nft-index/kv-values.ts';
import type { Edge } from '../../test/support/edge/edge.ts';
import type { Bench, BenchCase } from '../case.ts';
import { keptLedger } from '../tools/ledger.ts';
import { type Load, measureRate } from '../tools/load.ts';
import { median } from '../tools/measure.ts';
import { fillNftIndex, holder, LEDGER_INDEX, nftId, putRecentNow } from '../tools/nft-index.ts';
import { withEdge } from '../tools/servers.ts';

const NFTS = 1_000_000;

/** So few that an isolate remembers them. */
const FEW = 20;

/** So many that none is asked for again within the second for which an isolate remembers it. */
const MANY = 50_000;

const CONNECTIONS = [1, 16];

/** Of each turn. */
const TURN_MS = 500;

/** Turns that count, and turns before them that do not. */
const TURNS = 17;
const WARM_UP = 4;

/**
 * What is compared with what, and the target. The constant with the headers that every answer needs
 * shows the best that is possible.
 */
const GOALS = [
  { name: 'constant, headers', by: 'constant' },
  { name: 'remembered', by: 'constant', least: 0.8 },
  { name: 'not remembered', by: 'one get of KV', least: 0.9 },
];

/** The numbers of NFTs all over the index, over and over. */
function* numbers(count: number): Generator<number, never> {
  for (let i = 0; ; i = (i + 1) % count) yield Math.floor((i * NFTS) / count);
}

function lookups(edge: Edge, count: number): Load {
  const chosen = numbers(count);
  let number = 0;
  return {
    url: edge.url,
    next: () => {
      number = chosen.next().value;
      return `/api/indexer/v1/outputs/nft/0x${nftIdOf(number)}`;
    },
    check: (path, { status, body }) => {
      assert.equal(status, 200);
      assert.equal(body, answers.get(path.slice(-64)));
    },
  };
}

/** IDs are hashes, made before the measurement. */
const ids = new Map<number, string>();
const answers = new Map<string, string>();

function nftIdOf(number: number): string {
  let id = ids.get(number);
  if (id === undefined) {
    id = nftId(number);
    ids.set(number, id);
    answers.set(id, JSON.stringify({ ledgerIndex: LEDGER_INDEX, items: [`0x${holder(number)}`] }));
  }
  return id;
}

function constantAt({ url }: Edge, path: string): Load {
  return { url, next: () => path, check: (_, { status }) => assert.equal(status, 200) };
}

function loadsOf(edge: Edge, probe: Edge): Record<string, Load> {
  const gets = numbers(MANY);
  return {
    constant: constantAt(probe, '/constant'),
    'constant, headers': constantAt(probe, '/headers'),
    remembered: lookups(edge, FEW),
    'one get of KV': {
      url: probe.url,
      next: () => `/kv?key=${entryKey(nftIdOf(gets.next().value))}`,
      check: (path, { body }) => assert.ok(body.includes(`"nft":"${path.slice(-64)}"`)),
    },
    'not remembered': lookups(edge, MANY),
  };
}

async function run({ worker, probe: probeFolder, report }: Bench): Promise<void> {
  const persistTo = await keptLedger(`nfts-${NFTS}`, (db, folder) =>
    fillNftIndex(db, folder, NFTS),
  );
  for (const number of numbers(MANY)) {
    if (ids.has(number)) break;
    nftIdOf(number);
  }
  for (const connections of CONNECTIONS) {
    await putRecentNow(persistTo);
    await withEdge({ folder: worker, persistTo }, (edge) =>
      withEdge({ folder: probeFolder, persistTo }, async (probe) => {
        const loads = Object.entries(loadsOf(edge, probe));
        const rates = Object.fromEntries(loads.map(([name]) => [name, [] as number[]]));
        for (let turn = -WARM_UP; turn < TURNS; turn++) {
          for (const [name, load] of loads) {
            const rate = await measureRate(load, connections, TURN_MS);
            if (turn >= 0) rates[name]!.push(rate);
          }
        }
        const over = `over ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
        for (const [name, values] of Object.entries(rates)) {
          report({ name: `${name}, ${over}`, value: median(values), unit: 'a second' });
        }
        for (const { name, by, least } of GOALS) {
          const shares = rates[name]!.map((rate, i) => rate / rates[by]![i]!);
          const target = least === undefined ? {} : { target: { least } };
          report({
            name: `${name} by ${by}, ${over}`,
            value: median(shares),
            unit: 'times',
            ...target,
          });
        }
      }),
    );
  }
}

export const nftCases: readonly BenchCase[] = [
  {
    name: 'NFT lookups',
    about: 'A million NFTs in the index; every answer asserted.',
    run,
  },
];
