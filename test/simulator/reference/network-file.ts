/**
 * A network as the lines that the judge reads (README.md), and what was asked about it on the way.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import {
  type InclusionState,
  type Network,
  type NetworkMilestone,
  stateHash,
  type WhiteFlagCase,
  ZERO_ID,
} from '../../support/network/network-model.ts';

/** A question about the next milestone; no response where none is due. */
export interface Asked {
  /** It was put when so many blocks were there. */
  after: number;
  request: WhiteFlagCase['request'];
  response: WhiteFlagCase['response'] | undefined;
}

export interface Refused {
  bytes: Uint8Array;
  /** It came when so many blocks were there. */
  after: number;
  isValid: boolean;
}

export interface NetworkFile {
  network: Network;
  asked: readonly Asked[];
  /** Bytes that came and are no part of the network, and whether they are a block. */
  refused: readonly Refused[];
}

interface Verdict {
  id: string;
  state: InclusionState;
  conflict: number;
}

export type Line =
  | {
      type: 'network';
      name: string;
      genesisIndex: number;
      genesisTimestamp: number;
      treasury: string;
      parameters: string;
      keys: string[];
      threshold: number;
      /** The first and the last milestone of each key; absent: all. */
      ranges?: [number, number][];
    }
  | {
      type: 'output';
      outputId: string;
      blockId: string;
      bookedIndex: number;
      bookedTimestamp: number;
      bytes: string;
    }
  | { type: 'block'; id: string; bytes: string; refused?: boolean }
  | ({
      type: 'milestone';
      index: number;
      timestamp: number;
      id: string;
      payload: string;
      blockId: string;
      cone: Verdict[];
    } & WhiteFlagCase['response'])
  | {
      type: 'proposal';
      request: WhiteFlagCase['request'];
      response: WhiteFlagCase['response'] | null;
    }
  | { type: 'state'; index: number; stateHash: string };

/** Who signs the milestones of a network. */
export function keysOf({
  keys,
  threshold,
  ranges = [],
}: Extract<Line, { type: 'network' }>): MilestoneKeys {
  const publicKeys = keys.map((key, i) => {
    const [first, last] = ranges[i] ?? [0, 0];
    return { publicKey: Uint8Array.fromHex(key), first, last };
  });
  return { keys: publicKeys, threshold };
}

/** @param hashes how often the ledger's state is hashed: each so many milestones, and at the end */
export function* linesOf(
  { network, asked, refused }: NetworkFile,
  hashes = 10,
): Generator<Line, void> {
  const { name, genesis, keys } = network;
  yield {
    type: 'network',
    name,
    genesisIndex: genesis.index,
    genesisTimestamp: genesis.timestamp,
    treasury: String(genesis.treasury),
    parameters: encode(protocolParameters, genesis.parameters).toHex(),
    keys: keys.keys.map(({ publicKey }) => publicKey.toHex()),
    threshold: keys.threshold,
    ...(keys.keys.some(({ first, last }) => first + last > 0) && {
      ranges: keys.keys.map(({ first, last }) => [first, last] as [number, number]),
    }),
  };
  for (const output of network.outputs.values()) {
    if (output.bookedIndex > genesis.index || toHex(output.blockId) !== ZERO_ID) continue;
    const { outputId, blockId, bookedIndex, bookedTimestamp, bytes } = output;
    const booked = { bookedIndex, bookedTimestamp, bytes: bytes.toHex() };
    yield { type: 'output', outputId: toHex(outputId), blockId: toHex(blockId), ...booked };
  }
  const cones = conesOf(network);
  const next = { milestone: 0, asked: 0, refused: 0 };
  let place = 0;
  for (const block of network.blocks.values()) {
    while (next.refused < refused.length && refused[next.refused]!.after <= place) {
      const { bytes, isValid } = refused[next.refused++]!;
      yield { type: 'block', id: '', bytes: bytes.toHex(), refused: !isValid };
    }
    while (next.asked < asked.length && asked[next.asked]!.after <= place) {
      const { request, response = null } = asked[next.asked++]!;
      yield { type: 'proposal', request, response };
    }
    const milestone = network.milestones[next.milestone];
    // its block follows the milestone's cone
    if (milestone !== undefined && block.milestoneIndex === milestone.index) {
      next.milestone++;
      yield milestoneLine(milestone, block.id, cones.get(milestone.index) ?? []);
      if (milestone.index % hashes === 0 || milestone === network.milestones.at(-1))
        yield stateLine(network, milestone.index);
    }
    yield { type: 'block', id: block.id, bytes: block.bytes.toHex() };
    place++;
  }
}

type Referenced = Verdict & { place: number };

function conesOf({ blocks }: Network): Map<number, Referenced[]> {
  const cones = new Map<number, Referenced[]>();
  for (const { id, referenced } of blocks.values()) {
    if (referenced === undefined) continue;
    const { index, whiteFlagIndex: place, state, conflict } = referenced;
    const cone = cones.get(index);
    if (cone === undefined) cones.set(index, [{ id, state, conflict, place }]);
    else cone.push({ id, state, conflict, place });
  }
  return cones;
}

function milestoneLine(
  { index, timestamp, id, payload }: NetworkMilestone,
  blockId: string,
  cone: Referenced[],
): Line {
  const { inclusionMerkleRoot, appliedMerkleRoot } = readMilestone(payload);
  return {
    type: 'milestone',
    index,
    timestamp,
    id,
    payload: payload.toHex(),
    blockId,
    inclusionMerkleRoot: toHex(inclusionMerkleRoot),
    appliedMerkleRoot: toHex(appliedMerkleRoot),
    cone: cone.sort((a, b) => a.place - b.place).map(({ place: _, ...verdict }) => verdict),
  };
}

function stateLine(network: Network, index: number): Line {
  return { type: 'state', index, stateHash: stateHash(network, index) };
}
