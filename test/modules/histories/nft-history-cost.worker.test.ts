/**
 * What a page of a history costs: rows read, which D1 bills. It ends once it has searched 16 MB, which
 * bounds its time (docs/contract.md#history-of-an-nft).
 */

import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { insertParameters } from '../../../src/ledger/core/ledger-parameters.ts';
import { writeOutputBytes } from '../../../src/ledger/core/output-bytes.ts';
import { moveFingerprints, rowSum } from '../../../src/ledger/core/row-sum.ts';
import { insertHead, insertMilestone } from '../../../src/ledger/core/write-head.ts';
import { PARTS, type SpentRow } from '../../../src/ledger/packs/milestone-part.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { carryPast } from '../../../src/modules/histories/carry-past.ts';
import {
  type HistoryPosition,
  MAX_HISTORY,
  readNftHistory,
} from '../../../src/modules/histories/nft-history.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { outputBytes } from '../../../src/stardust/wire/ids.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { countedDatabase } from '../../support/ledger/counted-database.ts';
import { testHead, testMilestone } from '../../support/ledger/test-head.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { basic, metadata, nft } from '../../support/payloads/outputs.ts';

const NFT = 'a5'.repeat(32);
const ZERO = '0'.repeat(64);
const MILESTONES = 2 * MAX_HISTORY;
const LONG = 1000;

/** Spent outputs of a part. */
const PART_ROWS = 1600;

/** The NFT's output that a milestone creates. */
const outputAt = (milestone: number) => `${milestone.toString(16).padStart(64, '0')}0000`;

const contents = writeOutputBytes(
  outputBytes(nft(keyPair('owner'), { nftId: Uint8Array.fromHex(NFT) })),
);

const otherContents = writeOutputBytes(
  outputBytes(basic(keyPair('owner'), { features: [metadata(new Uint8Array(30))] })),
);

function spentRow(id: string, chain: string | null, created: number, made: string): SpentRow {
  const cells = [id, chain, ZERO, created, created, made];
  return [
    id,
    chain === null ? otherContents : contents,
    chain,
    ZERO,
    created,
    created,
    made,
    rowSum(cells),
  ];
}

/** A ledger in which each milestone moves the NFT, and spends so many other outputs of its size. */
async function movedLedger(others: number, milestones = MILESTONES): Promise<D1Database> {
  const db = env.LEDGER;
  const { parameters } = new SyntheticNetwork().genesis;
  for (const table of [
    'head',
    'milestone',
    'milestone_part',
    'nft',
    'nft_past',
    'output',
    'parameters',
  ])
    await db.prepare(`DELETE FROM ${table}`).run();
  const option = { targetMilestoneIndex: 0, protocolVersion: 2 };
  await db.batch([
    insertHead(db, testHead('g', 0, milestones)),
    insertMilestone(db, testMilestone(0, 0)),
    insertParameters(db, moveFingerprints({ fingerprints: {} }), {
      type: 1,
      ...option,
      parameters: encode(protocolParameters, parameters),
    }),
  ]);
  for (let index = 1; index <= milestones; index++) {
    const before = spentRow(outputAt(index - 1), NFT, index - 1, outputAt(index));
    const rows = Array.from({ length: others }, (_, i) =>
      spentRow(`${index}${i}`.padEnd(64, 'e').concat('0000'), null, 0, `f${index}`.padEnd(68, '0')),
    );
    // in the middle
    rows.splice(others >> 1, 0, before);
    const insert = db.prepare(
      'INSERT INTO milestone_part (key, packs, blocks, sum, spent) VALUES (?, ?, ?, ?, ?)',
    );
    const parts = Array.from({ length: Math.ceil(rows.length / PART_ROWS) }, (_, part) => {
      const cells = [index * PARTS + part, '[]', ''];
      const spent = rows.slice(part * PART_ROWS, (part + 1) * PART_ROWS);
      return insert.bind(...cells, rowSum(cells), JSON.stringify(spent));
    });
    await db.batch([insertMilestone(db, testMilestone(index, index)), ...parts]);
  }
  const last = [outputAt(milestones), ZERO, milestones, milestones] as const;
  await db.batch([
    db
      .prepare(
        'INSERT INTO output (id, block, created, created_time, sum, bytes, chain) VALUES (?, ?, ?, ?, ?, ?, ?)',
      )
      .bind(...last, rowSum([...last, NFT]), contents, NFT),
    db.prepare('INSERT INTO nft VALUES (?, ?, ?)').bind(NFT, last[0], milestones),
  ]);
  return db;
}

