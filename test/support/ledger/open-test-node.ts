/**
 * A node with the bindings of the test Worker that fetches from these upstreams
 * (src/node/open-node.ts), and a white-flag question put to it.
 */
import { env } from 'cloudflare:workers';
import type { EdgeNode } from '../../../src/node/edge-node.ts';
import { openNode } from '../../../src/node/open-node.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { defaultSettings } from '../default-settings.ts';
import type { WhiteFlagCase } from '../network/network-model.ts';

export function openTestNode(upstreams: string[], milestoneKeys: MilestoneKeys): EdgeNode {
  const { LEDGER, NFT_INDEX, FOLLOWER } = env;
  return openNode({
    ...defaultSettings({ LEDGER, NFT_INDEX, FOLLOWER }),
    upstreams,
    milestoneKeys,
    retentionMilestones: 100,
  });
}

/** The roots; throws what a refusal says. */
export async function askNode(
  node: EdgeNode,
  request: WhiteFlagCase['request'],
): Promise<WhiteFlagCase['response']> {
  const result = await node.computeWhiteFlag({
    ...request,
    parents: request.parents.map((id) => id.slice(2)),
    previousMilestoneId: request.previousMilestoneId.slice(2),
  });
  if (!result.ok) throw new Error(result.detail);
  return {
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
  };
}
