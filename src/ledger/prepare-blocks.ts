/**
 * Intake: from parsed blocks to records with row numbers, each block looked at once and for all.
 *
 * Here signatures are checked, verdicts are made and rows are handed out; nothing is written. The same function serves the blocks that will be stored
 * (store.ts) and those that a request looks at in memory only.
 */

import { admissionFault } from '../stardust/admission.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { decodeOutput, nftIdOfOutput, outputBytes, outputId } from '../stardust/ids.ts';
import { leafHash } from '../stardust/merkle.ts';
import { isMilestoneBlock, type VerifySignature } from '../stardust/milestone-keys.ts';
import type { VerdictStep } from '../stardust/semantics/conflict-reason.ts';
import { judgeOverTime } from '../stardust/semantics/judge.ts';
import type { ConsumedOutput } from '../stardust/semantics/judged-transaction.ts';
import { verifySignatures } from '../stardust/semantics/signatures.ts';
import { decodeRecord, encodeRecord } from '../stardust/white-flag/block-record.ts';
import type { AdmissionRules } from './admission-rules.ts';
import type { KnownOutput, RowNumbers } from './known-rows.ts';

export interface MentionedOutput {
  row: number;
  id: string;
  /** Of the outputs that the transaction creates; absent for those it consumes. */
  bytes?: Uint8Array;
  nftId?: string;
}

export interface PreparedBlock {
  id: string;
  row: number;
  bytes: Uint8Array;
  record: Uint8Array;
  /** Rows. */
  parents: number[];
  transactionId?: string;
  /** Rows of the outputs consumed. */
  inputs: number[];
  /** Outputs consumed and created. */
  mentioned: MentionedOutput[];
  /** Rows of the consumed outputs that are not known yet; while there are any, the verdict is open. */
  waitingFor: number[];
}

type ParsedTransaction = NonNullable<ParsedBlock['transaction']>;

/** IDs of the outputs that the blocks' transactions consume or create. */
export function mentionedOutputIds(blocks: readonly ParsedBlock[]): string[] {
  const ids = new Set<string>();
  for (const { transaction } of blocks) {
    if (transaction === undefined) continue;
    for (const id of inputIds(transaction)) ids.add(toHexDigits(id));
    transaction.value.essence.outputs.forEach((_, i) => {
      ids.add(toHexDigits(outputId(transaction.id, i)));
    });
  }
  return [...ids];
}

function inputIds(transaction: ParsedTransaction): Uint8Array[] {
  return transaction.value.essence.inputs.map((input) =>
    outputId(input.transactionId, input.outputIndex),
  );
}

/**
 * Records blocks in the order given, parents before children; every parent must be in `rows` by then. Adds the blocks and outputs to `rows`.
 *
 * Throws an Error when a parent is missing: the caller's fault, not the block's.
 */
export async function prepareBlocks(
  blocks: readonly ParsedBlock[],
  rows: RowNumbers,
  rules: AdmissionRules,
): Promise<PreparedBlock[]> {
  // first what all of them create: a transaction may stand before the one that it spends from
  const created = blocks.map(({ transaction }) =>
    transaction ? mentionCreated(transaction, rows) : [],
  );
  const recorded: PreparedBlock[] = [];
  for (const [i, parsed] of blocks.entries())
    recorded.push(await recordBlock(parsed, created[i]!, rows, rules));
  return recorded;
}

