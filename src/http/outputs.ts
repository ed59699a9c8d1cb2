/**
 * GET /api/core/v2/outputs/:outputId and …/metadata (TIP-25): what clients ask right after an
 * NFT lookup.
 */

import type { OutputStatus } from '../node/edge-node.ts';
import { decodeOutput } from '../stardust/ids.ts';
import { outputToJson } from '../stardust/rest-json.ts';
import { HttpError } from './errors.ts';
import { rawOrJson } from './raw.ts';
import { type Answer, jsonAnswer, type RouteContext } from './route.ts';
import { OutputId, parseId } from './schemas.ts';

export async function answerOutput(context: RouteContext): Promise<Answer> {
  const output = await readOutput(context);
  return rawOrJson(context, output.bytes, () => ({
    metadata: metadataToJson(output),
    output: outputToJson(decodeOutput(output.bytes)),
  }));
}

export async function answerOutputMetadata(context: RouteContext): Promise<Answer> {
  return jsonAnswer(metadataToJson(await readOutput(context)));
}

async function readOutput({ params, node, notes }: RouteContext): Promise<OutputStatus> {
  const output = await node.readOutput(parseId(OutputId, params.outputId, 'the output ID'));
  if (output === undefined)
    throw new HttpError(404, 'no such output, or it was spent and is pruned');
  notes.ledgerIndex = output.ledgerIndex;
  return output;
}

function metadataToJson({
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
