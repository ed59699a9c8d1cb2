/**
 * Blocks as the reference parses them: `{block, valid, blockId?, payloadId?, json?}` (protocol.md C without C-4 to C-6).
 */
import { transactionAdmissionFault } from '../../src/stardust/admission.ts';
import { block, type ParsedBlock, parseBlock } from '../../src/stardust/block.ts';
import { toHex } from '../../src/stardust/bytes.ts';
import { encode } from '../../src/stardust/codec.ts';
import type { ProtocolParameters } from '../../src/stardust/parameters.ts';
import { blockToJson } from '../../src/stardust/rest-json.ts';
import { firstDifference } from './compare.ts';
import { bytes, flag, type Line } from './line.ts';

export function runParsing(line: Line, parameters: ProtocolParameters): string | undefined {
  const received = bytes(line, 'block');
  const valid = flag(line, 'valid');
  const result = parseBlock(received);
  const reason = result.ok ? transactionAdmissionFault(result.parsed, parameters) : result.reason;
  if (!result.ok || reason !== undefined) return valid ? `refused: ${reason}` : undefined;
  if (!valid) return 'accepted where it is to be refused';
  const { parsed } = result;
  return (
    compareFields(line, parsed) ??
    firstDifference(toHex(encode(block, parsed.block)), toHex(received), 'encoded again')
  );
}

/** Compares what the vector tells of the block. */
function compareFields(line: Line, parsed: ParsedBlock): string | undefined {
  const payloadId = parsed.transaction?.id ?? parsed.milestone?.id;
  const facts: Line = {
    blockId: toHex(parsed.id),
    payloadId: payloadId && toHex(payloadId),
    json: blockToJson(parsed.block),
  };
  for (const [field, fact] of Object.entries(facts)) {
    const difference =
      line[field] === undefined ? undefined : firstDifference(fact, line[field], field);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
