/**
 * Blocks as the reference parses them: `{block, valid, blockId?, payloadId?, json?}`
 * (docs/protocol.md C without C-4 to C-6).
 */
import {
  blockToJson,
  encodeBlock,
  type ParsedBlock,
  type ProtocolParameters,
  parseBlock,
  transactionAdmissionFault,
} from '../../src/stardust/block.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { bytes, flag, type JsonObject } from '../../src/stardust/encoding/json-object.ts';
import { firstDifference } from './compare.ts';

export function runParsing(vector: JsonObject, parameters: ProtocolParameters): string | undefined {
  const received = bytes(vector, 'block');
  const valid = flag(vector, 'valid');
  const result = parseBlock(received);
  const reason = result.ok ? transactionAdmissionFault(result.parsed, parameters) : result.reason;
  if (!result.ok || reason !== undefined) return valid ? `refused: ${reason}` : undefined;
  if (!valid) return 'accepted where it is to be refused';
  const { parsed } = result;
  return (
    compareFields(vector, parsed) ??
    firstDifference(toHex(encodeBlock(parsed.block)), toHex(received), 'encoded again')
  );
}

/** Compares the block's ID, payload ID and REST form with those that the vector has. */
function compareFields(vector: JsonObject, parsed: ParsedBlock): string | undefined {
  const payloadId = parsed.transaction?.id ?? parsed.milestone?.id;
  const facts: JsonObject = {
    blockId: toHex(parsed.id),
    payloadId: payloadId && toHex(payloadId),
    json: blockToJson(parsed.block),
  };
  for (const [field, fact] of Object.entries(facts)) {
    const difference =
      vector[field] === undefined ? undefined : firstDifference(fact, vector[field], field);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
