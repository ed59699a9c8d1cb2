/**
 * A network from its lines, as far as a node needs it that begins with the genesis: outputs are
 * those of the genesis alone.
 */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decodeParameters } from '../../../src/stardust/wire/parameters.ts';
import { networkMilestone, parsedBlock } from '../../support/network/blocks.ts';
import { carries } from '../../support/network/milestones.ts';
import type {
  Network,
  NetworkBlock,
  NetworkMilestone,
  NetworkOutput,
} from '../../support/network/network-model.ts';
import { keysOf, type Line } from './network-file.ts';

/** Of the lines of one network. */
export function readNetwork(lines: readonly Line[]): Network {
  const [first, ...rest] = lines;
  if (first?.type !== 'network') throw new Error('the first line is no network');
  const keys = keysOf(first);
  const blocks = new Map<string, NetworkBlock>();
  const outputs = new Map<string, NetworkOutput>();
  const milestones: NetworkMilestone[] = [];
  const referenced = new Map<string, NonNullable<NetworkBlock['referenced']>>();
  let index = first.genesisIndex;
  for (const line of rest) {
    if (line.type === 'output') {
      const { bookedIndex, bookedTimestamp, outputId, blockId, bytes } = line;
      const ids = { outputId: fromHex(outputId), blockId: fromHex(blockId) };
      const booked = { bookedIndex, bookedTimestamp, bytes: Uint8Array.fromHex(bytes) };
      outputs.set(outputId, { ...ids, ...booked });
    } else if (line.type === 'block' && line.id !== '') {
      const bytes = Uint8Array.fromHex(line.bytes);
      blocks.set(line.id, blockOf(line.id, bytes, keys, index));
    } else if (line.type === 'milestone') {
      milestones.push(networkMilestone(Uint8Array.fromHex(line.payload)));
      index = line.index;
      line.cone.forEach(({ id, state, conflict }, whiteFlagIndex) => {
        referenced.set(id, { index: line.index, whiteFlagIndex, state, conflict });
      });
    }
  }
  for (const [id, by] of referenced) blocks.get(id)!.referenced = by;
  const genesis = {
    index: first.genesisIndex,
    timestamp: first.genesisTimestamp,
    treasury: BigInt(first.treasury),
    parameters: decodeParameters(Uint8Array.fromHex(first.parameters)),
  };
  return { name: first.name, genesis, keys, milestones, blocks, outputs };
}

function blockOf(
  id: string,
  bytes: Uint8Array,
  keys: Network['keys'],
  visibleFrom: number,
): NetworkBlock {
  const { block, milestone } = parsedBlock(bytes);
  const payload = bytes.subarray(2 + 32 * block.parents.length + 4, -8);
  const isCarrier = milestone !== undefined && carries(block.parents, payload, keys);
  return {
    id,
    bytes,
    parents: block.parents.map(toHex),
    visibleFrom,
    ...(isCarrier && { milestoneIndex: milestone.value.index }),
  };
}
