/**
 * Judges outputs by the bytes of transactions: an output that one creates is in its bytes (B.4), and
 * one commits to the outputs that it consumes (B.5). With those, and the time of a signed milestone,
 * the verdict on the transaction can be computed again (D.2).
 */
import { equalBytes, toHex } from '../encoding/bytes.ts';
import { findFault } from '../semantics/judge.ts';
import { verifySignatures } from '../semantics/signatures.ts';
import type { ConsumedOutput, Fault } from '../semantics/verdict.ts';
import type { ParsedBlock } from '../wire/block.ts';
import { consumedIds, inputsCommitment, outputBytes, outputId } from '../wire/ids.ts';
import type { Output } from '../wire/output.ts';
import type { BlockContent } from './blocks.ts';
import type { SignedMilestone, Trust } from './milestone.ts';
import { type Finding, notChecked, type Proved, prove, provedValue, refute } from './proved.ts';

/** An output, and the block whose transaction creates it. */
export interface CreatedOutput {
  output: Output;
  block: BlockContent;
}

/** Whether this is the output with this ID: the block carries its transaction, which has the output. */
export function proveCreated(
  block: Proved<BlockContent>,
  id: string,
  said: Output,
): Finding<CreatedOutput> {
  const content = provedValue(block);
  const { transaction } = content.parsed;
  const place = transaction?.value.essence.outputs.findIndex(
    (_, index) => toHex(outputId(transaction.id, index)) === id,
  );
  const output = transaction?.value.essence.outputs[place ?? -1];
  if (output === undefined)
    return refute(`block ${content.blockId} does not create output ${id}`, [content.blockId]);
  return equalBytes(outputBytes(output), outputBytes(said))
    ? prove({ output, block: content })
    : refute(`output ${id} is another one in the bytes of its transaction`, [content.blockId]);
}

/**
 * Whether these are the outputs that the transaction names as its inputs, in their order: they hash
 * to its inputs commitment. If the transaction was applied, they are what it consumed (S2.0).
 */
export function proveConsumed(
  block: Proved<BlockContent>,
  outputs: readonly Output[],
): Finding<readonly ConsumedOutput[]> {
  const { blockId, parsed } = provedValue(block);
  if (parsed.transaction === undefined)
    return refute(`block ${blockId} carries no transaction`, [blockId]);
  const { essence } = parsed.transaction.value;
  const all = outputs.map(outputBytes);
  if (all.length !== essence.inputs.length)
    return refute(`${all.length} outputs for ${essence.inputs.length} inputs`, [blockId]);
  if (!equalBytes(inputsCommitment(all), essence.inputsCommitment))
    return refute('the outputs do not hash to the inputs commitment of the transaction', [blockId]);
  const ids = consumedIds(essence);
  return prove(outputs.map((output, i) => ({ id: ids[i]!, bytes: all[i]!, output })));
}

/**
 * What decides about a transaction at the time of a signed milestone, if all its inputs are unspent;
 * undefined if nothing speaks against it.
 */
export async function proveFault(
  signed: Proved<SignedMilestone>,
  block: Proved<BlockContent>,
  consumed: Proved<readonly ConsumedOutput[]>,
  verify: Trust['verify'],
): Promise<Finding<{ fault: Fault | undefined; milestone: SignedMilestone }>> {
  const milestone = provedValue(signed);
  const { transaction } = provedValue(block).parsed;
  const outputs = provedValue(consumed);
  if (transaction === undefined || !isOf(transaction, outputs))
    return notChecked('the verdict, as the outputs are those of another transaction');
  const validSignatures = await verifySignatures(transaction, verify);
  const fault = findFault({ ...transaction, validSignatures }, outputs, milestone.timestamp);
  return prove({ fault, milestone });
}

function isOf(
  { value }: NonNullable<ParsedBlock['transaction']>,
  consumed: readonly ConsumedOutput[],
): boolean {
  const ids = consumedIds(value.essence);
  return ids.length === consumed.length && ids.every((id, i) => equalBytes(id, consumed[i]!.id));
}
