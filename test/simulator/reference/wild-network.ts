/**
 * Networks of wild transactions (wild-transactions.ts): their roots are what the product's judge
 * says. With receipts, parameters that change, questions about what could come, milestone blocks
 * that are none, and bytes that are no blocks.
 */

import { README_PARAMETERS } from '../../../cli/conformance/parameters.ts';
import { admissionFault } from '../../../src/stardust/admission.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { decodeOutput, networkId } from '../../../src/stardust/wire/ids.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { blockAround, readMilestone } from '../../support/network/blocks.ts';
import {
  extraSignature,
  fewerSignatures,
  forgedSignature,
  resign,
} from '../../support/network/milestones.ts';
import { lastIndex, ledgerAt, parametersAt, ZERO_ID } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { type Coin, coin, type MadeTransaction } from '../../support/network/transactions.ts';
import { type KeyPair, keyPair } from '../../support/payloads/keys.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { mutatedBlock } from '../../support/stardust/mutated-blocks.ts';
import { edgeOutputs } from './edge-outputs.ts';
import { judgedTransaction, tryTo } from './judged-transaction.ts';
import type { Asked, NetworkFile, Refused } from './network-file.ts';
import { oddBeginning } from './odd-beginning.ts';
import { wildPlan } from './wild-transactions.ts';

const ACCOUNTS = 6;
/** As in the recorded vectors. */
const { networkName: NETWORK_NAME, tokenSupply } = README_PARAMETERS;
const COINS = 16;
/** Of one receipt (A.10). */
const MAX_FUNDS = 127;
const BEGINNING = 1_700_000_000;
const MAX_UINT32 = 2 ** 32 - 1;
const MAX_UINT64 = 2n ** 64n - 1n;
const keyPairOf = (number: number) => keyPair(`wild ${number}`);

export interface WildOptions {
  seed: string;
  milestones: number;
  /** Blocks before each milestone, about. */
  events: number;
  /** Whether it begins, and is, at the ends of what the protocol allows. */
  odd?: boolean;
}

export function wildNetwork({ seed, milestones, events, odd }: WildOptions): NetworkFile {
  const beginning = odd ? oddBeginning(new Random(`${seed} beginning`), milestones) : undefined;
  const { scale = 1n, isFull = false, options = {} } = beginning ?? {};
  const now = options.genesisTimestamp ?? BEGINNING;
  const coins = (account: (number: number) => KeyPair) => [
    ...Array.from({ length: COINS }, (_, i) =>
      basic(account(i % ACCOUNTS), { amount: COIN_AMOUNT * scale }),
    ),
    ...edgeOutputs(account, now).map((output) => ({ ...output, amount: output.amount * scale })),
  ];
  const held = coins(keyPairOf).reduce((sum, { amount }) => sum + amount, 0n);
  const supply = isFull ? MAX_UINT64 : scale === 1n ? tokenSupply : held;
  const network = new SyntheticNetwork({
    seed,
    coins,
    genesisTimestamp: BEGINNING,
    treasury: supply - held,
    ...options,
    parameters: { networkName: NETWORK_NAME, ...options.parameters },
  });
  const wild = new Wild(network, odd);
  if (odd) wild.first();
  else network.milestone();
  for (let i = 1; i < milestones; i++) wild.milestone(events);
  return { network, asked: wild.asked, refused: wild.refused };
}

class Wild {
  readonly network: SyntheticNetwork;
  /** What the node would be asked, and when. */
  readonly asked: Asked[] = [];
  /** Blocks that the product does not admit, and when they came. */
  readonly refused: Refused[] = [];
  readonly #accounts;
  #coins: Coin[] = [];
  #made: MadeTransaction[] = [];
  #mutations = 0;
  readonly #odd: boolean;

  constructor(network: SyntheticNetwork, odd = false) {
    this.network = network;
    this.#odd = odd;
    this.#accounts = Array.from({ length: ACCOUNTS }, (_, i) => network.account(i));
  }

  /** After some blocks, and perhaps not after the genesis. */
  first(): void {
    const { network } = this;
    const { random, genesis } = network;
    for (let blocks = random.below(4); blocks > 0; blocks--) network.note();
    if (random.chance(0.5)) {
      const coin = random.pick(network.genesisCoins.slice(0, COINS));
      network.attachTransaction(network.transfer(coin, 1));
    }
    const timestamp = random.pick([0, genesis.timestamp, genesis.timestamp + 5]);
    this.asked.push({ after: network.blocks.size, ...network.propose({ timestamp }) });
    network.milestone({ timestamp });
  }

