/**
 * Checks an edge node's newest milestone through its public routes, against keys that the reader
 * chose. It runs in Node, and in browsers as a part of the explorer. It only asks: what the answers
 * prove is judged by src/stardust/provenance/.
 *
 * 1. The milestone is signed by the keys (M-2, M-3).
 * 2. The IDs of its cone lead to the signed inclusion root (B.13), every block has the ID that the
 *    node gives it (B.1), and depth first from the milestone's parents the blocks come in the order
 *    that the node gives (E.1).
 * 3. The verdicts lead to the signed applied root, and the node says of each block what its bytes
 *    say.
 * 4. The proof of a block that chance picks leads to the same milestone.
 * 5. The white flag, asked as the coordinator did, answers the signed roots.
 */
import * as v from 'valibot';
import { startWorkers } from '../src/platform/concurrency.ts';
import { uint32 } from '../src/platform/json-schemas.ts';
import {
  type BlockFacts,
  compareCone,
  type Finding,
  type MilestoneOutcome,
  notChecked,
  type Order,
  type Proved,
  proveApplied,
  proveBlockBytes,
  proveBlocks,
  proveCone,
  provedValue,
  proveMilestone,
  proveOrder,
  proveProofFile,
  proveSignedRoots,
  proveWalk,
  type SaidBlock,
  type SignedMilestone,
  type Trust,
  tell,
} from '../src/stardust/provenance/provenance.ts';
import {
  mustAnswer,
  type NodeClient,
  readJson,
  requestJson,
  requireProved,
} from './node-client.ts';
import { describeSigned } from './words/proved.ts';

const RAW = 'application/vnd.iota.serializer-v1';

/**
 * A cone of more blocks is not checked: 16 MiB of JSON (node-client.ts) have some more, and each is
 * a request.
 */
const MAX_BLOCKS = 50_000;

/**
 * For all blocks of a cone, beside 30 seconds: a block comes within some milliseconds, and a node
 * that lets each answer wait is not waited for.
 */
const TIME_PER_BLOCK_MS = 200;
const LEAST_TIME_MS = 30_000;

/** Milliseconds for what a node says of so many blocks. */
export const patienceForBlocks = (blocks: number): number =>
  LEAST_TIME_MS + blocks * TIME_PER_BLOCK_MS;

const info = v.object({ status: v.object({ confirmedMilestone: v.object({ index: uint32 }) }) });

const id = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));

const explanation = v.object({
  index: uint32,
  blocks: v.pipe(
    v.array(
      v.object({
        blockId: id,
        whiteFlagIndex: uint32,
        payload: v.picklist(['none', 'transaction', 'milestone', 'taggedData']),
        ledgerInclusionState: v.picklist(['noTransaction', 'included', 'conflicting']),
      }),
    ),
    v.maxLength(MAX_BLOCKS),
  ),
});

const roots = v.object({ inclusionMerkleRoot: id, appliedMerkleRoot: id });

/** What is told while the checks are made. */
export interface Listener {
  /** Each of the five checks that passed, in its order. */
  onProved(sentence: Proved<string>): void;
  onProgress?(text: string): void;
  /**
   * Told if proposals are closed to this client (401, 403), and are not checked. If absent, that is
   * an Error.
   */
  onClosed?(sentence: string): void;
  /** Unix seconds. */
  now(): number;
}

/**
 * Resolves to what was proved. Throws a NotVerified for the first answer that is refuted,
 * and an Error where the node does not answer in time, or within bounds.
 *
 * @param random from 0 to below 1: which block's proof is asked for
 */
