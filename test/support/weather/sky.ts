/**
 * What a run is about at one moment: the network, what the feed has to tell of it, the upstreams,
 * two followers on one database, and what answers questions.
 */
import { readMilestone } from '../network/blocks.ts';
import { lastIndex, ZERO_ID } from '../network/network-model.ts';
import { Random } from '../network/random.ts';
import { SyntheticNetwork } from '../network/synthetic-network.ts';
import type { MadeTransaction, Spend } from '../network/transactions.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { basic } from '../payloads/outputs.ts';
import { DisturbedDatabase, type Fault } from './disturbed-database.ts';
import {
  BLOCKS,
  CONFIRMED_MILESTONE,
  type Counters,
  type Database,
  Follower,
  MILESTONES,
  openLedger,
} from './edge.ts';
import { Oracle } from './truth.ts';
import type { Turns } from './turns.ts';
import { type Lie, WeatherNode } from './upstreams.ts';

/** What is fixed for a run. */
export interface Setting {
  /** Milestones before the snapshot, 1 or more. */
  before: number;
  /** Where in the list of upstreams the one is that lies, and about what at first. */
  liar?: { place: number; lies: readonly Lie[] };
  counters: Counters;
  /** Heap for fetched blocks. */
  maxPoolHeapBytes?: number;
  /** Milestones that are kept; IDs are four times as long. */
  retention: number;
  /** How often calls of followers' databases fail. */
  faultEvery?: number;
  /** As a protocol parameter: blocks older than this and ten milestones are dropped. */
  belowMaxDepth: number;
  /** Whether the last proposal must be answered by what is stored alone. */
  needsStored: boolean;
  /**
   * A mistake that the run must find: a wrong root, a lost output, a milestone that was signed and
   * is nowhere.
   */
  planted?: 'root' | 'output' | 'milestone';
}

export interface Message {
  topic: string;
  payload: Uint8Array;
}

/** A follower, and how much of the feed it was sent. */
export interface Seat {
  name: string;
  follower: Follower;
  /** Of its database. */
  fault: (() => Fault | undefined) | undefined;
  sent: number;
}

export const COINS = 6;
const AMOUNT = 1_000_000_000_000n;

/** Honest blocks have some of the newest so many as parents. */
const WINDOW = 8;

export class Sky {
  readonly network: SyntheticNetwork;
  readonly setting: Setting;
  readonly oracle: Oracle;
  readonly nodes: WeatherNode[] = [];
  readonly honest: WeatherNode[] = [];
  readonly liar: WeatherNode | undefined;
  readonly seats: Seat[] = [];
  readonly db: Database;
  readonly turns: Turns;
  /** Of followers' databases, where nothing else is said. */
  fault: (() => Fault | undefined) | undefined;
  /** Whether an import is at work. */
  isImporting = false;
  /** Keys that may not sign milestones. */
  readonly strangers: readonly KeyPair[];
  /** What honest nodes build on, in the order in which it came; and all else. */
  readonly main: string[] = [];
  readonly side: string[] = [];
  readonly forged: string[] = [];
  /** Of the forged ones those with the ID of a real milestone, and its index. */
  readonly twins: { id: string; index: number }[] = [];
  /**
   * Blocks that the snapshot's milestone references, not all of which the snapshot names; and those
   * that stand on such or other old ones.
   */
  readonly ancient: readonly string[];
  readonly old: string[] = [];
  /** All that a feed has to tell, in order. */
  readonly feed: Message[] = [];
  /** What the accounts believe they own, and what they spent before. */
  coins: Spend[] = [];
  readonly spent: Spend[] = [];
  readonly transactions: MadeTransaction[] = [];
  readonly #owners = new Map<string, Spend>();
  #pending: { block: string; made: MadeTransaction }[] = [];

  private constructor(
    network: SyntheticNetwork,
    setting: Setting,
    seed: string,
    { db, ancient, turns }: { db: Database; ancient: readonly string[]; turns: Turns },
  ) {
    this.network = network;
    this.setting = setting;
    this.ancient = ancient;
    this.db = db;
    this.turns = turns;
    this.oracle = new Oracle(network);
    this.strangers = [network.account(COINS), network.account(COINS + 1)];
    for (const [i, coin] of network.genesisCoins.entries())
      this.#owners.set(coin.id.toHex(), { coin, by: network.account(i) });
    const random = new Random(`upstreams of ${seed}`);
    this.honest = ['first', 'second'].map(
      (name) => new WeatherNode(network, name, { random, turns }),
    );
    this.nodes = [...this.honest];
    if (setting.liar !== undefined) {
      this.liar = new WeatherNode(network, 'liar', { random, turns });
      this.liar.lies = new Set(setting.liar.lies);
      this.nodes.splice(setting.liar.place, 0, this.liar);
    }
    for (const name of ['A', 'B']) {
      const seat: Seat = { name, follower: undefined!, fault: undefined, sent: 0 };
      this.restart(seat);
      this.seats.push(seat);
    }
  }

  /** A follower with nothing in memory. */
  restart(seat: Seat): void {
    const { network, setting, upstreams } = this;
    const fault = () => {
      const due = (seat.fault ?? this.fault)?.();
      if (due?.lasting) this.restart(seat);
      return due;
    };
    seat.follower = new Follower({
      db: this.disturbed(fault),
      keys: network.keys,
      upstreams,
      maxPoolHeapBytes: setting.maxPoolHeapBytes,
      retention: setting.retention,
    });
  }

