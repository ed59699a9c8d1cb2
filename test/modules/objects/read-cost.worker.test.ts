/** What objects cost by their IDs, as D1 counts rows: no more than bench/tools/stranger.ts reckons. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { readNftOutputs } from '../../../src/ledger/read/nft-outputs.ts';
import { readBlock, readIncludedBlock } from '../../../src/ledger/read/stored-block.ts';
import { readReceipts } from '../../../src/modules/objects/routes/receipts.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { countedDatabase } from '../../support/ledger/counted-database.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

it('blocks of packs of hundreds, and a hundred outputs', async () => {
  const network = randomNetwork({ seed: 'cost', milestones: 3, events: 250 });
  const first = network.genesis.index;
  await followTo(await startLedger(env.LEDGER, network, first), first + 3);
  const { db, counts } = countedDatabase(env.LEDGER);
  const rowsOf = async (read: () => Promise<unknown>) => {
    const before = counts.rowsRead;
    expect(await read()).toBeTruthy();
    return counts.rowsRead - before;
  };
  const blocks = [...network.blocks.values()].slice(-90, -30);
  const transactions = blocks.flatMap(({ bytes }) => {
    const result = parseBlock(bytes);
    return result.ok && result.parsed.transaction ? [result.parsed] : [];
  });
  const ids = blocks.flatMap(({ bytes }) => {
    const result = parseBlock(bytes);
    return result.ok ? [result.parsed.id.toHex()] : [];
  });
  const byId = [];
  for (const id of ids) byId.push(await rowsOf(() => readBlock(db, id)));
  expect(Math.max(...byId)).toBeGreaterThan(10);
  expect(Math.max(...byId)).toBeLessThan(50);
  const included = [];
  for (const { transaction } of transactions) {
    const before = counts.rowsRead;
    const found = await readIncludedBlock(db, transaction!.id.toHex());
    if (found !== undefined) included.push(counts.rowsRead - before);
  }
  expect(Math.max(...included)).toBeLessThan(100);
  const outputs = [...network.outputs.values()].map(({ outputId }) => outputId.toHex());
  expect(await rowsOf(() => readNftOutputs(db, outputs.slice(0, 100)))).toBeLessThan(810);
});

it('receipts: three rows of each, up to more than an answer takes; of one milestone its own', async () => {
  await env.LEDGER.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO receipt (migrated_at, milestone, bytes, sum) SELECT i, i, printf('%.*c', 200, 'A'), 0 FROM n",
  );
  const { db, counts } = countedDatabase(env.LEDGER);
  expect(await readReceipts(db)).toBe('too-many');
  expect(counts.rowsRead).toBeGreaterThan(50_000);
  expect(counts.rowsRead).toBeLessThan(75_010);
  counts.rowsRead = 0;
  expect(await readReceipts(db, 50_000)).toMatchObject({ receipts: [] });
  expect(counts.rowsRead).toBeLessThan(10);
});
