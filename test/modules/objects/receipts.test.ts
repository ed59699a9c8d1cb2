/** Receipts are never pruned: there may be more of them than an isolate has memory for. */
import { expect, it } from 'vitest';
import { rowSum } from '../../../src/ledger/core/row-sum.ts';
import { readReceipts } from '../../../src/modules/objects/routes/receipts.ts';
import { toBase64 } from '../../../src/stardust/encoding/base64.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { receiptOption } from '../../../src/stardust/wire/milestone.ts';
import { startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const { milestones } = recordedNetwork('network-a');
const { receipt } = milestones.find((milestone) => milestone.receipt !== undefined)!;
const [fund] = receipt!.funds;

/** As many as a receipt has at most. */
const funds = Array.from({ length: 127 }, (_, i) => ({
  ...fund!,
  tailTransactionHash: new Uint8Array(49).fill(i),
}));
const bytes = toBase64(encode(receiptOption, { ...receipt!, funds }));

it('are all told up to 4 MB of them, and beyond those of one milestone', async () => {
  const db = await openMemory();
  await startNew(db, 'receipts');
  const insert = async (milestone: number) => {
    const cells = [milestone % 2, milestone, bytes];
    const sql = 'INSERT INTO receipt (migrated_at, milestone, bytes, sum) VALUES (?1, ?2, ?3, ?4)';
    await db
      .prepare(sql)
      .bind(...cells, rowSum(cells))
      .run();
  };
  const most = Math.floor(4_000_000 / bytes.length);
  for (let milestone = 1; milestone <= most; milestone++) await insert(milestone);
  const all = await readReceipts(db);
  expect(all).toMatchObject({ receipts: { length: most } });
  await insert(most + 1);
  expect(await readReceipts(db)).toBe('too-many');
  expect(await readReceipts(db, most % 2)).toMatchObject({
    receipts: { length: Math.ceil(most / 2) },
  });
});
