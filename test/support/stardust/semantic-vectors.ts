/**
 * The recorded verdicts of the reference on single transactions: semantics.jsonl, and what it said
 * of each conflict, verdict-errors.jsonl (test/vectors/README.md#single-rules).
 */

import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { verifySignatures } from '../../../src/stardust/semantics/signatures.ts';
import type { ConsumedOutput, JudgedTransaction } from '../../../src/stardust/semantics/verdict.ts';
import { signedDigest, transactionId } from '../../../src/stardust/wire/ids.ts';
import { output } from '../../../src/stardust/wire/output.ts';
import { transaction } from '../../../src/stardust/wire/transaction.ts';
import { readLines } from '../vectors.ts';

interface Line {
  name: string;
  unixTime: number;
  inputs: [outputId: string, output: string][];
  transaction: string;
  transactionId: string;
  conflict: number;
}

export interface SemanticVector {
  line: Line;
  tx: JudgedTransaction;
  consumed: ConsumedOutput[];
}

async function prepare(line: Line): Promise<SemanticVector> {
  const payload = fromHex(line.transaction);
  const value = decode(transaction, payload);
  const unchecked = {
    value,
    id: transactionId(payload),
    signedDigest: signedDigest(value, payload),
  };
  const validSignatures = await verifySignatures(unchecked, verifySignature);
  const consumed = line.inputs.map(([id, hex]) => {
    const bytes = fromHex(hex);
    return { id: fromHex(id), bytes, output: decode(output, bytes) };
  });
  return { line, tx: { ...unchecked, validSignatures }, consumed };
}

export const semanticVectors: readonly SemanticVector[] = await Promise.all(
  (readLines('semantics.jsonl') as Line[]).map(prepare),
);

/** A conflict, and the texts of the errors that the reference gave for it in many calls. */
export interface ConflictVector extends SemanticVector {
  errors: readonly string[];
}

/** Every conflict among the verdicts of semantics.jsonl and second-reader.jsonl. */
export async function readConflicts(): Promise<ConflictVector[]> {
  const keyOf = ({ transactionId, unixTime }: Pick<Line, 'transactionId' | 'unixTime'>) =>
    `${transactionId} ${unixTime}`;
  const recorded = readLines('verdict-errors.jsonl') as (Line & { errors: string[] })[];
  const errorsOf = new Map(recorded.map((line) => [keyOf(line), line.errors]));
  const others = (readLines('second-reader.jsonl') as Line[]).filter(
    ({ transaction, conflict }) => transaction !== undefined && conflict !== undefined,
  );
  const vectors = [...semanticVectors, ...(await Promise.all(others.map(prepare)))];
  return vectors
    .filter(({ line }) => line.conflict !== 0)
    .map((vector) => ({ ...vector, errors: errorsOf.get(keyOf(vector.line))! }));
}
