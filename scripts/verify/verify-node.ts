/**
 * Checks an edge node's newest milestone through its public routes, against keys that the caller
 * trusts. It runs in Node, and in browsers as a part of the explorer. Of what the node says nothing is
 * believed:
 *
 * 1. The milestone is signed by the keys (M-2, M-3).
 * 2. Every block of its cone has the ID that the node gives it (B.1), and depth first from the
 *    milestone's parents the blocks come in the order that the node gives (E.1).
 * 3. IDs and verdicts lead to both signed roots (B.13).
 * 4. The proof of a block that chance picks leads to the same milestone.
 * 5. The white flag, asked as the coordinator did, answers the signed roots.
 */
import * as v from 'valibot';
import {
  equalBytes,
  fromHex,
  Reader,
  Refusal,
  toHex,
  toHexDigits,
} from '../../src/stardust/encoding/bytes.ts';
import { decode } from '../../src/stardust/encoding/codec.ts';
import { type MilestoneKeys, signatureFault } from '../../src/stardust/milestone-keys.ts';
import { merkleRoot } from '../../src/stardust/proof/merkle.ts';
import { verifyProofFile } from '../../src/stardust/proof/proof.ts';
import { proofFileReaders } from '../../src/stardust/proof/proof-file.ts';
import { parseBlock } from '../../src/stardust/wire/block.ts';
import { milestoneId } from '../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../src/stardust/wire/milestone.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import { mustAnswer, type NodeClient, requestJson } from '../lib/node-client.ts';
import { orderBlocks } from './order-blocks.ts';

const RAW = 'application/vnd.iota.serializer-v1';
const CONCURRENT_REQUESTS = 6;

/** What the node says is not so. The message is a sentence for people. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified';
}

const info = v.object({
  status: v.object({ confirmedMilestone: v.object({ index: v.number() }) }),
});

const id = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));

const explanation = v.object({
  blocks: v.array(v.object({ blockId: id, ledgerInclusionState: v.string() })),
});

const roots = v.object({ inclusionMerkleRoot: id, appliedMerkleRoot: id });

/**
 * Yields what was found right, each check as a sentence when it was made. Throws a {@link
 * NotVerified} for the first thing that is not, and an Error where the node does not answer.
 *
 * @param random from 0 to below 1: which block's proof is asked for
 */
export async function* verifyNode(
  node: NodeClient,
  keys: MilestoneKeys,
  random: number,
): AsyncGenerator<string, void> {
  const { status } = await requestJson(node, '/api/core/v2/info', info);
  const { index } = status.confirmedMilestone;
  const signed = await readSigned(node, index, keys);
  yield `Milestone ${index} is signed by ${signed.signatures.length} of the keys.`;
  const { blocks } = await requestJson(node, `/api/edge/v1/whiteflag/${index}`, explanation);
  const ids = blocks.map(({ blockId }) => blockId);
  const parents = await readParents(node, ids);
  requireSame(orderBlocks(signed.parents.map(toHex), parents), ids, 'the white-flag order');
  requireRoot(ids, signed.inclusionMerkleRoot, 'inclusion root');
  yield `Its cone of ${ids.length} blocks leads to the signed inclusion root.`;
  const applied = blocks.filter(({ ledgerInclusionState: state }) => state === 'included');
  const appliedIds = applied.map(({ blockId }) => blockId);
  requireRoot(appliedIds, signed.appliedMerkleRoot, 'applied root');
  yield `The ${applied.length} transactions that were applied lead to the signed applied root.`;
  const picked = ids[Math.floor(random * ids.length)]!;
  await checkProof(node, picked, index, keys);
  yield `The proof of block ${picked} leads to the milestone.`;
  await checkWhiteFlag(node, signed);
  yield 'The white flag answers the signed roots.';
}

async function readSigned(
  node: NodeClient,
  index: number,
  keys: MilestoneKeys,
): Promise<Milestone> {
  const payload = await askRaw(node, `/api/core/v2/milestones/by-index/${index}`);
  const value = decodeMilestone(payload, index);
  if (value.index !== index) throw new NotVerified(`milestone ${value.index} comes for ${index}`);
  const fault = await signatureFault(value, milestoneId(value, payload), keys, verifySignature);
  if (fault !== undefined)
    throw new NotVerified(`milestone ${index} is not signed by the keys: ${fault}`);
  return value;
}

function decodeMilestone(payload: Uint8Array, index: number): Milestone {
  try {
    return decode(milestone, new Reader(payload));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new NotVerified(`milestone ${index} does not parse: ${error.message}`);
  }
}

/** The parents of each block, by ID, once its bytes were seen to have that ID. */
async function readParents(
  node: NodeClient,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const parents = new Map<string, string[]>();
  const left = ids.values();
  const work = async () => {
    for (const blockId of left) {
      const result = parseBlock(await askRaw(node, `/api/core/v2/blocks/${blockId}`));
      if (!result.ok) throw new NotVerified(`block ${blockId} does not parse: ${result.reason}`);
      const { parsed } = result;
      if (toHex(parsed.id) !== blockId)
        throw new NotVerified(`the bytes of block ${blockId} are those of ${toHex(parsed.id)}`);
      parents.set(blockId, parsed.block.parents.map(toHex));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return parents;
}

function requireSame(found: readonly string[], said: readonly string[], what: string): void {
  const place = said.findIndex((each, i) => each !== found[i]);
  if (place >= 0 || found.length !== said.length) {
    throw new NotVerified(
      `${what} is another one from place ${place < 0 ? said.length : place} on (E.1)`,
    );
  }
}

function requireRoot(ids: readonly string[], signed: Uint8Array, what: string): void {
  const root = merkleRoot(ids.map(fromHex));
  if (!equalBytes(root, signed))
    throw new NotVerified(`${what}: ${toHex(root)}, and signed is ${toHex(signed)}`);
}

async function checkProof(
  node: NodeClient,
  blockId: string,
  index: number,
  keys: MilestoneKeys,
): Promise<void> {
  const file = await requestJson(node, `/api/edge/v1/blocks/${blockId}/proof`, v.unknown());
  const { signedRoots, ...readers } = proofFileReaders(() => keys, verifySignature);
  let proven: number | undefined;
  const verdict = await verifyProofFile(
    { ...(file as object), blockId },
    {
      ...readers,
      async signedRoots(json) {
        const value = await signedRoots(json);
        proven = (value as Milestone).index;
        return value;
      },
    },
  );
  if (!verdict.ok) throw new NotVerified(`the proof of block ${blockId}: ${verdict.reason}`);
  if (proven !== index)
    throw new NotVerified(`the proof of block ${blockId} leads to milestone ${proven}`);
}

async function checkWhiteFlag(node: NodeClient, signed: Milestone): Promise<void> {
  const request = {
    index: signed.index,
    timestamp: signed.timestamp,
    parents: signed.parents.map(toHex),
    previousMilestoneId: toHex(signed.previousMilestoneId),
  };
  const body = JSON.stringify(request);
  const answer = await requestJson(node, '/api/core/v2/whiteflag', roots, body);
  for (const root of ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const) {
    const due = toHexDigits(signed[root]);
    if (answer[root] !== `0x${due}`)
      throw new NotVerified(`the white flag answers ${root} ${answer[root]}, signed is 0x${due}`);
  }
}

async function askRaw(node: NodeClient, path: string): Promise<Uint8Array> {
  const answer = await mustAnswer(await node(path, { accept: RAW }), path);
  return new Uint8Array(await answer.arrayBuffer());
}
