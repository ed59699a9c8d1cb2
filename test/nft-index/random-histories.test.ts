/**
 * The index over models of D1 and KV, in random histories of milestones, imports, publishers and
 * readers. `node tools/run.js test/slow/histories.ts` runs more of them, and
 * `npm run test:slow -- mutations` shows that they find mistakes. publish.worker.test.ts tests D1 by
 * the same contract as the model.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { describeLedger } from '../support/nft-index/ledger-contract.ts';
import { MemoryLedger } from '../support/nft-index/memory-ledger.ts';
import { type Counts, runHistory } from '../support/nft-index/random-history.ts';

const HISTORIES = process.env.SLOW ? 500 : 150;

/** Each found a mistake once. */
const FOUND = [
  // another namespace is bound before the index has settled, and then the former one again
  1223,
  // another namespace is bound while all entries are put, and entries of the former one counted
  527,
];

describe(`${HISTORIES} random histories`, () => {
  const counts: Counts = new Map();

  beforeAll(async () => {
    // the histories contain malformed values, each of which is logged
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    for (let seed = 1; seed <= HISTORIES; seed++) await runHistory(seed, counts);
    warn.mockRestore();
  });

  test.each([
    ['entry', 500],
    ['change', 450],
    ['range', 125],
    ['age', 125],
    ['changed lately', 50],
    ['recent is absent', 125],
    ['recent is malformed', 125],
    ['recent is old', 125],
    ['entry is malformed', 50],
    ['entry is of another ledger', 50],
    ['index is not complete', 50],
    ['index is not settled', 50],
    ['a later one was asked for', 10],
    ['recent was cached', 125],
    ['tombstone had expired', 25],
    ['entry is of an earlier filling', 10],
  ])('every answer is true, and enough of them come about by: %s', (why, atLeast) => {
    expect(counts.get(why)).toBeGreaterThan(process.env.SLOW ? atLeast : atLeast / 4);
  });
});

test.each(FOUND)('every answer of history %i is true', (seed) => runHistory(seed, new Map()));

describeLedger('in memory', () => {
  const ledger = new MemoryLedger();
  return {
    index: ledger,
    nfts: ledger,
    import: async (generation, start, nfts) => ledger.import(generation, start, nfts),
    apply: async (changes) => ledger.apply(changes),
    prune: async () => ledger.prune(),
    removeLedger: async () => {
      ledger.history = undefined;
    },
    removeState: async () => {
      ledger.row = undefined;
    },
  };
});
