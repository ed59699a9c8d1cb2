/**
 * Admission of blocks under protocol parameters (docs/protocol.md, C-4, C-5, C-13, C-15 to C-19,
 * C.2). The reference never stores a block that breaks one of these rules. Parameters change: a
 * block that was accepted under earlier ones must not be refused under today's.
 *
 * C-6, proof of work, is checked only for pushed blocks, tips and parents that a request names: the
 * reference exempts the blocks that a node requested itself, which are most.
 */
import { hasProofOfWork } from './crypto/proof-of-work.ts';
import type { MilestoneRules } from './milestone-keys.ts';
import type { Block, ParsedBlock } from './wire/block.ts';
import { outputBytes } from './wire/ids.ts';
import type { Output } from './wire/output.ts';
import { networkIdOf, type ProtocolParameters, type RentStructure } from './wire/parameters.ts';
import { findCondition, UnlockConditionType } from './wire/unlock-condition.ts';

export interface AdmissionRules extends MilestoneRules {
  /** Every set of parameters under which a block may have been admitted, the current one first. */
  parameters: readonly ProtocolParameters[];
}

/**
 * Bytes that a deposit pays for besides the output itself (C.2): the output ID, which counts as
 * key, and block ID, booked index and booked timestamp, which count as data.
 */
const OUTPUT_ID_LENGTH = 34;
const OUTPUT_METADATA_LENGTH = 40;

/** Bytes of a basic output with an address condition and nothing else. */
const PLAIN_OUTPUT_LENGTH = 46;

/**
 * C.2: the least amount of base tokens that an output must hold.
 *
 * @param rent of the protocol parameters in force
 *
 * @example
 * ```ts
 * import { minimumDeposit, type Output } from '@stardust-edge/protocol/output';
 *
 * const shimmer = { vByteCost: 100, vByteFactorData: 1, vByteFactorKey: 10 };
 *
 * export function holdsEnough(output: Output): boolean {
 *   return output.amount >= minimumDeposit(output, shimmer);
 * }
 * ```
 */
export function minimumDeposit(output: Output, rent: RentStructure): bigint {
  return depositForLength(rent, outputBytes(output).length);
}

/** Returns {@link minimumDeposit} for an output of N bytes. */
export function depositForLength(rent: RentStructure, outputLength: number): bigint {
  const vBytes =
    rent.vByteFactorKey * OUTPUT_ID_LENGTH +
    rent.vByteFactorData * (OUTPUT_METADATA_LENGTH + outputLength);
  return BigInt(rent.vByteCost) * BigInt(vBytes);
}

/** Returns the first rule that the block breaks under these parameters; undefined if none. */
export function admissionFault(
  parsed: ParsedBlock,
  parameters: ProtocolParameters,
): string | undefined {
  const { block } = parsed;
  if (block.protocolVersion !== parameters.version)
    return `C-4: protocol version ${block.protocolVersion}`;
  if (breaksNonceRule(block)) return 'C-5: a milestone block with a nonce';
  return transactionAdmissionFault(parsed, parameters);
}

/**
 * Returns {@link admissionFault} by the rules C-13 and C-15 to C-19 alone, about the block's
 * transaction: the reference tests these while it parses.
 */
export function transactionAdmissionFault(
  parsed: ParsedBlock,
  parameters: ProtocolParameters,
): string | undefined {
  if (parsed.transaction === undefined) return undefined;
  const { networkId, outputs } = parsed.transaction.value.essence;
  if (networkId !== networkIdOf(parameters)) return 'C-13: a transaction of another network';
  return outputsAdmissionFault(outputs, parameters);
}

/** Whether a node stores the block if it requested it, under one of these parameters. */
export function isAdmitted(
  parsed: ParsedBlock,
  parameters: readonly ProtocolParameters[],
): boolean {
  return parameters.some((each) => admissionFault(parsed, each) === undefined);
}

/** Returns {@link admissionFault}, and C-6 unless the block has a milestone. */
function unaskedFault(parsed: ParsedBlock, parameters: ProtocolParameters): string | undefined {
  const fault = admissionFault(parsed, parameters);
  if (fault !== undefined) return fault;
  const exempt = parsed.milestone !== undefined;
  return exempt || hasProofOfWork(parsed.bytes, parameters.minPowScore)
    ? undefined
    : `C-6: a proof-of-work score below ${parameters.minPowScore}`;
}

/** Whether a node stores the block though nobody asked for it, under one of these parameters. */
export function isAdmittedUnasked(
  parsed: ParsedBlock,
  parameters: readonly ProtocolParameters[],
): boolean {
  return parameters.some((each) => unaskedFault(parsed, each) === undefined);
}

/** C-5: a block with a milestone carries nonce 0. No protocol parameter enters here. */
export function breaksNonceRule(block: Block): boolean {
  return block.payload?.type === 7 && block.nonce !== 0n;
}

function outputsAdmissionFault(
  outputs: readonly Output[],
  parameters: ProtocolParameters,
): string | undefined {
  const { tokenSupply, rentStructure } = parameters;
  let sum = 0n;
  for (const output of outputs) {
    if (output.amount > tokenSupply) return 'C-15: an amount over the token supply';
    // C-16: the reference adds in uint64. Under a supply below 2^63 no sum wraps.
    sum = BigInt.asUintN(64, sum + output.amount);
    if (sum > tokenSupply) return 'C-16: amounts over the token supply';
    const due = minimumDeposit(output, rentStructure);
    if (output.amount < due) return `C-17: ${output.amount} deposited, ${due} due`;
    const depositReturn = findCondition(output, UnlockConditionType.StorageDepositReturn);
    if (depositReturn === undefined) continue;
    if (depositReturn.amount < depositForLength(rentStructure, PLAIN_OUTPUT_LENGTH))
      return 'C-18: a storage deposit return below the minimum deposit';
    if (depositReturn.amount > output.amount)
      return 'C-19: a storage deposit return over the amount';
  }
  return undefined;
}
