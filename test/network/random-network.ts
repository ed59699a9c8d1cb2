/**
 * Networks in which everything happens: payments, NFTs and aliases through their lives, conflicts of every kind that transactions.ts can make,
 * reattachments, producers that come late, time conditions at the very second, and odd milestone blocks.
 */
import { fromHex } from '../../src/stardust/bytes.ts';
import { nftIdOf } from '../../src/stardust/ids.ts';
import { type AliasOutput, type NftOutput, OutputType } from '../../src/stardust/output.ts';
import { blockAround } from './blocks.ts';
import type { KeyPair } from './keys.ts';
import { extraSignature, fewerSignatures, forgedSignature } from './milestones.ts';
import { alias, basic, nft } from './outputs.ts';
import { SyntheticNetwork, type SyntheticOptions } from './synthetic.ts';
import { aliasIdOf, type Coin, coin, type MadeTransaction, type Spend } from './transactions.ts';

export interface RandomNetworkOptions extends SyntheticOptions {
  /** Default: 12. */
  milestones?: number;
  /** Blocks before each milestone, without its own. Default: 30. */
  blocks?: number;
}

export function randomNetwork(options: RandomNetworkOptions = {}): SyntheticNetwork {
  const { milestones = 12, blocks = 30 } = options;
  const network = new SyntheticNetwork(options);
  const life = new Life(network);
  network.milestone();
  for (let i = 1; i < milestones; i++) {
    for (let done = 0; done < blocks; done++) life.step();
    network.milestone();
  }
  return network;
}

const ACCOUNTS = 16;
const CHAIN_DEPOSIT = 1_000_000n;

/** What may happen, and how often. */
const WEIGHTS: Record<Event, number> = {
  note: 20,
  nothing: 2,
  pay: 25,
  mint: 6,
  moveNft: 5,
  burnNft: 3,
  createAlias: 4,
  stepAlias: 5,
  governAlias: 3,
  destroyAlias: 2,
  spendTwice: 4,
  spoil: 6,
  unbalance: 2,
  useUnknown: 2,
  breakChain: 3,
  reattach: 3,
  childFirst: 3,
  lock: 3,
  expire: 3,
  useTimed: 6,
  referOld: 2,
  milestoneAgain: 3,
};

type Event =
  | 'note' | 'nothing' | 'pay' | 'mint' | 'moveNft' | 'burnNft' | 'createAlias' | 'stepAlias' | 'governAlias'
  | 'destroyAlias' | 'spendTwice' | 'spoil' | 'unbalance' | 'useUnknown' | 'breakChain' | 'reattach' | 'childFirst'
  | 'lock' | 'expire' | 'useTimed' | 'referOld' | 'milestoneAgain';

/** The accounts and what they believe to own: they do not wait for milestones, so a conflict drags others after it. */
class Life {
  readonly #network: SyntheticNetwork;
  readonly #coins: Spend[];
  readonly #nfts: Spend[] = [];
  readonly #aliases: Spend[] = [];
  readonly #timed: Coin[] = [];
  readonly #used: Spend[] = [];
  readonly #transactions: MadeTransaction[] = [];
  readonly #events: Event[];

  constructor(network: SyntheticNetwork) {
    this.#network = network;
    this.#coins = network.genesisCoins.map((each, i) => ({ coin: each, by: network.account(i) }));
    this.#events = (Object.entries(WEIGHTS) as [Event, number][]).flatMap(([event, weight]) =>
      new Array<Event>(weight).fill(event),
    );
  }

  /** One event, which attaches one block, or two. */
  step(): void {
    this[`_${this.#network.random.pick(this.#events)}`]();
  }
}
