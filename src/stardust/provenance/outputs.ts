/**
 * Judges outputs by the bytes of transactions: a created output is in its transaction's bytes
 * (B.4), and a transaction commits to the outputs that it consumes (B.5).
 */
import { equalBytes, toHex } from '../encoding/bytes.ts';
import type { ConsumedOutput } from '../semantics/verdict.ts';
import { consumedIds, inputsCommitment, outputBytes, outputId } from '../wire/ids.ts';
import type { Output } from '../wire/output.ts';
import type { BlockContent } from './blocks.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

export interface OutputInBlock {
  output: Output;
  block: BlockContent;
}

/** Judges whether this is the output with this ID: the block's transaction has it. */
export function proveCreated(
  block: Proved<BlockContent>,
  id: string,
  said: Output,
): Finding<OutputInBlock> {
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
 * Judges whether these are the outputs that the transaction names as its inputs, in order, by its
 * inputs commitment. If the transaction was applied, it consumed them (S2.0).
 */
export function proveConsumed(
  block: Proved<BlockContent>,
  outputs: readonly Output[],
): Finding<readonly ConsumedOutput[]> {
  const { blockId, parsed } = provedValue(block);
  if (parsed.transaction === undefined)
    return refute(`block ${blockId} carries no transaction`, [blockId]);
  const { essence } = parsed.transaction.value;
  const all = outputs.map((output) => ({ bytes: outputBytes(output), output }));
  if (all.length !== essence.inputs.length)
    return refute(`${all.length} outputs for ${essence.inputs.length} inputs`, [blockId]);
  if (!equalBytes(inputsCommitment(all), essence.inputsCommitment))
    return refute('the outputs do not hash to the inputs commitment of the transaction', [blockId]);
  const ids = consumedIds(essence);
  return prove(all.map((each, i) => ({ id: ids[i]!, ...each })));
}
