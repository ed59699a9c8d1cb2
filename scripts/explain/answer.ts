/**
 * The explanations that `npm run explain` compares: those of edge nodes
 * (docs/contract.md#explanation-of-a-proposal), and what a HORNET returns about the blocks of a
 * milestone that it applied.
 */
import * as v from 'valibot';
import {
  conflictReasonOf,
  describeReason,
  rulesOf,
} from '../../src/stardust/semantics/conflict-reason.ts';
import { type NodeClient, openNodeClient, readJson, requestJson } from '../lib/node-client.ts';

const block = v.object({
  blockId: v.string(),
  ledgerInclusionState: v.string(),
  conflictReason: v.optional(v.number()),
  explanation: v.optional(v.string()),
  rule: v.optional(v.string()),
  decidingInput: v.optional(
    v.object({ input: v.number(), outputId: v.string(), spentBy: v.optional(v.string()) }),
  ),
  decidingOutput: v.optional(v.object({ output: v.number(), outputId: v.string() })),
});

const explanation = v.object({
  index: v.number(),
  inclusionMerkleRoot: v.string(),
  appliedMerkleRoot: v.string(),
  blocks: v.array(block),
});

export type Explanation = v.InferOutput<typeof explanation>;
export type ComparedBlock = v.InferOutput<typeof block>;

/** Throws an Error with a sentence where the JSON is no explanation. */
export function readExplanation(json: unknown, source: string): Explanation {
  const result = v.safeParse(explanation, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`${source} is no explanation: ${v.getDotPath(issue) ?? ''} ${issue.message}`);
}

const CONCURRENT_REQUESTS = 6;

/** An edge node's explanation of the request. */
export async function askEdgeNode(url: string, request: string): Promise<Explanation> {
  return requestJson(openNodeClient(url), '/api/edge/v1/whiteflag', explanation, request);
}

const info = v.object({
  name: v.string(),
  status: v.object({ confirmedMilestone: v.object({ index: v.number() }) }),
});

/**
 * Another node's: an edge node explains the request, a HORNET is queried for the blocks of ours.
 */
export async function askNode(url: string, request: string, ours: Explanation) {
  const node = openNodeClient(url);
  const { name, status } = await requestJson(node, '/api/core/v2/info', info);
  if (name === 'stardust-edge-node') return askEdgeNode(url, request);
  if (status.confirmedMilestone.index < ours.index) {
    throw new Error(
      `${url} is a ${name} at milestone ${status.confirmedMilestone.index}: it reports on blocks only after it has applied milestone ${ours.index}`,
    );
  }
  return askHornet(node, ours);
}

const roots = v.object({ inclusionMerkleRoot: v.string(), appliedMerkleRoot: v.string() });

const metadata = v.object({
  referencedByMilestoneIndex: v.optional(v.number(), 0),
  whiteFlagIndex: v.optional(v.number()),
  ledgerInclusionState: v.optional(v.string(), 'unreferenced'),
  conflictReason: v.optional(v.number()),
});

/** Those of the blocks that the milestone references, in its order. */
async function askHornet(node: NodeClient, { index, blocks }: Explanation): Promise<Explanation> {
  const milestone = `/api/core/v2/milestones/by-index/${index}`;
  const signed = await requestJson(node, milestone, roots);
  const found: ComparedBlock[] = [];
  const left = blocks.values();
  const work = async () => {
    for (const { blockId } of left) {
      const path = `/api/core/v2/blocks/${blockId}/metadata`;
      const response = await node(path);
      if (response.status === 404) {
        await response.body?.cancel();
        continue;
      }
      const value = await readJson(response, path, metadata);
      if (value.referencedByMilestoneIndex !== index) continue;
      found[value.whiteFlagIndex ?? 0] = { blockId, ...value, ...describeConflict(value) };
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return {
    index,
    ...signed,
    // a place that no block of ours has is one that only theirs has
    blocks: Array.from(found, (each) => each ?? UNKNOWN),
  };
}

/** A HORNET returns the number only. */
function describeConflict({ conflictReason }: v.InferOutput<typeof metadata>) {
  if (conflictReason === undefined) return {};
  const reason = conflictReasonOf(conflictReason);
  return { explanation: describeReason(reason), rule: rulesOf(reason) };
}

const UNKNOWN: ComparedBlock = {
  blockId: 'a block that ours does not reference',
  ledgerInclusionState: 'unknown',
};
