/**
 * A network made block by block with test keys: accounts that pay, and a coordinator that signs.
 * The same seed makes the same network.
 *
 * It is a {@link Network} at every moment, so the double of a node can serve it while it grows.
 * Verdicts are those of transactions.ts.
 */

import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import { blockId, networkId, outputId } from '../../../src/stardust/wire/ids.ts';
import type {
  MigratedFunds,
  ProtocolParametersOption,
  ReceiptOption,
} from '../../../src/stardust/wire/milestone.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import type { ProtocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { migratedOutputs } from '../../../src/stardust/wire/receipt.ts';
import type { TaggedData } from '../../../src/stardust/wire/transaction.ts';
import { findCondition, UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import { type KeyPair, keyPair } from '../payloads/keys.ts';
import { basic } from '../payloads/outputs.ts';
import { blockAround, networkMilestone, readMilestone, taggedDataPayload } from './blocks.ts';
import { type Decided, decide, pastCone, rootsOf } from './known-verdicts.ts';
import { carries, signMilestone } from './milestones.ts';
import {
  type Genesis,
  lastIndex,
  type Network,
  type NetworkBlock,
  type NetworkMilestone,
  type NetworkOutput,
  parametersAt,
  treasuryAt,
  type WhiteFlagCase,
  ZERO_ID,
} from './network-model.ts';
import { Random } from './random.ts';
import {
  type Coin,
  coin,
  type Defect,
  type MadeTransaction,
  makeTransaction,
  type Spend,
} from './transactions.ts';

export interface SyntheticOptions {
  seed?: string;
  genesisIndex?: number;
  genesisTimestamp?: number;
  /**
   * What the ledger begins with; default: {@link DEFAULT_COINS} basic outputs, the i-th owned by
   * `account(i)`.
   */
  coins?: (account: (number: number) => KeyPair) => Output[];
  treasury?: bigint;
  parameters?: Partial<ProtocolParameters>;
  /** How many keys may sign milestones, and how many must. */
  keyCount?: number;
  threshold?: number;
  /** The first and the last milestone of each key (M-4); default: all. */
  ranges?: readonly (readonly [number, number])[];
}

export interface MilestoneOptions {
  /** Default: some tips and the previous milestone's block. */
  parents?: readonly string[];
  /** Default: five seconds after the previous one. */
  timestamp?: number;
  metadata?: Uint8Array;
  announce?: ProtocolParametersOption;
  /** What is paid out of the treasury. */
  migrate?: readonly MigratedFunds[];
  /** Default: all that may. */
  signers?: readonly KeyPair[];
}

const DEFAULT_COINS = 16;
export const COIN_AMOUNT = 1_000_000_000n;
const MILESTONE_INTERVAL = 5;

/** Blocks have two of the last so many blocks as parents. */
const WINDOW = 8;

export class SyntheticNetwork implements Network {
  readonly name: string;
  readonly genesis: Genesis;
  readonly keys: MilestoneKeys;
  readonly milestones: NetworkMilestone[] = [];
  readonly blocks = new Map<string, NetworkBlock>();
  readonly outputs = new Map<string, NetworkOutput>();
  /** Whoever tells a story gives each of its entries numbers of its own. */
  random: Random;
  /** The coordinator's keys. */
  readonly signers: readonly KeyPair[];
  readonly genesisCoins: readonly Coin[];
  readonly #accounts = new Map<number, KeyPair>();
  /** By their blocks. */
  readonly transactions = new Map<string, MadeTransaction>();
  /** The block of the transaction that makes an output. */
  readonly #producers = new Map<string, string>();
  readonly #tips = new Set<string>();
  #window: string[] = [];
  #milestoneBlock: string | undefined;

  constructor(options: SyntheticOptions = {}) {
    const {
      seed = 'synthetic',
      genesisIndex: index = 0,
      genesisTimestamp: timestamp = 1_700_000_000,
    } = options;
    const { treasury = 0n, keyCount = 3, threshold = 2, ranges = [] } = options;
    this.name = seed;
    this.random = new Random(seed);
    this.signers = Array.from({ length: keyCount }, (_, i) =>
      keyPair(`${seed} milestone key ${i}`),
    );
    const publicKeys = this.signers.map(({ publicKey }, i) => {
      const [first, last] = ranges[i] ?? [0, 0];
      return { publicKey, first, last };
    });
    this.keys = { keys: publicKeys, threshold };
    const outputs = options.coins?.((number) => this.account(number)) ?? this.#defaultCoins();
    this.genesisCoins = outputs.map((output, i) => coin(genesisOutputId(seed, i), output));
    for (const { id, bytes } of this.genesisCoins) {
      const booked = { bookedIndex: index, bookedTimestamp: timestamp };
      this.outputs.set(toHex(id), { outputId: id, blockId: new Uint8Array(32), ...booked, bytes });
    }
    const tokenSupply = outputs.reduce((sum, { amount }) => sum + amount, treasury);
    const parameters = { ...DEFAULT_PARAMETERS, tokenSupply, ...options.parameters };
    this.genesis = { index, timestamp, treasury, parameters };
  }

  #defaultCoins(): Output[] {
    return Array.from({ length: DEFAULT_COINS }, (_, i) =>
      basic(this.account(i), { amount: COIN_AMOUNT }),
    );
  }

  account(number: number): KeyPair {
    let found = this.#accounts.get(number);
    if (found === undefined) {
      found = keyPair(`${this.name} account ${number}`);
      this.#accounts.set(number, found);
    }
    return found;
  }

  /** A transaction that is not in any block yet. */
  transaction(
    spends: readonly Spend[],
    outputs: readonly Output[],
    defect?: Defect,
    payload?: TaggedData,
  ): MadeTransaction {
    return makeTransaction(spends, outputs, {
      networkId: networkId(parametersAt(this, lastIndex(this)).parameters.networkName),
      payload,
      ...(defect === undefined ? {} : { defect }),
    });
  }

  /** A transaction that is not in any block yet: its owner gives all of a coin to an account. */
  transfer(coin: Coin, to: number, defect?: Defect): MadeTransaction {
    const output = basic(this.account(to), { amount: coin.output.amount });
    return this.transaction([this.spendOf(coin)], [output], defect);
  }

  /** A coin of an account, signed for by its owner. */
  spendOf(coin: Coin): Spend {
    const owner = findCondition(coin.output, UnlockConditionType.Address)!.address;
    const by = this.#accounts
      .values()
      .find(({ address }) => addressKey(address) === addressKey(owner))!;
    return { coin, by };
  }

  /** The genesis coins, signed for by their owners. */
  get genesisSpends(): Spend[] {
    return this.genesisCoins.map((coin) => this.spendOf(coin));
  }

  /** A block around a payload, or around nothing; returns its ID. */
  attach(payload: Uint8Array | undefined, parents: readonly string[] = this.someParents()): string {
    return this.#add(parents, payload).id;
  }

  /**
   * A block with a transaction, which may have been attached before. Default parents: two of the
   * newest blocks, and those that made its inputs if they are there and not referenced yet, so that
   * producers come first.
   */
  attachTransaction(
    made: MadeTransaction,
    parents: readonly string[] = this.#parentsOf(made),
  ): string {
    const { id } = this.#add(parents, made.payload);
    this.transactions.set(id, made);
    for (const each of made.coins) this.#producers.set(toHex(each.id), id);
    return id;
  }

  #parentsOf({ inputs }: MadeTransaction): string[] {
    const producers = inputs.flatMap((input) => this.#producers.get(input) ?? []);
    const open = producers.filter((id) => this.blocks.get(id)!.referenced === undefined);
    return [...new Set([...open, ...this.someParents()])].slice(0, 8);
  }

  /** A block with tagged data. */
  note(
    parents?: readonly string[],
    data: Uint8Array = this.random.bytes(this.random.between(0, 64)),
  ): string {
    return this.attach(taggedDataPayload(new TextEncoder().encode('note'), data), parents);
  }

  /**
   * A block around a milestone payload, by default with the payload's parents; with the first of
   * them it is one just as well (M-5).
   */
  attachMilestone(payload: Uint8Array, parents?: readonly string[]): string {
    const own = parents ?? readMilestone(payload).parents.map(toHex);
    const block = this.#add(own, payload);
    const sorted = block.parents.map(fromHex);
    if (carries(sorted, payload, this.keys)) block.milestoneIndex = readMilestone(payload).index;
    return block.id;
  }

  #add(parents: readonly string[], payload: Uint8Array | undefined): NetworkBlock {
    for (const parent of parents) {
      if (parent !== ZERO_ID && !this.blocks.has(parent))
        throw new Error(`${this.name} has no block ${parent}`);
    }
    const bytes = blockAround(parents, payload);
    const id = toHex(blockId(bytes));
    const known = this.blocks.get(id);
    if (known !== undefined) return known;
    const block = { id, bytes, parents: [...parents].sort(), visibleFrom: lastIndex(this) };
    this.blocks.set(id, block);
    for (const parent of parents) this.#tips.delete(parent);
    this.#tips.add(id);
    this.#window = [...this.#window, id].slice(-WINDOW);
    return block;
  }

  /** A block on which nobody builds unless told to. */
  setAside(id: string): void {
    this.#tips.delete(id);
    this.#window = this.#window.filter((each) => each !== id);
  }

  /** Two of the newest blocks, or the genesis. */
  someParents(): string[] {
    return this.#window.length === 0 ? [ZERO_ID] : this.random.sample(this.#window, 2);
  }

  /** The newest blocks that are not set aside. */
  get window(): readonly string[] {
    return this.#window;
  }

  /** The block of the last milestone. */
  get milestoneBlock(): string | undefined {
    return this.#milestoneBlock;
  }

  get nextIndex(): number {
    return lastIndex(this) + 1;
  }

  /** Who may sign the milestone with this index. */
  signersAt(index: number): KeyPair[] {
    return this.signers.filter((_, i) => {
      const { first, last } = this.keys.keys[i]!;
      return first <= index && (last === 0 || index <= last);
    });
  }

  /** The default timestamp of the next milestone. */
  get nextTimestamp(): number {
    return (this.milestones.at(-1) ?? this.genesis).timestamp + MILESTONE_INTERVAL;
  }

  /**
   * What a coordinator would ask about a next milestone, the right answer, and whether the previous
   * milestone's block was met on the way (E.3).
   */
  propose(
    options: Pick<MilestoneOptions, 'parents' | 'timestamp'> = {},
  ): WhiteFlagCase & { met: boolean; cone: Decided[] } {
    const { parents = this.#milestoneParents(), timestamp = this.nextTimestamp } = options;
    const previousMilestoneId = this.milestones.at(-1)?.id ?? ZERO_ID;
    const { order, met } = pastCone(this.blocks, parents);
    const cone = decide(order, this.transactions, this.outputs, timestamp);
    const { inclusionMerkleRoot, appliedMerkleRoot } = rootsOf(cone);
    const request = {
      index: this.nextIndex,
      timestamp,
      parents: [...parents],
      previousMilestoneId,
    };
    const response = {
      inclusionMerkleRoot: toHex(inclusionMerkleRoot),
      appliedMerkleRoot: toHex(appliedMerkleRoot),
    };
    const first = this.milestones.length === 0;
    return { request, response, cone, met: first || [...met].some((id) => this.#isPrevious(id)) };
  }

  #isPrevious(id: string): boolean {
    const block = this.blocks.get(id);
    if (block?.milestoneIndex !== lastIndex(this)) return false;
    const payload = block.bytes.subarray(2 + 32 * block.parents.length + 4, -8);
    return networkMilestone(payload).id === this.milestones.at(-1)!.id;
  }

  /** Issues the next milestone: its cone is referenced, its block is there. */
  milestone(options: MilestoneOptions = {}): NetworkMilestone {
    const { metadata = new Uint8Array(), announce, migrate } = options;
    const { signers = this.signersAt(this.nextIndex) } = options;
    const parents = [...(options.parents ?? this.#milestoneParents())].sort();
    const { request, response, cone, met } = this.propose({ ...options, parents });
    if (!met) throw new Error('the cone lacks the block of the previous milestone');
    const payload = signMilestone(
      {
        type: 7,
        index: request.index,
        timestamp: request.timestamp,
        protocolVersion: this.genesis.parameters.version,
        previousMilestoneId: fromHex(request.previousMilestoneId),
        parents: parents.map(fromHex),
        inclusionMerkleRoot: fromHex(response.inclusionMerkleRoot),
        appliedMerkleRoot: fromHex(response.appliedMerkleRoot),
        metadata,
        options: [
          ...(migrate === undefined ? [] : [this.receipt(migrate)]),
          ...(announce === undefined ? [] : [announce]),
        ],
      },
      signers,
    );
    const issued = networkMilestone(payload);
    this.milestones.push(issued);
    cone.forEach((decided, whiteFlagIndex) => {
      this.#reference(decided, issued, whiteFlagIndex);
    });
    this.#bookMigrated(issued);
    this.#milestoneBlock = this.attachMilestone(payload);
    return issued;
  }

  /** What the next milestone says of these funds of the legacy network. */
  receipt(funds: readonly MigratedFunds[]): ReceiptOption {
    const treasury = treasuryAt(this, lastIndex(this));
    const paid = funds.reduce((sum, { deposit }) => sum + deposit, 0n);
    return {
      type: 0,
      migratedAt: this.nextIndex,
      final: false,
      funds: [...funds],
      transaction: {
        type: 4,
        input: { type: 1, milestoneId: treasury.milestoneId },
        // in uint64, as the reference
        output: { type: 2, amount: BigInt.asUintN(64, treasury.amount - paid) },
      },
    };
  }

  /** E.5: no block carries them. */
  #bookMigrated({ receipt, id, index, timestamp }: NetworkMilestone): void {
    if (receipt === undefined) return;
    const booked = { blockId: new Uint8Array(32), bookedIndex: index, bookedTimestamp: timestamp };
    for (const { id: outputId, bytes } of migratedOutputs(receipt, fromHex(id)))
      this.outputs.set(toHex(outputId), { outputId, ...booked, bytes });
  }

  /** Issues a milestone that references a new block, and nothing else that is unreferenced. */
  quietMilestone(): NetworkMilestone {
    const before = this.#milestoneBlock!;
    return this.milestone({ parents: [before, this.note([before])] });
  }

  #milestoneParents(): string[] {
    if (this.#tips.size === 0 && this.#milestoneBlock === undefined) return [ZERO_ID];
    const previous = this.#milestoneBlock === undefined ? [] : [this.#milestoneBlock];
    const tips = [...this.#tips].filter((id) => id !== this.#milestoneBlock);
    return [...previous, ...this.random.sample(tips, 8 - previous.length)];
  }

  #reference(
    { block, transaction, state, conflict }: Decided,
    by: NetworkMilestone,
    whiteFlagIndex: number,
  ): void {
    const { index, timestamp } = by;
    block.referenced = { index, whiteFlagIndex, state, conflict };
    this.#tips.delete(block.id);
    if (transaction === undefined || state !== 'included') return;
    for (const input of transaction.inputs) {
      this.outputs.get(input)!.spent = { index, timestamp, transactionId: transaction.id };
    }
    for (const { id, bytes } of transaction.coins) {
      const booked = { bookedIndex: index, bookedTimestamp: timestamp };
      this.outputs.set(toHex(id), { outputId: id, blockId: fromHex(block.id), ...booked, bytes });
    }
  }

  /** The network as it is now, as data alone. */
  toNetwork(): Network {
    const { name, genesis, keys, milestones, blocks, outputs } = this;
    return { name, genesis, keys, milestones, blocks, outputs };
  }
}

const DEFAULT_PARAMETERS = {
  version: 2,
  networkName: 'synthetic',
  bech32Hrp: 'tst',
  minPowScore: 0,
  belowMaxDepth: 15,
  rentStructure: { vByteCost: 500, vByteFactorData: 1, vByteFactorKey: 10 },
};

/** Made-up transactions of 128 outputs each, the most that an input can name. */
function genesisOutputId(seed: string, number: number): Uint8Array {
  return outputId(
    blake2b256(new TextEncoder().encode(`${seed} genesis ${number >> 7}`)),
    number & 127,
  );
}