async function costOfPage(others: number) {
  const { db, counts } = countedDatabase(await movedLedger(others));
  const page = await readNftHistory(db, NFT, MAX_HISTORY);
  if (!page?.ok) throw new Error('no history');
  return {
    changes: page.changes.length,
    hasNext: page.next !== undefined,
    rowsRead: counts.rowsRead,
  };
}

it('a page of 100 changes in milestones of 40 spent outputs', async () => {
  const { changes, hasNext, rowsRead } = await costOfPage(40);
  expect([changes, hasNext]).toEqual([MAX_HISTORY, true]);
  expect(rowsRead).toBeLessThan(5_000);
});

it('a page ends early where milestones spend much', async () => {
  const { changes, hasNext, rowsRead } = await costOfPage(1500);
  expect(changes).toBeGreaterThan(5);
  expect([changes < MAX_HISTORY, hasNext]).toEqual([true, true]);
  expect(rowsRead).toBeLessThan(50_000);
});

/** The milestones of all changes, page by page, and the most rows that a page read. */
async function readAllPages({ db, counts }: ReturnType<typeof countedDatabase>) {
  const milestones: number[] = [];
  let from: HistoryPosition | undefined;
  let most = 0;
  do {
    counts.rowsRead = 0;
    const page = await readNftHistory(db, NFT, MAX_HISTORY, from);
    if (!page?.ok) throw new Error('no history');
    milestones.push(...page.changes.map(({ index }) => index));
    most = Math.max(most, counts.rowsRead);
    from = page.next;
  } while (from !== undefined);
  return { milestones, most };
}

it('1,000 changes of one NFT, page by page, wherever they are', async () => {
  const db = await movedLedger(10, LONG);
  const counted = countedDatabase(db);
  const downFrom = (length: number) => Array.from({ length }, (_, i) => LONG - i);
  const kept = await readAllPages(counted);
  expect(kept.milestones).toEqual(downFrom(LONG));
  expect(kept.most).toBeLessThan(2_500);
  // 35 stay; the others move to nft_past
  await prune(counted.db, 35, { carry: carryPast });
  expect(await db.prepare('SELECT count(*) AS n FROM nft_past').first('n')).toBe(LONG - 35);
  const all = await readAllPages(counted);
  expect(all.milestones).toEqual(kept.milestones);
  expect(all.most).toBeLessThan(1_200);
  await prune(counted.db, 35);
  expect((await readAllPages(counted)).milestones).toEqual(downFrom(35));
});

it.each([
  ['several milestones', 1500, 60, 8],
  ['one milestone', 12_000, 38, 1],
])(
  'a step of pruning takes along what %s of much spent, and goes on',
  async (_, others, milestones, most) => {
    const db = await movedLedger(others, milestones);
    const firstKept = () =>
      db.prepare('SELECT min(idx) AS idx FROM milestone').first<number>('idx');
    for (let first = 0; first < milestones - 35; ) {
      await prune(db, 35, { carry: carryPast });
      const next = (await firstKept())!;
      expect([next > first, next <= first + most]).toEqual([true, true]);
      first = next;
    }
    const { milestones: found } = await readAllPages(countedDatabase(db));
    expect(found).toEqual(Array.from({ length: milestones }, (_, i) => milestones - i));
  },
);