export async function verifyNode(
  node: NodeClient,
  trust: Trust,
  random: number,
  { onProved, onProgress, onClosed, now }: Listener,
): Promise<Proved<MilestoneOutcome>> {
  const report = <T>(proof: Proved<T>, words: (value: T) => string): Proved<T> => {
    onProved(tell(proof, words));
    return proof;
  };
  const { status } = await requestJson(node, '/api/core/v2/info', info);
  const { index } = status.confirmedMilestone;
  const payload = await askRaw(node, `/api/core/v2/milestones/by-index/${index}`);
  const signed = requireProved(await proveMilestone(payload, { index }, trust));
  report(signed, () => describeSigned(signed, now()));
  const explained = await requestJson(node, `/api/edge/v1/whiteflag/${index}`, explanation);
  if (explained.index !== index)
    throw new Error(`the node was asked for milestone ${index}, and explains ${explained.index}`);
  const said = explained.blocks;
  const ids = said.map(({ blockId }) => blockId);
  // first, so that no more blocks are requested than the milestone has
  const order = requireProved(proveOrder(signed, ids));
  const blocks = requireProved(proveBlocks(await readBlocks(node, ids, onProgress)));
  requireProved(proveWalk(provedValue(signed).parents, blocks, ids));
  report(
    order,
    ({ blockIds }) => `Its cone of ${blockIds.length} blocks leads to the signed inclusion root.`,
  );
  const outcome = requireProved(judgeApplied(order, said));
  requireProved(compareCone(requireProved(proveCone(outcome, blocks)), said));
  report(
    outcome,
    ({ applied }) =>
      `The ${applied.size} transactions that were applied lead to the signed applied root.`,
  );
  const picked = ids[Math.floor(random * ids.length)];
  if (picked === undefined) {
    // the first milestone of a network may reference none
    report(order, () => 'It references no block that could have a proof.');
  } else {
    const file = await requestJson(node, `/api/edge/v1/blocks/${picked}/proof`, v.unknown());
    report(
      requireProved(await proveProofFile(outcome, picked, file, trust)),
      () => `The proof of block ${picked} leads to the milestone.`,
    );
  }
  const answered = await askWhiteFlag(node, provedValue(signed), onClosed);
  if (answered !== undefined)
    report(
      requireProved(proveSignedRoots(signed, answered)),
      () => 'Asked as a coordinator asks, the node answers the signed roots.',
    );
  return outcome;
}

function judgeApplied(order: Proved<Order>, said: readonly SaidBlock[]): Finding<MilestoneOutcome> {
  const applied = said.filter(({ ledgerInclusionState: state }) => state === 'included');
  const ids = new Set(applied.map(({ blockId }) => blockId));
  return proveApplied(order, (blockId) => ids.has(blockId));
}

/** What the bytes of each block prove, six requests at a time. */
async function readBlocks(
  node: NodeClient,
  ids: readonly string[],
  onProgress?: (text: string) => void,
): Promise<Finding<BlockFacts>[]> {
  const found: Finding<BlockFacts>[] = [];
  const patience = patienceForBlocks(ids.length);
  const end = Date.now() + patience;
  let isOver = false;
  const read = async (blockId: string) => {
    if (isOver) return;
    if (Date.now() > end) {
      isOver = true;
      found.push(notChecked(`the blocks did not come within ${patience / 1000} seconds`));
      return;
    }
    const bytes = await askRaw(node, `/api/core/v2/blocks/${blockId}`);
    const finding = proveBlockBytes(bytes, blockId);
    found.push(finding);
    isOver ||= finding.standing !== 'proved';
    onProgress?.(`Reading block ${found.length} of ${ids.length}`);
  };
  try {
    await Promise.all(startWorkers(ids.values(), read));
  } finally {
    isOver = true;
  }
  return found;
}

const WHITE_FLAG = '/api/core/v2/whiteflag';

async function askWhiteFlag(
  node: NodeClient,
  { index, timestamp, parents, previousMilestoneId }: SignedMilestone,
  onClosed: Listener['onClosed'],
) {
  const body = JSON.stringify({ index, timestamp, parents, previousMilestoneId });
  const answer = await node(WHITE_FLAG, { body });
  if (onClosed === undefined || ![401, 403].includes(answer.status))
    return readJson(answer, WHITE_FLAG, roots);
  await answer.body?.cancel();
  onClosed(
    `Not checked: what it answers a coordinator, as ${WHITE_FLAG} is ${answer.status} here.`,
  );
  return undefined;
}

async function askRaw(node: NodeClient, path: string): Promise<Uint8Array> {
  const answer = await mustAnswer(await node(path, { accept: RAW }), path);
  return new Uint8Array(await answer.arrayBuffer());
}
