/**
 * A simulated network as lines of JSON, for another implementation to judge: what came, in its
 * order, and what the world decided about it. A milestone comes after the blocks of its cone.
 */
import { encode } from '../../src/stardust/encoding/codec.ts';
import { protocolParameters } from '../../src/stardust/wire/parameters.ts';
import { readMilestone } from '../support/network/blocks.ts';
import { coneOf, type NetworkBlock, stateHash } from '../support/network/network-model.ts';
import type { World } from './world.ts';

export function dumpNetwork({ network, proposals, truth }: World): string {
  const { name, genesis, keys, milestones, blocks, outputs } = network;
  const lines: object[] = [
    {
      type: 'network',
      name,
      genesisIndex: genesis.index,
      genesisTimestamp: genesis.timestamp,
      treasury: String(genesis.treasury),
      parameters: encode(protocolParameters, genesis.parameters).toHex(),
      keys: keys.keys.map(({ publicKey }) => publicKey.toHex()),
      threshold: keys.threshold,
    },
  ];
  for (const [outputId, { blockId, bookedIndex, bookedTimestamp, bytes }] of outputs)
    if (bookedIndex === genesis.index)
      lines.push({
        type: 'output',
        outputId,
        blockId: `0x${blockId.toHex()}`,
        bookedIndex,
        bookedTimestamp,
        bytes: bytes.toHex(),
      });
  const ids = new Map(milestones.map(({ id, index }) => [index, id]));
  const told = new Set<number>();
  for (const block of blocks.values()) {
    lines.push({ type: 'block', id: block.id, bytes: block.bytes.toHex() });
    const index = block.milestoneIndex;
    if (index === undefined || told.has(index)) continue;
    told.add(index);
    lines.push(milestoneLine(index, ids.get(index)!, block));
    lines.push({ type: 'state', index, stateHash: stateHash(network, index) });
  }
  for (const request of proposals) {
    const response = truth.roots(request);
    lines.push({
      type: 'proposal',
      request,
      response: typeof response === 'string' ? null : response,
    });
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;

  function milestoneLine(index: number, id: string, block: NetworkBlock): object {
    const { timestamp, payload } = milestones[index - genesis.index - 1]!;
    const { inclusionMerkleRoot, appliedMerkleRoot } = readMilestone(payload);
    return {
      type: 'milestone',
      index,
      timestamp,
      id,
      payload: payload.toHex(),
      blockId: block.id,
      inclusionMerkleRoot: `0x${inclusionMerkleRoot.toHex()}`,
      appliedMerkleRoot: `0x${appliedMerkleRoot.toHex()}`,
      cone: coneOf(network, index).map(({ id: blockId, referenced }) => ({
        id: blockId,
        state: referenced!.state,
        conflict: referenced!.conflict,
      })),
    };
  }
}
