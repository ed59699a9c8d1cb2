/**
 * An upstream (src/follow/upstream.ts) that is a node of a test network itself, without HTTP between.
 */
import type { Upstream } from '../../src/follow/upstream.ts';
import type { NodeState } from '../upstream/node-state.ts';
import { milestoneAt, ZERO_ID } from './model.ts';

export function directUpstream(node: NodeState): Upstream {
  return {
    name: 'direct',
    async readHeads() {
      const { network, confirmed: index } = node;
      const { timestamp, id } = milestoneAt(network, index) ?? { timestamp: network.genesis.timestamp, id: ZERO_ID };
      return { confirmed: index, latest: { index, timestamp, milestoneId: id.slice(2) } };
    },
    readMilestone: async (index) => node.milestone(index)?.payload,
    readBlock: async (id) => node.block(`0x${id}`)?.bytes,
    async readReference(id) {
      const block = node.block(`0x${id}`);
      if (block === undefined) return undefined;
      const index = block.referenced?.index;
      return index !== undefined && index <= node.confirmed ? index : null;
    },
    readTips: async () => node.tips.map((id) => id.slice(2)),
  };
}
