/**
 * A network of any length: milestones of given sizes, whose blocks are notes and transfers.
 */

import { SyntheticNetwork } from '../../test/support/network/synthetic-network.ts';
import type { Spend } from '../../test/support/network/transactions.ts';
import { basic } from '../../test/support/payloads/outputs.ts';

export interface BusyOptions {
  /** Blocks of each milestone, the block of the previous milestone included. */
  sizes: readonly number[];
  /** Every n-th block is a transfer, the others are notes. */
  transferEvery: number;
}

/** Accounts that pay each other. */
const ACCOUNTS = 60;

export function busyNetwork({ sizes, transferEvery }: BusyOptions): SyntheticNetwork {
  const network = new SyntheticNetwork({
    seed: 'busy',
    coins: (account) =>
      Array.from({ length: ACCOUNTS }, (_, i) => basic(account(i), { amount: 1_000_000_000n })),
  });
  const spends: Spend[] = network.genesisCoins.map((coin, i) => ({ coin, by: network.account(i) }));
  for (const size of sizes) {
    for (let block = 1; block < size; block++) {
      if (block % transferEvery === 0) pay(network, spends);
      else network.note();
    }
    network.milestone();
  }
  return network;
}

/** The coin that has waited longest goes to an account chosen at random. */
function pay(network: SyntheticNetwork, spends: Spend[]): void {
  const spend = spends.shift()!;
  const by = network.account(network.random.below(ACCOUNTS));
  const made = network.transaction([spend], [basic(by, { amount: spend.coin.output.amount })]);
  network.attachTransaction(made);
  spends.push({ coin: made.coins[0]!, by });
}
