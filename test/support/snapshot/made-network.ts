/**
 * A made-up network for snapshots: milestones, the ledger after each of them, and the snapshot
 * files that a node of this network would write.
 */
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { milestoneId, outputId } from '../../../src/stardust/wire/ids.ts';
import type { LedgerOutput } from '../../../src/stardust/wire/ledger-output.ts';
import {
  type Milestone,
  type MilestoneOption,
  milestone,
} from '../../../src/stardust/wire/milestone.ts';
import {
  type ProtocolParameters,
  protocolParameters,
} from '../../../src/stardust/wire/parameters.ts';
import type { Treasury } from '../../../src/stardust/wire/treasury.ts';
import { madeId, madeOutput, type WrittenDiff, writeDelta, writeFull } from './snapshot-writer.ts';

/** What one milestone does. */
export interface MilestonePlan {
  /** How many outputs it consumes (fewer if there are not enough) and creates. */
  consume: number;
  create: number;
  /** Outputs that it creates and consumes at once. */
  transient: number;
  /** Base tokens that it migrates from the treasury, 0 for no receipt. */
  migrate: bigint;
  /** Announces protocol parameters, in force so many milestones later. */
  announce: number | undefined;
}

/** After a milestone. */
export interface MadeState {
  index: number;
  id: Uint8Array;
  timestamp: number;
  payload: Uint8Array | undefined;
  diff: WrittenDiff | undefined;
  treasury: Treasury;
  /** By hex of their IDs. */
  outputs: Map<string, LedgerOutput>;
  /** Targets of the parameters announced so far, and their storage prices. */
  parameters: Map<number, number>;
}

const SUPPLY = 1_000_000_000n;
export const GENESIS_INDEX = 7;
const GENESIS_PRICE = 100;
const NFT_EVERY = 3;

/** Parameters are told apart by their storage price. */
function madeParameters(vByteCost: number): Uint8Array {
  const value: ProtocolParameters = {
    version: 2,
    networkName: 'made',
    bech32Hrp: 'mde',
    minPowScore: 0,
    belowMaxDepth: 15,
    rentStructure: { vByteCost, vByteFactorData: 1, vByteFactorKey: 10 },
    tokenSupply: SUPPLY,
  };
  return encode(protocolParameters, value);
}

export class MadeNetwork {
  /** The first is genesis. */
  readonly states: MadeState[] = [];
  #outputs = 0;

  constructor(plans: readonly MilestonePlan[]) {
    const treasury = { milestoneId: new Uint8Array(32), amount: 50_000_000n };
    const outputs = [600_000_000n, 300_000_000n, 50_000_000n].map((amount) =>
      this.#output(amount, 0, 0),
    );
    this.states.push({
      index: GENESIS_INDEX,
      id: new Uint8Array(32),
      timestamp: 0,
      payload: undefined,
      diff: undefined,
      treasury,
      outputs: byId(outputs),
      parameters: new Map([[0, GENESIS_PRICE]]),
    });
    for (const plan of plans) this.states.push(this.#next(this.states.at(-1)!, plan));
  }

  at(index: number): MadeState {
    return this.states[index - GENESIS_INDEX]!;
  }

  get lastIndex(): number {
    return this.states.at(-1)!.index;
  }

  /** A full snapshot with up to `extra` diffs below its target. */
  full(targetIndex: number, ledgerIndex: number, extra: number): Uint8Array[] {
    const target = this.at(targetIndex);
    const { outputs, treasury, parameters } = this.at(ledgerIndex);
    const parametersTarget = Math.max(
      ...[...parameters.keys()].filter((index) => index <= ledgerIndex),
    );
    const first = Math.max(GENESIS_INDEX + 1, targetIndex + 1 - extra);
    const file = writeFull({
      genesisIndex: GENESIS_INDEX,
      target,
      ledgerIndex,
      treasury,
      parameters: madeParameters(parameters.get(parametersTarget)!),
      parametersTarget,
      outputCount: outputs.size,
      outputs: outputs.values(),
      diffs: this.#diffs(first, ledgerIndex).toReversed(),
      solidEntryPoints: entryPoints(targetIndex),
    });
    return [...file];
  }

  /** A delta snapshot that continues a full one with the target `from`. */
  delta(from: number, to: number): Uint8Array[] {
    const file = writeDelta({
      targetIndex: to,
      targetTimestamp: this.at(to).timestamp,
      fullTargetId: this.at(from).id,
      diffs: this.#diffs(from + 1, to),
      solidEntryPoints: entryPoints(to),
    });
    return [...file];
  }

  #diffs(first: number, last: number): WrittenDiff[] {
    return this.states
      .filter(({ index }) => index >= first && index <= last)
      .map(({ diff }) => diff!);
  }