async function recordBlock(
  parsed: ParsedBlock,
  created: readonly MentionedOutput[],
  rows: RowNumbers,
  rules: AdmissionRules,
): Promise<PreparedBlock> {
  const id = toHexDigits(parsed.id);
  const parents = parsed.block.parents.map((parent) => {
    const known = rows.blocks.get(toHexDigits(parent));
    if (known === undefined)
      throw new Error(`block ${id} comes before its parent ${toHexDigits(parent)}`);
    return known.row;
  });
  const row = rows.nextBlock++;
  rows.blocks.set(id, { row, milestone: null });

  const { transaction } = parsed;
  const consumed = transaction ? mentionConsumed(transaction, rows) : [];
  const waitingFor = consumed
    .filter(({ bytes }) => bytes === undefined)
    .map((output) => output.row);
  const steps =
    transaction && waitingFor.length === 0
      ? await judgeTransaction(transaction, consumed as Content[], rules.verify)
      : [];
  const inputs = consumed.map((output) => output.row);
  const isMilestone = await isMilestoneBlock(parsed, rules.keys, rules.verify);
  const record = encodeRecord({
    row,
    parents,
    leaf: leafHash(parsed.id),
    inadmissible: rules.parameters.every(
      (parameters) => admissionFault(parsed, parameters) !== undefined,
    ),
    ...(isMilestone && { milestoneId: parsed.milestone!.id }),
    ...(transaction && {
      transaction: { inputs, outputs: created.map((output) => output.row), steps },
    }),
  });
  return {
    id,
    row,
    bytes: parsed.bytes,
    record,
    parents,
    ...(transaction && { transactionId: toHexDigits(transaction.id) }),
    inputs,
    mentioned: [...created, ...consumed.map((output) => ({ row: output.row, id: output.hexId }))],
    waitingFor,
  };
}

/** Gives the outputs that a transaction creates rows and contents. */
function mentionCreated(transaction: ParsedTransaction, rows: RowNumbers): MentionedOutput[] {
  return transaction.value.essence.outputs.map((output, i) => {
    const id = outputId(transaction.id, i);
    const hexId = toHexDigits(id);
    const known = rowOfOutput(hexId, rows);
    known.bytes ??= outputBytes(output);
    const nftId = nftIdOfOutput(output, id);
    return {
      row: known.row,
      id: hexId,
      bytes: known.bytes,
      ...(nftId && { nftId: toHexDigits(nftId) }),
    };
  });
}

interface Consumed {
  row: number;
  id: Uint8Array;
  hexId: string;
  bytes?: Uint8Array;
}

type Content = Consumed & { bytes: Uint8Array };

function mentionConsumed(transaction: ParsedTransaction, rows: RowNumbers): Consumed[] {
  return inputIds(transaction).map((id) => {
    const hexId = toHexDigits(id);
    const { row, bytes } = rowOfOutput(hexId, rows);
    return { row, id, hexId, ...(bytes && { bytes }) };
  });
}

/** The verdict at every timestamp, signatures checked (S1 to S6). */
async function judgeTransaction(
  transaction: ParsedTransaction,
  consumed: readonly { id: Uint8Array; bytes: Uint8Array }[],
  verify: VerifySignature,
): Promise<VerdictStep[]> {
  const validSignatures = await verifySignatures(transaction, verify);
  const outputs: ConsumedOutput[] = consumed.map(({ id, bytes }) => ({
    id,
    bytes,
    output: decodeOutput(bytes),
  }));
  return judgeOverTime({ ...transaction, validSignatures }, outputs);
}

function rowOfOutput(id: string, rows: RowNumbers): KnownOutput {
  let known = rows.outputs.get(id);
  if (known === undefined) {
    known = { row: rows.nextOutput++ };
    rows.outputs.set(id, known);
  }
  return known;
}

/**
 * The record of a block that is stored already, with the verdict that was open; undefined while an output that it consumes is still not known.
 *
 * @param outputs contents by hex ID
 */
export async function completeRecord(
  stored: Uint8Array,
  parsed: ParsedBlock,
  outputs: ReadonlyMap<string, Uint8Array>,
  verify: VerifySignature,
): Promise<Uint8Array | undefined> {
  const record = decodeRecord(stored);
  if (parsed.transaction === undefined || record.transaction === undefined) {
    throw new Error(`block row ${record.row} carries no transaction`);
  }
  const consumed: { id: Uint8Array; bytes: Uint8Array }[] = [];
  for (const id of inputIds(parsed.transaction)) {
    const bytes = outputs.get(toHexDigits(id));
    if (bytes === undefined) return undefined;
    consumed.push({ id, bytes });
  }
  const steps = await judgeTransaction(parsed.transaction, consumed, verify);
  return encodeRecord({ ...record, transaction: { ...record.transaction, steps } });
}
