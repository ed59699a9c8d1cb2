/**
 * The explanations that `stardust-edge explain` compares: those of edge nodes
 * (docs/contract.md#explanation-of-a-proposal), and what a HORNET returns about the blocks of a
 * milestone that it applied.
 */
import * as v from 'valibot';
import {
  type NodeClient,
  openNodeClient,
  readJson,
  requestJson,
  splitCredentials,
} from '../../client/node-client.ts';
import { printable } from '../../client/printable.ts';
import { patienceForBlocks } from '../../client/verify-node.ts';
import { startWorkers } from '../../src/platform/concurrency.ts';
import { uint32 } from '../../src/platform/json-schemas.ts';
import { conflictReasonOf, describeReason, rulesOf } from '../../src/stardust/judge.ts';

const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));
const state = v.picklist(['noTransaction', 'included', 'conflicting', 'unreferenced']);

const block = v.object({
  blockId: hash,
  ledgerInclusionState: state,
  conflictReason: v.optional(uint32),
  explanation: v.optional(v.string()),
  rule: v.optional(v.string()),
  decidingInput: v.optional(
    v.object({ input: uint32, outputId: v.string(), spentBy: v.optional(v.string()) }),
  ),
  decidingOutput: v.optional(v.object({ output: uint32, outputId: v.string() })),
});

const explanation = v.object({
  index: uint32,
  inclusionMerkleRoot: hash,
  appliedMerkleRoot: hash,
  blocks: v.array(block),
});

export type ComparedBlock = v.InferOutput<typeof block>;

/** What a node says of a milestone. */
export interface Explanation extends Omit<v.InferOutput<typeof explanation>, 'blocks'> {
  /** In white-flag order; undefined for a place of which the node was not asked. */
  blocks: readonly (ComparedBlock | undefined)[];
  /** Whether it was asked of our blocks alone, and may have more. */
  isPart?: true;
}

/** Throws an Error with a sentence where the JSON is no explanation. */
export function readExplanation(json: unknown, source: string): Explanation {
  const result = v.safeParse(explanation, json, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = printable(v.getDotPath(issue) ?? '');
  throw new Error(`${source} is no explanation: ${place} ${printable(issue.message)}`);
}

/** An edge node's explanation of the request. */
export async function askEdgeNode(url: string, request: string): Promise<Explanation> {
  return requestJson(openNodeClient(url), '/api/edge/v1/whiteflag', explanation, request);
}

const info = v.object({
  name: v.string(),
  status: v.object({ confirmedMilestone: v.object({ index: uint32 }) }),
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
      `${splitCredentials(url).base} is a ${printable(name)} at milestone ${status.confirmedMilestone.index}: it reports on blocks only after it has applied milestone ${ours.index}`,
    );
  }
  return askHornet(node, ours);
}

const roots = v.object({ inclusionMerkleRoot: hash, appliedMerkleRoot: hash });

const metadata = v.object({
  referencedByMilestoneIndex: v.optional(uint32, 0),
  whiteFlagIndex: v.optional(uint32, 0),
  ledgerInclusionState: v.optional(state, 'unreferenced'),
  conflictReason: v.optional(uint32),
});

/** Those of the blocks that the milestone references, in its order. */
async function askHornet(node: NodeClient, { index, blocks }: Explanation): Promise<Explanation> {
  const milestone = `/api/core/v2/milestones/by-index/${index}`;
  const signed = await requestJson(node, milestone, roots);
  // a place may be any number, so it is no index of an array
  const found = new Map<number, ComparedBlock>();
  const end = Date.now() + patienceForBlocks(blocks.length);
  const read = async (block: ComparedBlock | undefined) => {
    if (block === undefined) return;
    if (Date.now() > end) throw new Error('the blocks did not come in time');
    const { blockId } = block;
    const path = `/api/core/v2/blocks/${blockId}/metadata`;
    const response = await node(path);
    if (response.status === 404) return response.body?.cancel();
    const value = await readJson(response, path, metadata);
    if (value.referencedByMilestoneIndex !== index) return;
    found.set(value.whiteFlagIndex, { blockId, ...value, ...describeConflict(value) });
  };
  await Promise.all(startWorkers(blocks.values(), read));
  return {
    index,
    ...signed,
    blocks: blocks.map((_, place) => found.get(place)),
    isPart: true,
  };
}

/** A HORNET returns the number only. */
function describeConflict({ conflictReason }: v.InferOutput<typeof metadata>) {
  if (conflictReason === undefined) return {};
  const reason = conflictReasonOf(conflictReason);
  return { explanation: describeReason(reason), rule: rulesOf(reason) };
}
