/** Statements by the number of packs: D1 runs 1,000 in an invocation. */
import { expect, it } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { writeBlockRow } from '../../../src/ledger/packs/id-rows.ts';
import {
  type MilestoneContents,
  readBlocksWithBytes,
} from '../../../src/ledger/read/milestone-contents.ts';
import { createUnreferencedIndex } from '../../../src/ledger/write/unreferenced-index.ts';
import {
  startLedger,
  storeNow,
  withSplitPacks,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('the index of unreferenced blocks is loaded with one for 16 packs', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'load' });
  network.milestone();
  const rig = await startLedger(db, network, 1);
  for (let i = 0; i < 64; i++)
    await storeNow(withSplitPacks(withTips(rig, network.note([network.milestoneBlock!]))), db);
  let statements = 0;
  const counting: Database = {
    prepare: (sql) => db.prepare(sql),
    batch: (some) => {
      statements += some.length;
      return db.batch(some);
    },
  };
  const view = await createUnreferencedIndex().view(counting, (await readHead(db))!, []);
  const ids = [...network.blocks.keys()].map((id) => id.slice(2));
  expect(view.findUnreferenced(ids).size).toBeGreaterThan(63);
  expect(statements).toBeLessThan(15);
});

const PACK = 256;

it.each([4, 32])(
  'blocks of %i chains that grew side by side are read pack by pack',
  async (length) => {
    // each pack has a block of each chain, and the white flag goes chain by chain
    const idOf = (chain: number, at: number) => (1000 * chain + at).toString(16).padStart(64, '0');
    const blocks = Array.from({ length: PACK * length }, (_, i) => {
      const [at, pack] = [Math.floor(i / length), i % length];
      return { id: idOf(at, pack), payload: 0, reason: undefined, pack, at };
    });
    let statements = 0;
    const rowOf = (key: number) => {
      const rows = Array.from({ length: PACK }, (_, at) => writeBlockRow(0, idOf(at, key), 0));
      return {
        key,
        blocks: JSON.stringify(rows),
        bytes: JSON.stringify(rows.map(() => 'AAAA')),
      };
    };
    const db = {
      prepare: () => ({ bind: (keys: string) => ({ keys }) }),
      batch: async (all: { keys: string }[]) =>
        all.map(({ keys }) => {
          statements++;
          return { results: JSON.parse(keys).map(rowOf) };
        }),
    } as unknown as Database;
    const contents = { index: 1, blocks } as unknown as MilestoneContents;
    const order: number[] = [];
    for await (const { whiteFlagIndex } of readBlocksWithBytes(db, contents, new Map()))
      order.push(whiteFlagIndex);
    expect(statements).toBe(Math.ceil(length / 16));
    const sorted = order.toSorted((a, b) => a - b);
    expect(sorted).toEqual(blocks.map((_, i) => i));
    if (length <= 16) expect(order).toEqual(sorted);
  },
);
