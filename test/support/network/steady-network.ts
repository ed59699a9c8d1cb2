/**
 * A network of which each milestone is as the one before: so many blocks, so many of them with a
 * transaction of two inputs and two outputs, and so many of those that move an NFT.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { basic, nft } from '../payloads/outputs.ts';
import { COIN_AMOUNT, SyntheticNetwork } from './synthetic-network.ts';
import type { Coin } from './transactions.ts';

/** What one milestone brings. */
export interface MilestoneRate {
  /** The previous milestone's block is one of them. */
  blocks: number;
  /** Fewer than the blocks. */
  transactions: number;
  /** Of the transactions. */
  nfts: number;
}

/** Two coins, or an NFT and a coin, of one account. */
interface Wallet {
  account: number;
  /** 32 bytes. */
  nftId?: Uint8Array;
  coins: readonly Coin[];
}

/**
 * The network, and wallets that take turns at paying: so that no NFT moves twice within
 * `turns` milestones.
 */
export class SteadyNetwork {
  readonly network: SyntheticNetwork;
  readonly #rate: MilestoneRate;
  readonly #turns: number;
  /** `nfts` for each turn with an NFT, then those without, which pay in each milestone. */
  readonly #wallets: Wallet[];

  constructor(seed: string, rate: MilestoneRate, turns = 1) {
    const { transactions, nfts } = rate;
    this.#rate = rate;
    this.#turns = turns;
    const withNft = nfts * turns;
    const ids = Array.from({ length: withNft + transactions - nfts }, (_, i) =>
      i < withNft ? numberedId(i + 1) : undefined,
    );
    this.network = new SyntheticNetwork({
      seed,
      coins: (account) =>
        ids.flatMap((id, i) => [
          firstOf(account(i), id),
          basic(account(i), { amount: COIN_AMOUNT }),
        ]),
    });
    const { genesisCoins } = this.network;
    this.#wallets = ids.map((nftId, account) => ({
      account,
      ...(nftId && { nftId }),
      coins: genesisCoins.slice(2 * account, 2 * account + 2),
    }));
  }

  /**
   * Makes the blocks of the next milestone, each on the one before, and then the milestone.
   *
   * @param afterBlock called with the number of blocks that are there, the first milestone's block
   *   counted
   */
  async makeMilestone(afterBlock: (blocks: number) => Promise<void>): Promise<void> {
    const { network } = this;
    const { blocks, transactions } = this.#rate;
    const turn = network.nextIndex % this.#turns;
    let last = network.milestoneBlock!;
    for (let block = 1; block < blocks; block++) {
      last = block <= transactions ? this.#pay(turn, block - 1, last) : network.note([last]);
      await afterBlock(block + 1);
    }
    network.milestone({ parents: [last] });
  }

  /** Both of a wallet's outputs go into two new ones of the same kinds. */
  #pay(turn: number, number: number, parent: string): string {
    const { nfts } = this.#rate;
    const i = number < nfts ? turn * nfts + number : nfts * (this.#turns - 1) + number;
    const { account, nftId, coins } = this.#wallets[i]!;
    const by = this.network.account(account);
    const first = firstOf(by, nftId);
    const made = this.network.transaction(
      coins.map((coin) => ({ coin, by })),
      [first, basic(by, { amount: COIN_AMOUNT })],
    );
    this.#wallets[i] = { account, ...(nftId && { nftId }), coins: made.coins };
    return this.network.attachTransaction(made, [parent]);
  }

  /** Which output has which NFT, once all transactions are applied: hex digits without `0x`. */
  nftOutputs(): Map<string, string> {
    return new Map(
      this.#wallets.flatMap(({ nftId, coins: [first] }) =>
        nftId ? [[toHex(nftId).slice(2), toHex(first!.id).slice(2)] as const] : [],
      ),
    );
  }
}

/** The first output of a wallet. */
function firstOf(owner: KeyPair, nftId: Uint8Array | undefined) {
  const amount = COIN_AMOUNT;
  return nftId ? nft(owner, { amount, nftId }) : basic(owner, { amount });
}

/** IDs that differ in their first digits, as hashes do (PREFIX_LENGTH in recent-changes.ts). */
function numberedId(number: number): Uint8Array {
  const id = new Uint8Array(32);
  new DataView(id.buffer).setUint32(0, number);
  id[31] = 1;
  return id;
}
