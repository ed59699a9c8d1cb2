/** A milestone may burn 100,000 NFTs: what is read of each burn is read by transaction. */
import { expect, it } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { carryPast } from '../../../src/modules/histories/carry-past.ts';
import { disturbed, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic, nft } from '../../support/payloads/outputs.ts';

const BURNED = 100;

/** Statements of a prune behind so many transactions that burn NFTs. */
async function countStatements(transactions: number): Promise<number> {
  const db = await openMemory();
  const network = new SyntheticNetwork({
    seed: 'burns',
    coins: (account) => [
      ...Array.from({ length: BURNED * transactions }, () => nft(account(0))),
      basic(account(1), { amount: 1_000_000_000n }),
    ],
  });
  network.milestone();
  const spends = network.genesisCoins.map((coin) => network.spendOf(coin));
  for (let i = 0; i < transactions; i++) {
    const own = spends.slice(BURNED * i, BURNED * (i + 1));
    const amount = own.reduce((sum, { coin }) => sum + coin.output.amount, 0n);
    network.attachTransaction(network.transaction(own, [basic(own[0]!.by, { amount })]));
  }
  for (let i = 0; i < 4; i++) network.milestone();
  await followTo(await startLedger(db, network, 0), 5);
  let statements = 0;
  const counting: Database = disturbed(db, async () => {
    statements++;
  });
  for (let i = 0; i < 2; i++) await prune(counting, 0, { carry: carryPast });
  const burned = 'SELECT count(*) AS n FROM nft_past WHERE burned_time IS NOT NULL';
  expect(await db.prepare(burned).first('n')).toBe(BURNED * transactions);
  return statements;
}

it('a prune takes as many statements for 1,600 burns as for 400', async () => {
  expect(await countStatements(16)).toBe(await countStatements(4));
});
