/** Rows that a damaged disk has lost, where no sum of the others tells it. */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { rowSum } from '../../../src/ledger/core/row-sum.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { disturbed, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { nftLives } from '../../support/network/nft-lives.ts';

const LAST = 12;
const network = nftLives('vanished rows', 18);

async function followed() {
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), LAST);
  return db;
}

it.each([8, LAST])('of milestone %s: the scrub tells', async (index) => {
  const db = await followed();
  while (!(await scrub(db)));
  await db.prepare('DELETE FROM milestone WHERE idx = ?1').bind(index).run();
  const round = async () => {
    while (!(await scrub(db)));
  };
  await expect(round()).rejects.toThrow('rows of the table milestone are damaged');
});

it('with what a milestone spent: an output of it is not called unknown', async () => {
  const db = await followed();
  const sql = 'SELECT key, spent FROM milestone_part WHERE json_array_length(spent) >= 2';
  const { key, spent } = (await db.prepare(sql).first<{ key: number; spent: string }>())!;
  const [first, ...others] = JSON.parse(spent) as [string][];
  const keep = 'UPDATE milestone_part SET spent = ?1 WHERE key = ?2';
  await db
    .prepare(keep)
    .bind(JSON.stringify([first]), key)
    .run();
  // as a milestone has it that spends much
  const insert =
    'INSERT INTO milestone_part (key, packs, blocks, spent, sum) VALUES (?1, ?2, ?3, ?4, ?5)';
  const cells = [key + 1, '[]', ''] as const;
  await db
    .prepare(insert)
    .bind(...cells, JSON.stringify(others), rowSum([...cells]))
    .run();
  const [id] = others[0]!;
  expect((await readOutput(db, id))?.spent).toBeDefined();
  await db
    .prepare('DELETE FROM milestone_part WHERE key = ?1')
    .bind(key + 1)
    .run();
  await expect(readOutput(db, id)).rejects.toThrow(LedgerDamaged);
});

it('of changes of NFTs: an import that comes meanwhile is not called damaged', async () => {
  const db = await followed();
  await db.prepare("UPDATE nft_change SET nfts = '[]' WHERE milestone < 10").run();
  let isReplaced = false;
  const beside = disturbed(
    db,
    async () => {},
    async (sql) => {
      if (isReplaced || !sql.includes('DELETE FROM milestone')) return;
      isReplaced = true;
      await startLedger(db, network, LAST);
    },
  );
  const { generation } = (await readHead(db))!;
  await expect(prune(beside, 2, { generation })).rejects.toThrow(LedgerDamaged);
  expect(isReplaced).toBe(true);
  expect(await readHead(db)).toMatchObject({ ledger: LAST });
});
