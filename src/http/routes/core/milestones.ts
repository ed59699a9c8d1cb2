/**
 * GET /api/core/v2/milestones/:milestoneId and …/by-index/:index, and what each changed in the
 * ledger (TIP-25; docs/contract.md#milestones).
 */

import type { MilestoneName } from '../../../node/edge-node.ts';
import { Reader } from '../../../stardust/encoding/bytes.ts';
import { decode } from '../../../stardust/encoding/codec.ts';
import { milestoneToJson } from '../../../stardust/json/rest-json.ts';
import { milestone } from '../../../stardust/wire/milestone.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { IMMUTABLE, IMMUTABLE_FOR_A_DAY, rawOrJson } from '../../content-negotiation.ts';
import { HttpError } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { Id, parseId, parseMilestoneIndex } from '../../schemas.ts';

export async function answerMilestone(context: RouteContext): Promise<Answer> {
  const { node, notes } = context;
  const name = nameFrom(context);
  const found = await node.readMilestone(name);
  if (found === undefined) throw new HttpError(404, 'no such milestone here, or it is pruned');
  notes.ledgerIndex = found.ledgerIndex;
  const { payload } = found;
  const toJson = () => milestoneToJson(decode(milestone, new Reader(payload)));
  return rawOrJson(context, payload, toJson, cachingOf(name));
}

export async function answerLedgerChanges(context: RouteContext): Promise<Answer> {
  const { node, notes } = context;
  const name = nameFrom(context);
  const changes = await node.readLedgerChanges(name);
  if (changes === undefined)
    throw new HttpError(404, 'this milestone was not applied here, or is pruned');
  notes.ledgerIndex = changes.ledgerIndex;
  const { index, created, consumed } = changes;
  const answer = {
    index,
    createdOutputs: created.map((id) => `0x${id}`),
    consumedOutputs: consumed.map((id) => `0x${id}`),
  };
  return jsonAnswer(answer, cachingOf(name));
}

function nameFrom({ params }: RouteContext): MilestoneName {
  return params.milestoneIndex === undefined
    ? { id: parseId(Id, params.milestoneId, 'the milestone ID') }
    : { index: parseMilestoneIndex(params.milestoneIndex, 'the milestone index') };
}

function cachingOf(name: MilestoneName): Record<string, string> {
  return 'id' in name ? IMMUTABLE : IMMUTABLE_FOR_A_DAY;
}
