/** Rows of a ledger that tests and benchmarks write themselves. */
import type { Head } from '../../../src/ledger/core/head.ts';
import type { MilestoneToInsert } from '../../../src/ledger/core/write-head.ts';

/** The head of an imported ledger without blocks. */
export function testHead(generation: string, start: number, ledger = start): Head {
  return {
    generation,
    genesis: 0,
    start,
    snapshot: '',
    ledger,
    treasury: { milestoneId: '', amount: 0n },
    nextBlock: 1,
    nextOutput: 1,
    unreferenced: 0,
    dropped: 0,
    idTables: [{ table: 0, first: start }],
    forgotten: 0,
    indexed: '',
    history: 0,
    integrity: { fingerprints: {} },
  };
}

/** @param timestamp Unix seconds */
export function testMilestone(index: number, timestamp: number): MilestoneToInsert {
  return { index, id: '0'.repeat(64), timestamp, blocks: 0, payload: null, nftChanges: 0 };
}
