/** The verdict on a transaction. The subpath `/judge` of the package (README.md). */
import { verifyEd25519 } from './crypto/ed25519.ts';
import type { VerifySignature } from './milestone-keys.ts';
import { findFault } from './semantics/judge.ts';
import { verifySignatures } from './semantics/signatures.ts';
import type { ConsumedOutput, Fault } from './semantics/verdict.ts';
import type { ParsedBlock } from './wire/block.ts';

export interface JudgeOptions {
  /** Timestamp of the milestone that references the transaction, Unix seconds. */
  timestamp: number;
  /** Decides about signatures by ZIP-215; by default in JavaScript. */
  verify?: VerifySignature;
}

/**
 * Returns what decides that a transaction is in conflict (docs/protocol.md, D.2);
 * undefined if it is applied. Whether its inputs are unspent is not judged: see `whiteFlag`.
 *
 * @param tx of a decoded block
 * @param consumed the outputs that its inputs name, in their order; another list is an Error
 *
 * @example
 * ```ts
 * import { decodeBlock } from '@stardust-edge/protocol/block';
 * import { type ConsumedOutput, describeReason, judge } from '@stardust-edge/protocol/judge';
 *
 * export async function verdictOn(
 *   block: Uint8Array,
 *   consumed: ConsumedOutput[],
 *   timestamp: number,
 * ): Promise<string> {
 *   const { transaction } = decodeBlock(block);
 *   if (transaction === undefined) return 'no transaction';
 *   const fault = await judge(transaction, consumed, { timestamp });
 *   return fault === undefined ? 'applied' : `${fault.rule}: ${describeReason(fault.reason)}`;
 * }
 * ```
 */
export async function judge(
  tx: NonNullable<ParsedBlock['transaction']>,
  consumed: readonly ConsumedOutput[],
  { timestamp, verify = verifyEd25519 }: JudgeOptions,
): Promise<Fault | undefined> {
  const validSignatures = await verifySignatures(tx, verify);
  return findFault({ ...tx, validSignatures }, consumed, timestamp);
}

export { judgeAt, judgeOverTime } from './semantics/judge.ts';
export { verifySignatures } from './semantics/signatures.ts';
export {
  ConflictReason,
  type ConsumedOutput,
  conflictReasonOf,
  describeReason,
  type Fault,
  rulesOf,
} from './semantics/verdict.ts';