  #output(amount: bigint, index: number, timestamp: number): LedgerOutput {
    return madeOutput(this.#outputs++, amount, index, timestamp, NFT_EVERY);
  }

  #next(before: MadeState, plan: MilestonePlan): MadeState {
    const index = before.index + 1;
    const timestamp = before.timestamp === 0 ? 1_700_000_000 : before.timestamp + 1 + (index % 7);
    const parameters = new Map(before.parameters);
    const options: MilestoneOption[] = [];
    const migrated = plan.migrate > 0n && plan.migrate < before.treasury.amount ? plan.migrate : 0n;
    if (migrated > 0n) options.push(receipt(before.treasury, migrated, index));
    const target = index + (plan.announce ?? 0);
    if (plan.announce !== undefined && !parameters.has(target)) {
      parameters.set(target, GENESIS_PRICE + target);
      const parameterBytes = madeParameters(GENESIS_PRICE + target);
      options.push({
        type: 1,
        targetMilestoneIndex: target,
        protocolVersion: 2,
        parameters: parameterBytes,
      });
    }
    const value: Milestone = {
      type: 7,
      index,
      timestamp,
      protocolVersion: 2,
      previousMilestoneId: before.id,
      parents: [madeId(6, index)],
      inclusionMerkleRoot: madeId(7, index),
      appliedMerkleRoot: madeId(8, index),
      metadata: new Uint8Array(0),
      options,
      signatures: [{ type: 0, publicKey: madeId(9, 0), signature: new Uint8Array(64) }],
    };
    const payload = encode(milestone, value);
    const id = milestoneId(value, payload);

    const consumed = [...before.outputs.values()].slice(0, plan.create > 0 ? plan.consume : 0);
    const amounts = split(sum(consumed), consumed.length === 0 ? 0 : plan.create);
    const created = amounts.map((amount) => this.#output(amount, index, timestamp));
    if (migrated > 0n) {
      const ids = { outputId: outputId(id, 0), blockId: new Uint8Array(32) };
      created.push({ ...this.#output(migrated, index, timestamp), ...ids });
    }
    const transient = Array.from({ length: plan.transient }, () =>
      this.#output(5n, index, timestamp),
    );
    const diff: WrittenDiff = {
      payload,
      created: sorted([...created, ...transient]),
      consumed: sorted([...consumed, ...transient]),
      ...(migrated > 0n && { spentTreasury: before.treasury }),
    };
    const outputs = new Map(before.outputs);
    for (const each of consumed) outputs.delete(each.outputId.toHex());
    for (const each of created) outputs.set(each.outputId.toHex(), each);
    const treasury =
      migrated > 0n
        ? { milestoneId: id, amount: before.treasury.amount - migrated }
        : before.treasury;
    return { index, id, timestamp, payload, diff, treasury, outputs, parameters };
  }
}

function receipt(treasury: Treasury, migrated: bigint, index: number): MilestoneOption {
  const tailTransactionHash = new Uint8Array(49).fill(index);
  return {
    type: 0,
    migratedAt: index,
    final: false,
    funds: [{ tailTransactionHash, address: { type: 0, id: madeId(1, index) }, deposit: migrated }],
    transaction: {
      type: 4,
      input: { type: 1, milestoneId: treasury.milestoneId },
      output: { type: 2, amount: treasury.amount - migrated },
    },
  };
}

/** Block IDs that stand for those at a milestone. */
export function entryPoints(index: number): Uint8Array[] {
  return [madeId(10, index), madeId(11, index)];
}

function split(amount: bigint, parts: number): bigint[] {
  if (parts === 0) return [];
  const share = amount / BigInt(parts);
  return Array.from({ length: parts }, (_, i) =>
    i === 0 ? amount - share * BigInt(parts - 1) : share,
  );
}

function sum(outputs: readonly LedgerOutput[]): bigint {
  // the amount is the second field of every output (A.8)
  return outputs.reduce(
    (total, { bytes }) => total + new DataView(bytes.buffer).getBigUint64(1, true),
    0n,
  );
}

function byId(outputs: readonly LedgerOutput[]): Map<string, LedgerOutput> {
  return new Map(outputs.map((output) => [output.outputId.toHex(), output]));
}

function sorted(outputs: readonly LedgerOutput[]): LedgerOutput[] {
  return outputs.toSorted((a, b) => (a.outputId.toHex() < b.outputId.toHex() ? -1 : 1));
}