  milestone(events: number): void {
    const { network } = this;
    const { random } = network;
    this.#takeStock();
    // nothing but the block of the milestone before
    const isEmpty = this.#odd && random.chance(0.15);
    for (let done = 0; done < events && !isEmpty; done++) this.#happen();
    for (let asked = random.below(3); asked > 0; asked--) this.#ask();
    const migrate = random.chance(this.#odd ? 0.4 : 0.15) ? this.#funds() : undefined;
    const announce = random.chance(this.#odd ? 0.4 : 0.1) ? this.#announcement() : undefined;
    const timestamp = network.nextTimestamp + random.pick([0, 0, 0, -4, 1, 30]);
    const parents = this.#odd ? this.#oddParents(isEmpty) : undefined;
    const signers = this.#odd ? this.#oddSigners() : undefined;
    network.milestone({
      timestamp,
      ...(parents && { parents }),
      ...(signers && { signers }),
      ...(migrate && { migrate }),
      ...(announce && { announce }),
    });
  }

  /** Old blocks, the genesis, or the milestone before alone. */
  #oddParents(isEmpty: boolean): string[] | undefined {
    const { network } = this;
    const { random } = network;
    const before = network.milestoneBlock!;
    if (isEmpty) return [before];
    const all = [ZERO_ID, ...network.blocks.keys()];
    if (random.chance(0.3)) return [...new Set([before, ...random.sample(all, 7)])];
    return random.chance(0.2) ? [before, ZERO_ID] : undefined;
  }

  /** At least as many as must. */
  #oddSigners() {
    const { network } = this;
    const able = network.signersAt(network.nextIndex);
    return network.random.sample(able, network.random.between(network.keys.threshold, able.length));
  }

