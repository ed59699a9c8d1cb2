/**
 * GET /api/core/v2/blocks/:blockId and …/metadata, and the same of the block whose transaction was
 * applied, by the transaction's ID (TIP-25; docs/contract.md#blocks).
 */

import type { StoredBlock } from '../../../node/edge-node.ts';
import { carriesMilestone } from '../../../stardust/admission.ts';
import { Reader, toHex, toHexDigits } from '../../../stardust/encoding/bytes.ts';
import { decode, encode } from '../../../stardust/encoding/codec.ts';
import { blockToJson } from '../../../stardust/json/rest-json.ts';
import { type Block, block } from '../../../stardust/wire/block.ts';
import { milestoneId } from '../../../stardust/wire/ids.ts';
import { milestone } from '../../../stardust/wire/milestone.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { IMMUTABLE, rawOrJson } from '../../content-negotiation.ts';
import { HttpError } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId } from '../../schemas.ts';

export async function answerBlock(context: RouteContext): Promise<Answer> {
  return answerBytes(context, await readNamedBlock(context));
}

export async function answerBlockMetadata(context: RouteContext): Promise<Answer> {
  return answerMetadata(context, await readNamedBlock(context));
}

export async function answerIncludedBlock(context: RouteContext): Promise<Answer> {
  return answerBytes(context, await readIncluded(context));
}

export async function answerIncludedBlockMetadata(context: RouteContext): Promise<Answer> {
  return answerMetadata(context, await readIncluded(context));
}

async function readNamedBlock({ params, node, notes }: RouteContext): Promise<StoredBlock> {
  const found = await node.readBlock(parseId(Id, params.blockId, 'the block ID'));
  if (found === undefined) throw new HttpError(404, 'no such block, or its bytes are pruned');
  notes.ledgerIndex = found.ledgerIndex;
  return found;
}

async function readIncluded({ params, node, notes }: RouteContext): Promise<StoredBlock> {
  const transactionId = parseId(Id, params.transactionId, 'the transaction ID');
  const found = await node.readIncludedBlock(transactionId);
  if (found === undefined)
    throw new HttpError(404, 'no such transaction was applied here, or it is pruned');
  notes.ledgerIndex = found.ledgerIndex;
  return found;
}

function answerBytes(context: RouteContext, found: StoredBlock): Answer {
  const { bytes } = found;
  return rawOrJson(context, bytes, () => blockToJson(decodeBlock(bytes)), cachingOf(found));
}

async function answerMetadata({ node }: RouteContext, found: StoredBlock): Promise<Answer> {
  const { blockId, bytes, isSolid, referenced } = found;
  const value = decodeBlock(bytes);
  const milestoneIndex = await milestoneIndexOf(value, node);
  const metadata = {
    blockId: `0x${blockId}`,
    parents: value.parents.map(toHex),
    isSolid,
    ...(referenced && { referencedByMilestoneIndex: referenced.index }),
    ...(milestoneIndex !== undefined && { milestoneIndex }),
    ...(referenced && {
      ...inclusionOf(referenced.reason),
      whiteFlagIndex: referenced.whiteFlagIndex,
    }),
  };
  return jsonAnswer(metadata, cachingOf(found));
}

/** The states that TIP-25 names; `reason` is undefined where there is no transaction. */
export function inclusionOf(reason: number | undefined) {
  if (reason === undefined) return { ledgerInclusionState: 'noTransaction' };
  if (reason === 0) return { ledgerInclusionState: 'included' };
  return { ledgerInclusionState: 'conflicting', conflictReason: reason };
}

/**
 * Of a block that carries an applied milestone (M-5). Anybody may send a block with a milestone
 * payload; only one that was applied is known to be properly signed.
 */
async function milestoneIndexOf(
  { parents, payload }: Block,
  node: RouteContext['node'],
): Promise<number | undefined> {
  if (payload?.type !== 7 || !carriesMilestone(parents, payload.parents)) return undefined;
  const id = toHexDigits(milestoneId(payload, encode(milestone, payload)));
  return (await node.findMilestone(id)) === undefined ? undefined : payload.index;
}

function decodeBlock(bytes: Uint8Array): Block {
  return decode(block, new Reader(bytes));
}

/** A block that no milestone references yet may be dropped, and its metadata will change. */
function cachingOf({ referenced }: StoredBlock): Record<string, string> {
  return referenced === undefined ? {} : IMMUTABLE;
}
