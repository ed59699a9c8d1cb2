/**
 * POST /api/core/v2/whiteflag: the roots of a milestone (TIP-25; docs/contract.md#white-flag).
 * Steps 1 and 2 of the contract are here, the others in src/node/compute-white-flag.ts.
 */

import type { RefusalReason, WhiteFlagRefusal, WhiteFlagRequest } from '../../../node/edge-node.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import type { Answer } from '../../answer.ts';
import { readJsonObject } from '../../body.ts';
import { HttpError } from '../../errors.ts';
import type { RequestNotes, RouteContext } from '../../route.ts';
import { parseWhiteFlagBody } from '../../schemas.ts';

export const REFUSAL_STATUSES: Record<RefusalReason, 400 | 404 | 500> = {
  impossible: 400,
  unknown: 404,
  failed: 500,
};

export async function answerWhiteFlag({
  request,
  node,
  cache,
  notes,
  defer,
}: RouteContext): Promise<Answer> {
  const asked = parseWhiteFlagBody(await readJsonObject(request));
  notes.proposal = proposalToJson(asked);
  const key = canonicalKey(asked);
  const kept = await cache.match(key);
  if (kept !== undefined) {
    notes.source = 'cache';
    return answer(kept, asked, notes);
  }

  const result = await node.computeWhiteFlag(asked);
  if (!result.ok) {
    throw whiteFlagError(asked, result, notes);
  }
  notes.source = 'd1';
  notes.blocks = result.blocks;
  notes.stages = result.stages;
  const body = JSON.stringify({
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
  });
  defer(() => cache.put(key, body));
  return answer(body, asked, notes);
}

/**
 * What a refusal is answered. "Not found" is said of the state that was asked about, unless the
 * ledger is elsewhere; a request that can never be right has no ledger index.
 */
export function whiteFlagError(
  { index }: WhiteFlagRequest,
  { reason, detail, ledgerIndex }: WhiteFlagRefusal,
  notes: RequestNotes,
): HttpError {
  notes.ledgerIndex = ledgerIndex ?? (reason === 'unknown' ? index - 1 : undefined);
  return new HttpError(REFUSAL_STATUSES[reason], detail);
}

function answer(body: string, { index }: WhiteFlagRequest, notes: RequestNotes): Answer {
  notes.ledgerIndex = index - 1;
  return { body, headers: { 'content-type': 'application/json' } };
}

/** For the log: whoever was halted by another answer finds there what was asked. */
function proposalToJson({ index, timestamp, parents, previousMilestoneId }: WhiteFlagRequest) {
  return {
    index,
    timestamp,
    parents: parents.map((id) => `0x${id}`),
    previousMilestoneId: `0x${previousMilestoneId}`,
  };
}

/** The whole request in one spelling, so that no two requests share a key. */
function canonicalKey({
  index,
  timestamp,
  parents,
  previousMilestoneId,
}: WhiteFlagRequest): string {
  return `index=${index}&timestamp=${timestamp}&previous=${previousMilestoneId}&parents=${parents.join('.')}`;
}
