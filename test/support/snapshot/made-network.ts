/**
 * A made-up network for snapshots (network-snapshot.ts writes them): receipts, announced
 * parameters and outputs of any number, none of which is signed or applies any rule.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { outputId } from '../../../src/stardust/wire/ids.ts';
import { type MilestoneOption, milestone } from '../../../src/stardust/wire/milestone.ts';
import {
  type ProtocolParameters,
  protocolParameters,
} from '../../../src/stardust/wire/parameters.ts';
import type { Treasury } from '../../../src/stardust/wire/receipt.ts';
import { networkMilestone } from '../network/blocks.ts';
import {
  type Network,
  type NetworkBlock,
  type NetworkMilestone,
  type NetworkOutput,
  parametersAt,
  treasuryAt,
  ZERO_ID,
} from '../network/network-model.ts';
import { madeId, madeOutput } from './snapshot-writer.ts';

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

export interface MadeNetwork extends Network {
  milestones: NetworkMilestone[];
  outputs: Map<string, NetworkOutput>;
}

export const GENESIS_INDEX = 7;
const GENESIS_PRICE = 100;
const NFT_EVERY = 3;
const TREASURY = 50_000_000n;
const GENESIS_AMOUNTS = [600_000_000n, 300_000_000n, 50_000_000n];

/** Parameters are told apart by their storage price. */
function parametersOf(vByteCost: number): ProtocolParameters {
  return {
    version: 2,
    networkName: 'made',
    bech32Hrp: 'mde',
    minPowScore: 0,
    belowMaxDepth: 15,
    rentStructure: { vByteCost, vByteFactorData: 1, vByteFactorKey: 10 },
    tokenSupply: TREASURY + GENESIS_AMOUNTS.reduce((sum, amount) => sum + amount),
  };
}

export function madeNetwork(plans: readonly MilestonePlan[]): MadeNetwork {
  const genesis = {
    index: GENESIS_INDEX,
    timestamp: 0,
    treasury: TREASURY,
    parameters: parametersOf(GENESIS_PRICE),
  };
  const blocks = new Map<string, NetworkBlock>();
  const network: MadeNetwork = {
    name: 'made',
    genesis,
    keys: { keys: [], threshold: 1 },
    milestones: [],
    blocks,
    outputs: new Map(),
  };
  for (const amount of GENESIS_AMOUNTS) addOutput(network, amount, genesis);
  let parents = [ZERO_ID];
  for (const plan of plans) {
    const { index } = addMilestone(network, plan);
    parents = addBlocks(blocks, parents, index);
  }
  addBlocks(blocks, parents, undefined);
  return network;
}

/** Two blocks that milestone `index` references, or none does, upon those of the one before. */
function addBlocks(
  blocks: Map<string, NetworkBlock>,
  parents: string[],
  index: number | undefined,
): string[] {
  return [10, 11].map((kind) => {
    const id = toHex(madeId(kind, index ?? 0));
    const referenced = index && {
      referenced: {
        index,
        whiteFlagIndex: kind - 10,
        state: 'noTransaction' as const,
        conflict: 0,
      },
    };
    blocks.set(id, { id, bytes: new Uint8Array(), parents, visibleFrom: 0, ...referenced });
    return id;
  });
}

function addOutput(
  { outputs }: MadeNetwork,
  amount: bigint,
  { index, timestamp }: { index: number; timestamp: number },
  more: Partial<NetworkOutput> = {},
): void {
  const output = { ...madeOutput(outputs.size, amount, index, timestamp, NFT_EVERY), ...more };
  outputs.set(toHex(output.outputId), output);
}

function addMilestone(network: MadeNetwork, plan: MilestonePlan): NetworkMilestone {
  const before = network.milestones.at(-1);
  const index = (before ?? network.genesis).index + 1;
  const timestamp = (before?.timestamp ?? 1_700_000_000) + 1 + (index % 7);
  const treasury = treasuryAt(network, index);
  const migrated = plan.migrate < treasury.amount ? plan.migrate : 0n;
  const target = index + (plan.announce ?? 0);
  const { pending } = parametersAt(network, index);
  const isAnnounced = pending.some((option) => option.targetMilestoneIndex === target);
  const options: MilestoneOption[] = [];
  if (migrated > 0n) options.push(receipt(treasury, migrated, index));
  if (plan.announce !== undefined && !isAnnounced)
    options.push({
      type: 1,
      targetMilestoneIndex: target,
      protocolVersion: 2,
      parameters: encode(protocolParameters, parametersOf(GENESIS_PRICE + target)),
    });
  const payload = encode(milestone, {
    type: 7,
    index,
    timestamp,
    protocolVersion: 2,
    previousMilestoneId: Uint8Array.fromHex((before?.id ?? ZERO_ID).slice(2)),
    parents: [madeId(6, index)],
    inclusionMerkleRoot: madeId(7, index),
    appliedMerkleRoot: madeId(8, index),
    metadata: new Uint8Array(),
    options,
    signatures: [{ type: 0, publicKey: madeId(9, 0), signature: new Uint8Array(64) }],
  });
  const made = networkMilestone(payload);
  network.milestones.push(made);

  const spent = { index, timestamp, transactionId: new Uint8Array(32) };
  const unspent = [...network.outputs.values()].filter((output) => output.spent === undefined);
  const consumed = unspent.slice(0, plan.create > 0 ? plan.consume : 0);
  for (const output of consumed) output.spent = spent;
  const amounts = split(sum(consumed), consumed.length === 0 ? 0 : plan.create);
  for (const amount of amounts) addOutput(network, amount, made);
  if (migrated > 0n) {
    const id = outputId(Uint8Array.fromHex(made.id.slice(2)), 0);
    addOutput(network, migrated, made, { outputId: id, blockId: new Uint8Array(32) });
  }
  for (let i = 0; i < plan.transient; i++) addOutput(network, 5n, made, { spent });
  return made;
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

function split(amount: bigint, parts: number): bigint[] {
  if (parts === 0) return [];
  const share = amount / BigInt(parts);
  return Array.from({ length: parts }, (_, i) =>
    i === 0 ? amount - share * BigInt(parts - 1) : share,
  );
}

function sum(outputs: readonly NetworkOutput[]): bigint {
  // the amount is the second field of every output (A.8)
  return outputs.reduce(
    (total, { bytes }) => total + new DataView(bytes.buffer).getBigUint64(1, true),
    0n,
  );
}
