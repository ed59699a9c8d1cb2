/**
 * What a page of a history costs: rows read, which D1 bills. It ends once it has searched 16 MB, which
 * bounds its time (docs/contract.md#history-of-an-nft).
 */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { PARTS } from '../../../src/ledger/core/database.ts';
import { insertParameters } from '../../../src/ledger/core/ledger-parameters.ts';
import { writeOutputBytes } from '../../../src/ledger/core/output-bytes.ts';
import type { SpentRow } from '../../../src/ledger/core/packs/milestone-part.ts';
import { rowSum } from '../../../src/ledger/core/row-sum.ts';
import { insertHead, insertMilestone } from '../../../src/ledger/core/write-head.ts';
import { MAX_HISTORY, readNftHistory } from '../../../src/ledger/provenance/nft-history.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { outputBytes } from '../../../src/stardust/wire/ids.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { countedDatabase } from '../../support/ledger/counted-database.ts';
import { testHead, testMilestone } from '../../support/ledger/test-head.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { nft } from '../../support/payloads/outputs.ts';

vi.setConfig({ testTimeout: 300_000 });

const NFT = 'a5'.repeat(32);
const ZERO = '0'.repeat(64);
const MILESTONES = 2 * MAX_HISTORY;

/** The NFT's output that a milestone creates. */
const outputAt = (milestone: number) => `${milestone.toString(16).padStart(64, '0')}0000`;

const contents = writeOutputBytes(
  outputBytes(nft(keyPair('owner'), { nftId: Uint8Array.fromHex(NFT) })),
);

function spentRow(id: string, chain: string | null, created: number, made: string): SpentRow {
  const cells = [id, ZERO, created, created, made];
  return [id, contents, chain, ZERO, created, created, made, rowSum(cells)];
}

/** A ledger in which each milestone moves the NFT, and spends so many other outputs of its size. */
async function movedLedger(others: number): Promise<D1Database> {
  const db = env.LEDGER;
  const { parameters } = new SyntheticNetwork().genesis;
  for (const table of ['head', 'milestone', 'milestone_part', 'nft', 'output', 'parameters'])
    await db.prepare(`DELETE FROM ${table}`).run();
  const option = { targetMilestoneIndex: 0, protocolVersion: 2 };
  await db.batch([
    insertHead(db, testHead('g', 0, MILESTONES)),
    insertMilestone(db, testMilestone(0, 0)),
    insertParameters(db, {
      type: 1,
      ...option,
      parameters: encode(protocolParameters, parameters),
    }),
  ]);
  for (let index = 1; index <= MILESTONES; index++) {
    const before = spentRow(outputAt(index - 1), NFT, index - 1, outputAt(index));
    const rows = Array.from({ length: others }, (_, i) =>
      spentRow(`${index}${i}`.padEnd(64, 'e').concat('0000'), null, 0, `f${index}`.padEnd(68, '0')),
    );
    // in the middle
    rows.splice(others >> 1, 0, before);
    const cells = [index * PARTS, '[]', ''];
    await db.batch([
      insertMilestone(db, testMilestone(index, index)),
      db
        .prepare(
          'INSERT INTO milestone_part (key, packs, blocks, sum, spent) VALUES (?, ?, ?, ?, ?)',
        )
        .bind(...cells, rowSum(cells), JSON.stringify(rows)),
    ]);
  }
  const last = [outputAt(MILESTONES), ZERO, MILESTONES, MILESTONES] as const;
  await db.batch([
    db
      .prepare(
        'INSERT INTO output (id, block, created, created_time, sum, bytes, chain) VALUES (?, ?, ?, ?, ?, ?, ?)',
      )
      .bind(...last, rowSum(last), contents, NFT),
    db.prepare('INSERT INTO nft VALUES (?, ?, ?)').bind(NFT, last[0], MILESTONES),
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
