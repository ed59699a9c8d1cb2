/**
 * POST /api/core/v2/whiteflag: the roots of a milestone (TIP-25; design §1, white flag). Steps 1 and 2 are here, the others are the ledger's.
 */
import { toHex } from '../stardust/bytes.ts';
import { readJsonObject } from './body.ts';
import { HttpError } from './errors.ts';
import type { WhiteFlagRequest } from './node.ts';
import type { RouteContext } from './route.ts';
import { parseWhiteFlagBody } from './schemas.ts';

export async function answerWhiteFlag({ request, node, cache, notes, defer }: RouteContext): Promise<Response> {
  const asked = parseWhiteFlagBody(await readJsonObject(request));
  const key = canonicalKey(asked);
  const kept = await cache.match(key);
  if (kept !== undefined) {
    notes.source = 'cache';
    return answer(kept, asked, notes);
  }

  const result = await node.computeWhiteFlag(asked);
  if (!result.ok) {
    notes.ledgerIndex = result.ledgerIndex ?? asked.index - 1;
    throw new HttpError(result.status, result.detail, { 'x-ledger-index': String(notes.ledgerIndex) });
  }
  notes.source = 'd1';
  notes.blocks = result.blocks;
  notes.stages = result.stages;
  const body = JSON.stringify({
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
  });
  defer(cache.put(key, body));
  return answer(body, asked, notes);
}

/** The answer names the state that it was computed on. */
function answer(body: string, { index }: WhiteFlagRequest, notes: RouteContext['notes']): Response {
  notes.ledgerIndex = index - 1;
  const headers = { 'content-type': 'application/json', 'x-ledger-index': String(notes.ledgerIndex) };
  return new Response(body, { headers });
}

/** The whole request in one spelling, so that no two requests share a key. A change of what this Worker computes needs another version here. */
function canonicalKey({ index, timestamp, parents, previousMilestoneId }: WhiteFlagRequest): string {
  return `v=1&index=${index}&timestamp=${timestamp}&previous=${previousMilestoneId}&parents=${parents.join('.')}`;
}
