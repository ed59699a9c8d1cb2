/**
 * GET /api/core/v2/milestones/:milestoneId and …/by-index/:index, and what each changed in the
 * ledger (TIP-25; docs/contract.md#milestones).
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { HttpError, UnknownHere } from '../../../http/errors.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { coreRead, inPath, type Operations } from '../../../http/openapi/operation.ts';
import { Id, MilestoneIndex, parseId, parseMilestoneIndex } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { milestoneToJson } from '../../../stardust/json/rest-json.ts';
import { decodeMilestone } from '../../../stardust/wire/decode-milestone.ts';
import { milestonePayloadSchema } from '../block-schemas.ts';
import { rawOrJson } from '../content-negotiation.ts';
import { type MilestoneName, readLedgerChanges, readMilestone } from '../stored-milestone.ts';

export const milestoneRoutes = {
  // before those by ID, which "by-index" would be taken for
  readMilestoneByIndex: {
    method: 'GET',
    path: '/api/core/v2/milestones/by-index/:milestoneIndex',
    keep: 'index',
    handle: answerMilestone,
  },
  readUtxoChangesByIndex: {
    method: 'GET',
    path: '/api/core/v2/milestones/by-index/:milestoneIndex/utxo-changes',
    keep: 'index',
    limit: 'scanLimit',
    handle: answerLedgerChanges,
  },
  readMilestone: {
    method: 'GET',
    path: '/api/core/v2/milestones/:milestoneId',
    // the ID does not commit to the signatures
    keep: 'index',
    handle: answerMilestone,
  },
  readUtxoChanges: {
    method: 'GET',
    path: '/api/core/v2/milestones/:milestoneId/utxo-changes',
    keep: 'id',
    limit: 'scanLimit',
    handle: answerLedgerChanges,
  },
} satisfies RouteTable;

async function answerMilestone(context: RouteContext): Promise<Answer> {
  const found = await readMilestone(context.node.session(), nameFrom(context));
  if (found === undefined) throw new UnknownHere('no such milestone here, or it is pruned');
  const { payload, ledgerIndex } = found;
  const toJson = () => milestoneToJson(decodeMilestone(payload).value);
  return rawOrJson(context, payload, toJson, { ledgerIndex });
}

async function answerLedgerChanges(context: RouteContext): Promise<Answer> {
  const changes = await readLedgerChanges(context.node.session(), nameFrom(context));
  if (changes === undefined)
    throw new UnknownHere('this milestone was not applied here, or is pruned');
  if (changes === 'too-large')
    throw new HttpError(500, 'this milestone changed more outputs than one answer takes');
  const { index, created, consumed, ledgerIndex } = changes;
  const answer = {
    index,
    createdOutputs: created.map((id) => `0x${id}`),
    consumedOutputs: consumed.map((id) => `0x${id}`),
  };
  return jsonAnswer(answer, { ledgerIndex });
}

function nameFrom({ params }: RouteContext): MilestoneName {
  return params.milestoneIndex === undefined
    ? { id: parseId(Id, params.milestoneId, 'the milestone ID') }
    : { index: parseMilestoneIndex(params.milestoneIndex, 'the milestone index') };
}

export function describeMilestones(): Operations<typeof milestoneRoutes> {
  const changes = json.namedObject('UtxoChanges', {
    index: json.milestoneIndexSchema,
    createdOutputs: json.arrayOf(json.outputIdSchema),
    consumedOutputs: json.arrayOf(json.outputIdSchema),
  });
  const byIndex = inPath('milestoneIndex', MilestoneIndex, 'Milestone index.');
  const byId = inPath('milestoneId', Id, 'Milestone ID, 32 bytes.');
  const path =
    '/api/core/v2/milestones/0xef16bf8eae2756dce09732f6faa0ba906e5991e82133b68c9bff8c9486b9af59';
  const pathByIndex = '/api/core/v2/milestones/by-index/17339';
  const whole = {
    description: 'The milestone payload.',
    schema: milestonePayloadSchema,
    raw: true,
  } as const;
  const ids = { description: 'Output IDs.', schema: changes };
  return {
    readMilestoneByIndex: coreRead('A milestone by its index', pathByIndex, byIndex, whole),
    readUtxoChangesByIndex: coreRead(
      'The outputs that a milestone, by its index, created and consumed',
      `${pathByIndex}/utxo-changes`,
      byIndex,
      ids,
    ),
    readMilestone: coreRead('A milestone by its ID', path, byId, whole),
    readUtxoChanges: coreRead(
      'The outputs that a milestone created and consumed',
      `${path}/utxo-changes`,
      byId,
      ids,
    ),
  };
}
