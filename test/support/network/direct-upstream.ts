/**
 * An upstream (src/upstream/upstream.ts) that answers from a test network directly, without HTTP;
 * and upstreams that are overheard, or lie.
 */
import type { Upstream } from '../../../src/upstream/upstream.ts';
import type { NodeState } from '../hornet-double/node-state.ts';
import type { KeyPair } from '../payloads/keys.ts';
import type { Roots } from './known-verdicts.ts';
import { resign } from './milestones.ts';
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

/** The upstream, and what it was asked: for heads, about blocks, and for blocks, in order. */
export function listening(upstream: Upstream) {
  const asked: string[] = [];
  const read: string[] = [];
  let heads = 0;
  const listener: Upstream = {
    ...upstream,
    readHeads() {
      heads++;
      return upstream.readHeads();
    },
    readReference(id) {
      asked.push(id);
      return upstream.readReference(id);
    },
    readBlock(id) {
      read.push(id);
      return upstream.readBlock(id);
    },
  };
  return { upstream: listener, asked, read, heads: () => heads };
}

/** The upstream with another root in a milestone, by default in each, which is signed all the same. */
export function diverging(
  upstream: Upstream,
  signers: readonly KeyPair[],
  { at, root = 'appliedMerkleRoot' }: { at?: number; root?: keyof Roots } = {},
): Upstream {
  return {
    ...upstream,
    async readMilestone(index) {
      const payload = await upstream.readMilestone(index);
      if (payload === undefined || index !== (at ?? index)) return payload;
      return resign(payload, { [root]: new Uint8Array(32) }, signers);
    },
  };
}