  get #parameters() {
    return parametersAt(this.network, lastIndex(this.network)).parameters;
  }

  /** What is unspent: most of what was made on conflicts is not. */
  #takeStock(): void {
    const ledger = ledgerAt(this.network, lastIndex(this.network));
    const rank = new Map([...this.network.outputs.keys()].map((id, i) => [id, i]));
    this.#coins = ledger
      .sort((a, b) => rank.get(toHex(a.outputId))! - rank.get(toHex(b.outputId))!)
      .slice(-300)
      .map(({ outputId: id, bytes }) => coinOf(id, bytes));
  }

  #happen(): void {
    const { network } = this;
    const { random } = network;
    const what = random.below(100);
    if (what < 8) network.note();
    else if (what < 10) network.attach(undefined);
    else if (what < 14) this.#repeatMilestone();
    else if (what < 17)
      network.note(random.sample([...network.blocks.keys()], random.between(1, 8)));
    else if (what < 22 && this.#made.length > 0) this.#attach(random.pick(this.#made.slice(-40)));
    else if (what < 30) this.#offer(mutatedBlock(random.u32() + this.#mutations++));
    else this.#spend();
  }

  #spend(): void {
    const { network } = this;
    // what is more than a field holds is not encoded
    const plan = tryTo(() =>
      wildPlan({
        random: network.random,
        accounts: this.#accounts,
        coins: this.#coins,
        now: network.nextTimestamp,
        rent: this.#parameters.rentStructure,
      }),
    );
    if (plan === undefined) return;
    // sums wrap at 2^64, if the supply lets them
    if (this.#odd && network.random.chance(0.1)) {
      const half = basic(network.random.pick(this.#accounts), { amount: 1n << 63n });
      plan.outputs = [half, ...plan.outputs, half];
    }
    const made = tryTo(() =>
      judgedTransaction({ networkId: networkId(this.#parameters.networkName), ...plan }),
    );
    if (made === undefined) return;
    if (!this.#attach(made)) return;
    this.#made.push(made);
    // what will be a conflict makes nothing, mostly; what is spent is spent again now and then
    const { random } = network;
    const isGood = made.verdict(network.nextTimestamp) === ConflictReason.None;
    if (!isGood && random.chance(0.95)) return;
    const spent = random.chance(0.95) ? new Set(made.inputs) : new Set<string>();
    this.#coins = [...this.#coins.filter(({ id }) => !spent.has(toHex(id))), ...made.coins];
  }

  /** A block with the transaction, unless the product does not admit it. */
  #attach(made: MadeTransaction): boolean {
    const { network } = this;
    const isAdmitted = this.#offer(blockAround(network.someParents(), made.payload), true);
    if (isAdmitted) network.attachTransaction(made);
    return isAdmitted;
  }

  /** Whether the product admits the block; what it does not admit is put to the judge as well. */
  #offer(bytes: Uint8Array, willBeAttached = false): boolean {
    const result = parseBlock(bytes);
    const isAdmitted = result.ok && admissionFault(result.parsed, this.#parameters) === undefined;
    if (!isAdmitted || !willBeAttached) {
      const after = this.network.blocks.size;
      this.refused.push({ bytes, after, isValid: isAdmitted });
    }
    return isAdmitted;
  }

  #repeatMilestone(): void {
    const { network } = this;
    const { random } = network;
    const { payload } = network.milestones.at(-1)!;
    const parents = readMilestone(payload).parents.map(toHex);
    const some = parents.slice(0, random.between(1, parents.length));
    const other = random.sample([...network.blocks.keys()].slice(-20), random.between(1, 8));
    network.attachMilestone(
      random.pick([
        payload,
        fewerSignatures(payload, random.between(1, network.keys.threshold)),
        forgedSignature(payload),
        extraSignature(payload, random.bytes(32)),
        // by keys, too, that may sign others alone
        ...(this.#odd ? [resign(payload, {}, random.sample(network.signers, 2))] : []),
      ]),
      random.pick([parents, some, other]),
    );
  }

  /** About blocks at random, which may lack the last milestone. */
  #ask(): void {
    const { network } = this;
    const { random } = network;
    const known = [...network.blocks.keys()];
    const some = random.sample(known.slice(-40), random.between(1, 7));
    const parents = random.chance(0.8) ? [network.milestoneBlock ?? ZERO_ID, ...some] : some;
    const order = random.chance(0.5) ? parents : parents.toSorted();
    const timestamp = network.nextTimestamp + random.pick([0, 0, 1, -4, 100]);
    const { request, response, met } = network.propose({ parents: order, timestamp });
    this.asked.push({ after: known.length, request, response: met ? response : undefined });
  }

  #funds() {
    const { random } = this.network;
    const length = this.#odd && random.chance(0.2) ? MAX_FUNDS : random.between(1, 4);
    const most = this.#parameters.tokenSupply;
    const some = () => (this.#odd && length === 1 ? random.pick([1_000_000n, most]) : undefined);
    return Array.from({ length }, () => ({
      tailTransactionHash: random.bytes(49),
      address: random.pick(this.#accounts).address,
      deposit: some() ?? 1_000_000n + BigInt(random.below(1_000_000)),
    })).sort((a, b) => Buffer.compare(a.tailTransactionHash, b.tailTransactionHash));
  }

  #announcement() {
    const { network } = this;
    const { random } = network;
    const { pending, since } = parametersAt(network, lastIndex(network));
    if (pending.length > 0 && !this.#odd) return undefined;
    const rentStructure = {
      vByteCost: random.pick([0, 1, 250, 500, 700]),
      vByteFactorData: random.pick([1, 1, 2]),
      vByteFactorKey: random.pick([10, 10, 5]),
    };
    const other = this.#odd
      ? {
          networkName: random.pick([NETWORK_NAME, '', 'é'.repeat(127)]),
          belowMaxDepth: random.pick([0, 1, 255]),
        }
      : {};
    const parameters = { ...this.#parameters, rentStructure, ...other };
    // past ones too, in their order (G)
    const wanted = network.nextIndex + random.between(this.#odd ? -2 : 1, this.#odd ? 6 : 4);
    const target = Math.max(wanted, (pending.at(-1)?.targetMilestoneIndex ?? since) + 1);
    if (target > MAX_UINT32) return undefined;
    return {
      type: 1 as const,
      targetMilestoneIndex: target,
      protocolVersion: 2,
      parameters: encode(protocolParameters, parameters),
    };
  }
}

function coinOf(id: Uint8Array, bytes: Uint8Array): Coin {
  return coin(id, decodeOutput(bytes));
}
