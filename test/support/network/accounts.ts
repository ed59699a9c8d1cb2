/**
 * The accounts of a made-up network and what they own: the state behind random-network.ts.
 */

import { equalBytes } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { type AddressKey, addressKey } from '../../../src/stardust/wire/address.ts';
import { type Output, OutputType, output } from '../../../src/stardust/wire/output.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { basic } from '../payloads/outputs.ts';
import { lastIndex, ledgerAt } from './network-model.ts';
import type { Random } from './random.ts';
import type { SyntheticNetwork } from './synthetic-network.ts';
import { type Coin, coin, type Defect, type MadeTransaction, type Spend } from './transactions.ts';

/**
 * What the accounts believe they own. They do not wait for milestones, so one conflict leads to
 * others.
 */
export interface Life {
  network: SyntheticNetwork;
  random: Random;
  accounts: ReadonlyMap<AddressKey, KeyPair>;
  coins: Spend[];
  nfts: Spend[];
  aliases: { coin: Coin; controller: KeyPair; governor: KeyPair }[];
  /** With those who own the coin at one time or another. */
  timed: { coin: Coin; owners: KeyPair[] }[];
  spent: Spend[];
  transactions: MadeTransaction[];
}

export function newLife(network: SyntheticNetwork): Life {
  const all = Array.from({ length: ACCOUNTS }, (_, i) => network.account(i));
  const accounts = new Map(all.map((each) => [addressKey(each.address), each]));
  const nothing = { coins: [], nfts: [], aliases: [], timed: [], spent: [], transactions: [] };
  return { network, random: network.random, accounts, ...nothing };
}

/**
 * Corrects this by the ledger: inputs of conflicting transactions are available again, their
 * outputs are not.
 */
export function takeStock(life: Life): void {
  const { network, accounts } = life;
  life.coins = [];
  life.nfts = [];
  life.aliases = [];
  for (const { outputId, bytes } of ledgerAt(network, lastIndex(network))) {
    const owned = coin(outputId, decode(output, bytes));
    const [first, second] = owned.output.unlockConditions.map((condition) =>
      'address' in condition ? accounts.get(addressKey(condition.address)) : undefined,
    );
    const { type, unlockConditions, nativeTokens, features } = owned.output;
    if (first === undefined || nativeTokens.length > 0 || features.length > 0) continue;
    if (type === OutputType.Alias && second !== undefined)
      life.aliases.push({ coin: owned, controller: first, governor: second });
    if (unlockConditions.length > 1) continue;
    if (type === OutputType.Nft) life.nfts.push({ coin: owned, by: first });
    if (type === OutputType.Basic) life.coins.push({ coin: owned, by: first });
  }
}

export const ACCOUNTS = 16;
export const LEAST_AMOUNT = 1_000_000n;

export function someone({ network, random }: Life): KeyPair {
  return network.account(random.below(ACCOUNTS));
}

/** Removes an element at random. */
export function take<T>({ random }: Life, values: T[]): T | undefined {
  return values.length === 0 ? undefined : values.splice(random.below(values.length), 1)[0];
}

/** Makes a transaction, attaches it, and hands the basic outputs to their new owners. */
export function send(
  life: Life,
  spends: Spend[],
  outputs: [Output, KeyPair][],
  defect?: Defect,
): MadeTransaction {
  const made = life.network.transaction(
    spends,
    outputs.map(([output]) => output),
    defect,
  );
  life.network.attachTransaction(made);
  life.transactions.push(made);
  made.coins.forEach((each, i) => {
    // the same transaction may have been made before
    const known = life.coins.some(({ coin }) => equalBytes(coin.id, each.id));
    if (each.output.type === OutputType.Basic && !known)
      life.coins.push({ coin: each, by: outputs[i]![1] });
  });
  return made;
}

export function basicTo(owner: KeyPair, amount: bigint): [Output, KeyPair] {
  return [basic(owner, { amount }), owner];
}

/** One output, and what is left of the coin for its owner. */
export function fund(life: Life, make: (amount: bigint) => Output): MadeTransaction | undefined {
  const spend = take(life, life.coins);
  if (spend === undefined) return undefined;
  life.spent.push(spend);
  const { amount } = spend.coin.output;
  if (amount < 2n * LEAST_AMOUNT) return send(life, [spend], [[make(amount), spend.by]]);
  return send(
    life,
    [spend],
    [[make(LEAST_AMOUNT), spend.by], basicTo(spend.by, amount - LEAST_AMOUNT)],
  );
}
