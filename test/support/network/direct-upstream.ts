/**
 * An upstream (src/upstream/upstream.ts) that answers from a test network directly, without HTTP.
 */
import type { Upstream } from '../../../src/upstream/upstream.ts';
import type { NodeState } from '../hornet-double/node-state.ts';
import { milestoneAt, ZERO_ID } from './network-model.ts';

/** Milestones after which a block is no tip any more. */
const TIP_AGE = 5;

/**
 * Its tips are all young unreferenced blocks that the node has, so a follower that stores tips gets
 * all of them.
 */
export function directUpstream(node: NodeState): Upstream {
  const reference = (id: string): number | null => {
    const index = node.network.blocks.get(id)?.referenced?.index;
    return index !== undefined && index <= node.confirmed ? index : null;
  };
  return {
    name: 'direct',
    async readHeads() {
      const { network, confirmed: index } = node;
      const { timestamp, id } = milestoneAt(network, index) ?? {
        timestamp: network.genesis.timestamp,
        id: ZERO_ID,
      };
      return { confirmed: index, latest: { index, timestamp, milestoneId: id.slice(2) } };
    },
    readMilestone: async (index) => node.milestone(index)?.payload,
    readBlock: async (id) => node.block(`0x${id}`)?.bytes,
    async readReference(id) {
      return node.block(`0x${id}`) && reference(`0x${id}`);
    },
    async readTips() {
      const oldest = node.confirmed - TIP_AGE;
      const open = [...node.network.blocks.values()].filter(
        ({ id, visibleFrom }) =>
          visibleFrom >= oldest && node.block(id) !== undefined && reference(id) === null,
      );
      return open.map(({ id }) => id.slice(2));
    },
  };
}
