/**
 * The index over models of D1 and KV, in random histories of milestones, imports, publishers and
 * readers. `npx node test/slow/histories.ts` runs more of them, and
 * `npx node test/slow/mutations.ts` shows that they find mistakes. publish.worker.test.ts tests D1 by
 * the same contract as the model.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { describeLedger } from '../support/nft-index/ledger-contract.ts';
import { MemoryLedger } from '../support/nft-index/memory-ledger.ts';
import { type Counts, runHistory } from '../support/nft-index/random-history.ts';

const HISTORIES = 2_000;

describe(`${HISTORIES} random histories`, () => {
  const counts: Counts = new Map();

  beforeAll(async () => {
    // the histories contain malformed values, each of which is logged
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    for (let seed = 1; seed <= HISTORIES; seed++) await runHistory(seed, counts);
    warn.mockRestore();
  }, 300_000);

  test.each([
    ['entry', 2_000],
    ['change', 2_000],
    ['range', 500],
    ['age', 500],
    ['changed lately', 200],
    ['recent is absent', 500],
    ['recent is malformed', 500],
    ['recent is old', 500],
    ['entry is malformed', 200],
    ['entry is of another ledger', 200],
    ['index is not complete', 200],
    ['index is not settled', 200],
    ['a later one was asked for', 50],
    ['recent was cached', 500],
    ['tombstone had expired', 100],
    ['entry is of an earlier filling', 50],
  ])('every answer is true, and enough of them come about by: %s', (why, atLeast) => {
    expect(counts.get(why)).toBeGreaterThan(atLeast);
  });
});

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
