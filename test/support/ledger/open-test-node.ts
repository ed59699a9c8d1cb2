/**
 * A node with the bindings of the test Worker that fetches from these upstreams
 * (src/node/edge-node.ts), and a white-flag question put to it.
 */
import { env } from 'cloudflare:workers';
import { createBringer, patienceOf } from '../../../src/follower/bring/bring-blocks.ts';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import { type EdgeNode, openNode } from '../../../src/node/edge-node.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import type { Settings } from '../../../src/settings.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { createUpstreams } from '../../../src/upstream/rest-upstream.ts';
import { defaultSettings } from '../default-settings.ts';
import type { WhiteFlagCase } from '../network/network-model.ts';
import { requestOf, rootsOf } from './ledger-harness.ts';

export function openTestNode(upstreams: string[], milestoneKeys: MilestoneKeys): EdgeNode {
  const { LEDGER, NFT_INDEX, FOLLOWER } = env;
  const settings = {
    ...defaultSettings({ LEDGER, NFT_INDEX, FOLLOWER }),
    upstreams,
    milestoneKeys,
    retentionMilestones: 100,
  };
  return openNode({ ...settings, follower: namespaceOf(settings, milestoneKeys) });
}

/** A namespace with one object, which does what the follower's does for requests. */
function namespaceOf(settings: Settings, keys: MilestoneKeys): Env['FOLLOWER'] {
  const memory = createFollowerMemory();
  const openUpstreams = createUpstreams();
  const bringer = createBringer((whose) => ({
    db: settings.ledger,
    upstreams: openUpstreams(settings, patienceOf(settings, whose)),
    voters: openUpstreams(settings, { timeout: 10_000, attempts: 1 }),
    keys,
    verify: verifySignature,
    memory,
  }));
  const namespace = { idFromName: () => 'follower', get: () => bringer };
  return namespace as unknown as Env['FOLLOWER'];
}

/** The roots; throws what a refusal says. */
export async function askNode(
  node: EdgeNode,
  request: WhiteFlagCase['request'],
): Promise<WhiteFlagCase['response']> {
  const result = await node.computeWhiteFlag(requestOf(request), 'a client');
  if (!result.ok) throw new Error(result.detail);
  return rootsOf(result);
}
