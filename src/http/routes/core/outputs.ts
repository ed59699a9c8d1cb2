/**
 * GET /api/core/v2/outputs/:outputId and …/metadata (TIP-25): what clients ask right after an
 * NFT lookup.
 */

import type { OutputStatus } from '../../../node/edge-node.ts';
import { outputToJson } from '../../../stardust/json/rest-json.ts';
import { decodeOutput } from '../../../stardust/wire/ids.ts';
import type { Answer } from '../../answer.ts';
import { IMMUTABLE, RAW } from '../../content-negotiation.ts';
import { HttpError } from '../../errors.ts';
import { ledgerAnswer, readMinLedgerIndex, requireLedgerIndex } from '../../ledger-answer.ts';
import type { RouteContext } from '../../route.ts';
import { OutputId, parseId } from '../../schemas.ts';

export async function answerOutput(context: RouteContext): Promise<Answer> {
  const { request, notes } = context;
  const output = await readOutput(context);
  if (request.headers.get('accept')?.startsWith(RAW)) {
    // true at any index
    delete notes.ledgerIndex;
    const headers = { 'content-type': RAW, ...IMMUTABLE, vary: 'accept' };
    return { body: output.bytes, headers };
  }
  const body = {
    metadata: metadataToJson(output),
    output: outputToJson(decodeOutput(output.bytes)),
  };
  return ledgerAnswer(request, body, tagOf(output), ['accept']);
}

export async function answerOutputMetadata(context: RouteContext): Promise<Answer> {
  const output = await readOutput(context);
  return ledgerAnswer(context.request, metadataToJson(output), tagOf(output));
}

/** All but whether it is spent is fixed by the output's ID, and what is spent stays so. */
function tagOf({ ledgerIndex, spent, blockId }: OutputStatus): string {
  return `${ledgerIndex}-${spent?.index ?? 'unspent'}-${blockId.slice(0, 16)}`;
}

async function readOutput({ request, params, node, notes }: RouteContext): Promise<OutputStatus> {
  const outputId = parseId(OutputId, params.outputId, 'the output ID');
  const minLedgerIndex = readMinLedgerIndex(request);
  const output = await node.readOutput(outputId, minLedgerIndex);
  if (output === undefined)
    throw new HttpError(404, 'no such output, or it was spent and is pruned');
  notes.ledgerIndex = output.ledgerIndex;
  requireLedgerIndex(output.ledgerIndex, minLedgerIndex);
  return output;
}

export function metadataToJson({
  outputId,
  blockId,
  bookedIndex,
  bookedTimestamp,
  spent,
  ledgerIndex,
}: OutputStatus) {
  const index = Uint8Array.fromHex(outputId.slice(64));
  return {
    blockId: `0x${blockId}`,
    transactionId: `0x${outputId.slice(0, 64)}`,
    outputIndex: index[0]! + index[1]! * 256,
    isSpent: spent !== undefined,
    ...(spent && {
      milestoneIndexSpent: spent.index,
      milestoneTimestampSpent: spent.timestamp,
      transactionIdSpent: `0x${spent.transactionId}`,
    }),
    milestoneIndexBooked: bookedIndex,
    milestoneTimestampBooked: bookedTimestamp,
    ledgerIndex,
  };
}