  /** The database, as one that takes turns with others sees it. */
  disturbed(fault?: () => Fault | undefined): DisturbedDatabase {
    return new DisturbedDatabase(this.db, { turns: this.turns, ...(fault && { fault }) });
  }

  static async open(seed: string, setting: Setting, turns: Turns): Promise<Sky> {
    const network = new SyntheticNetwork({
      // the same keys in all runs: what was verified once need not be again
      seed: 'weather',
      coins: (account) =>
        Array.from({ length: COINS }, (_, i) => basic(account(i), { amount: AMOUNT })),
      parameters: { belowMaxDepth: setting.belowMaxDepth },
    });
    network.milestone();
    let ancient: string[] = [];
    let above = network.milestoneBlock!;
    for (let i = 1; i < setting.before; i++) {
      const chain = [above];
      for (let length = 0; length < 3; length++) chain.push(network.note([chain.at(-1)!]));
      network.milestone({ parents: [network.milestoneBlock!, chain.at(-1)!] });
      above = network.milestoneBlock!;
      // the snapshot names the parents of open blocks, of a chain the first and the last
      if (i + 1 === setting.before) above = network.note([chain[1]!]);
      ancient = chain;
    }
    const name = `${setting.before} ${setting.belowMaxDepth}`;
    const at = { name, index: lastIndex(network) };
    const db = await openLedger(network, at, setting.counters);
    const sky = new Sky(network, setting, seed, { db, ancient, turns });
    for (const id of new Set([network.milestoneBlock!, above])) sky.came(id);
    sky.takeStock();
    return sky;
  }

  get upstreams() {
    return this.nodes.map(({ upstream }) => upstream);
  }

  /** The newest blocks that honest nodes build on. */
  get window(): string[] {
    return this.main.slice(-WINDOW);
  }

  /** Parents for an honest block. */
  parents(random: Random): string[] {
    return random.sample(this.window, random.between(1, 3));
  }

  /** A new block: for whom the feed is, and where it belongs. */
  came(id: string, where: 'main' | 'side' = 'main'): string {
    if (this.main.includes(id) || this.side.includes(id)) return id;
    this[where].push(id);
    const { bytes, parents } = this.network.blocks.get(id)!;
    this.feed.push({ topic: BLOCKS, payload: bytes });
    const payload = bytes.subarray(2 + 32 * parents.length + 4, -8);
    // the plug-in pushes the payload of every block that carries a milestone, signed or not
    if (payload[0] === 7 && payload.length > 4)
      this.feed.push({ topic: MILESTONES, payload: payload.slice() });
    return id;
  }

  attachForged(payload: Uint8Array, parents: readonly string[], where: 'main' | 'side'): string {
    const id = this.network.attachMilestone(payload, parents);
    this.forged.push(id);
    this.liar?.forged.push(payload);
    return this.came(id, where);
  }

  attachTransaction(
    made: MadeTransaction,
    owners: readonly KeyPair[],
    parents: readonly string[],
    where: 'main' | 'side' = 'main',
  ): string {
    const block = this.network.attachTransaction(made, parents);
    this.transactions.push(made);
    this.#pending.push({ block, made });
    for (const [i, coin] of made.coins.entries())
      this.#owners.set(coin.id.toHex(), { coin, by: owners[i]! });
    return this.came(block, where);
  }

  /** Issues the next milestone over these parents and the block of the one before. */
  milestone(parents: readonly string[]): void {
    const { network } = this;
    const all = [...new Set([network.milestoneBlock ?? ZERO_ID, ...parents])].slice(0, 8);
    const { payload, index } = network.milestone({ parents: all });
    this.came(network.milestoneBlock!);
    const json = new TextEncoder().encode(
      JSON.stringify({ index, timestamp: readMilestone(payload).timestamp }),
    );
    this.feed.push({ topic: CONFIRMED_MILESTONE, payload: json });
    this.takeStock();
  }

  /** What accounts own by the ledger and by what is not referenced yet. */
  takeStock(): void {
    this.#pending = this.#pending.filter(
      ({ block }) => this.network.blocks.get(block)!.referenced === undefined,
    );
    const consumed = new Set(this.#pending.flatMap(({ made }) => made.inputs));
    const made = this.#pending.flatMap((each) => each.made.coins.map(({ id }) => id.toHex()));
    const unspent = [...this.network.outputs].filter(([, { spent }]) => spent === undefined);
    const ids = new Set([...unspent.map(([id]) => id.slice(2)), ...made]);
    this.coins = [...ids].flatMap((id) =>
      consumed.has(`0x${id}`) ? [] : (this.#owners.get(id) ?? []),
    );
  }

  /** Blocks that a coordinator may choose for its next milestone, newest first. */
  get tips(): string[] {
    const open = this.main.filter((id) => this.network.blocks.get(id)!.referenced === undefined);
    const approved = new Set(open.flatMap((id) => this.network.blocks.get(id)!.parents));
    return open.filter((id) => !approved.has(id)).reverse();
  }
}
