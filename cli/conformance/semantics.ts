/**
 * Verdicts on single transactions: `{unixTime, inputs, transaction, transactionId?, conflict}`
 * (docs/protocol.md D.2).
 */

import { verifySignature } from '../../src/platform/verify-signature.ts';
import { decodeTransaction } from '../../src/stardust/block.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { array, bytes, integer, type JsonObject } from '../../src/stardust/encoding/json-object.ts';
import { StardustError } from '../../src/stardust/error.ts';
import {
  ConflictReason,
  type ConsumedOutput,
  describeReason,
  judgeAt,
  judgeOverTime,
  verifySignatures,
} from '../../src/stardust/judge.ts';
import { decodeOutput } from '../../src/stardust/output.ts';
import { firstDifference } from './compare.ts';

export async function runSemantics(vector: JsonObject): Promise<string | undefined> {
  const payload = bytes(vector, 'transaction');
  const unixTime = integer(vector, 'unixTime');
  const conflict = integer(vector, 'conflict', 255);
  const unverified = decodeTransaction(payload);
  const { id } = unverified;
  const expectedId = vector.transactionId;
  if (expectedId !== undefined && toHex(id) !== expectedId)
    return firstDifference(toHex(id), expectedId, 'transactionId');

  const tx = {
    ...unverified,
    validSignatures: await verifySignatures(unverified, verifySignature),
  };
  const consumed = array(vector, 'inputs').map(readInput);
  const reason = judgeAt(tx, consumed, unixTime);
  if (reason !== conflict)
    return `conflict: ${inWords(reason)} where ${inWords(conflict)} is expected`;
  const step = judgeOverTime(tx, consumed).findLast(({ from }) => from <= unixTime);
  return firstDifference(step?.reason, conflict, 'conflict, by the verdict over time');
}

function readInput(input: unknown): ConsumedOutput {
  if (!Array.isArray(input))
    throw new StardustError('TIP-25', 'an input that is no pair of output ID and output');
  const [id, output] = [bytes({ id: input[0] }, 'id'), bytes({ output: input[1] }, 'output')];
  return { id, bytes: output, output: decodeOutput(output) };
}

const REASONS = new Set<number>(Object.values(ConflictReason));

function inWords(reason: number): string {
  return REASONS.has(reason)
    ? `${reason} (${describeReason(reason as ConflictReason)})`
    : `${reason}`;
}
