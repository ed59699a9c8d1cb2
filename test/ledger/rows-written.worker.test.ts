/**
 * How many rows are written, which is what D1 bills (docs/storage.md#what-decides): pruning, the
 * turns of the index of IDs, and the publisher's row included.
 */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { followOnce } from '../../src/follower/pass.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { countedDatabase } from '../support/ledger/counted-database.ts';
import { ledgerIndex, startLedger, takeNext } from '../support/ledger/ledger-harness.ts';
import { coneOf } from '../support/network/network-model.ts';
import { basic, nft } from '../support/network/outputs.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import type { Coin } from '../support/network/transactions.ts';

vi.setConfig({ testTimeout: 300_000 });

const db = env.LEDGER;

/** Of one milestone: blocks, transactions of two inputs and two outputs, those that move an NFT. */
const BLOCKS = 60;
const TRANSACTIONS = 10;
const NFTS = 5;
const PASSES = 5;

/** A wallet for each transaction of a milestone: two coins, or an NFT and a coin. */
class Wallets {
  readonly network: SyntheticNetwork;
  readonly #coins: Coin[][];

  constructor(seed: string) {
    this.network = new SyntheticNetwork({
      seed,
      coins: (account) =>
        Array.from({ length: TRANSACTIONS }, (_, i) => [
          i < NFTS
            ? nft(account(i), COIN_AMOUNT, new Uint8Array(32).fill(i + 1))
            : basic(account(i), COIN_AMOUNT),
          basic(account(i), COIN_AMOUNT),
        ]).flat(),
    });
    const { genesisCoins } = this.network;
    this.#coins = Array.from({ length: TRANSACTIONS }, (_, i) =>
      genesisCoins.slice(2 * i, 2 * i + 2),
    );
  }

  /** Both of a wallet's outputs go into two new ones of the same kinds. */
  spend(i: number, parent: string): string {
    const by = this.network.account(i);
    const id = i < NFTS ? new Uint8Array(32).fill(i + 1) : undefined;
    const first = id ? nft(by, COIN_AMOUNT, id) : basic(by, COIN_AMOUNT);
    const spends = this.#coins[i]!.map((coin) => ({ coin, by }));
    const made = this.network.transaction(spends, [first, basic(by, COIN_AMOUNT)]);
    this.#coins[i] = [...made.coins];
    return this.network.attachTransaction(made, [parent]);
  }
}

it('at most 200 rows a milestone of 60 blocks, 10 transactions and 5 NFTs that change', async () => {
  const retention = 5;
  const [warmUp, counted] = [30, 20];
  const wallets = new Wallets('rows written');
  const { network } = wallets;
  network.milestone();
  const rig = await startLedger(db, network, 0, { retention });
  const { db: billed, counts } = countedDatabase(db);
  let clock = 1_700_000_000_000;
  const follow = async () => {
    clock += 1000;
    await followOnce(
      {
        ...rig.following,
        db: billed,
        publish: async () =>
          void (await publish(billed, env.NFT_INDEX, () => clock, {
            operations: 300,
            statements: 200,
          })),
      },
      { deadline: Date.now() + 20_000, milestones: 12 },
    );
  };
  rig.node.confirm(1);
  await follow();
  for (let milestone = 2; milestone <= 1 + warmUp + counted; milestone++) {
    if (milestone === 2 + warmUp) counts.rowsWritten = 0;
    // the block of the milestone before is one of them
    let last = network.milestoneBlock!;
    for (let block = 1; block < BLOCKS; block++) {
      last = block <= TRANSACTIONS ? wallets.spend(block - 1, last) : network.note([last]);
      if (block % (BLOCKS / PASSES) === 0) await follow();
    }
    network.milestone({ parents: [last] });
    rig.node.confirm(milestone);
    await follow();
    expect(await ledgerIndex(db)).toBe(milestone);
  }
  const referenced = coneOf(network, 1 + warmUp + counted);
  expect(referenced.length).toBe(BLOCKS);
  expect(referenced.filter(({ referenced: by }) => by!.state === 'included')).toHaveLength(
    TRANSACTIONS,
  );
  const changes = await db
    .prepare('SELECT count(*) AS n FROM nft WHERE changed = ?1')
    .bind(1 + warmUp + counted)
    .first('n');
  expect(changes).toBe(NFTS);
  const rows = counts.rowsWritten / counted;
  console.log(`${rows} rows written a milestone`);
  expect(rows).toBeLessThanOrEqual(200);
  expect(rows).toBeGreaterThan(100);
});

it('at most 3,000 rows for a milestone of 1,000 transfers in chains', async () => {
  const network = new SyntheticNetwork({ seed: 'chains' });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await takeNext(rig, db);
  const coins = [...network.genesisCoins];
  let last = network.milestoneBlock!;
  for (let i = 0; i < 1000; i++) {
    const wallet = i % coins.length;
    const by = network.account(wallet);
    const made = network.transaction([{ coin: coins[wallet]!, by }], [basic(by, COIN_AMOUNT)]);
    coins[wallet] = made.coins[0]!;
    last = network.attachTransaction(made, [last]);
  }
  network.milestone({ parents: [network.milestoneBlock!, last] });
  const { db: billed, counts } = countedDatabase(db);
  await takeNext(rig, billed);
  expect(await ledgerIndex(db)).toBe(2);
  console.log(`${counts.rowsWritten} rows written`);
  expect(counts.rowsWritten).toBeLessThanOrEqual(3000);
  expect(counts.rowsWritten).toBeGreaterThan(2000);
});
