/**
 * The white flag, written for nothing but to be obviously right (docs/protocol.md, D.1, E.1 to E.3,
 * B.13). It is the oracle of src/stardust/white-flag/walk.ts.
 *
 * Everything is a map from `0x…` IDs, and the traversal is that of the reference. Verdicts come from the product's `judge`, which has vectors of its
 * own.
 */

import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import { judgeAt } from '../../../src/stardust/semantics/judge.ts';
import { verifySignatures } from '../../../src/stardust/semantics/signatures.ts';
import { ConflictReason, type ConsumedOutput } from '../../../src/stardust/semantics/verdict.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { outputBytes, outputId } from '../../../src/stardust/wire/ids.ts';
import { output } from '../../../src/stardust/wire/output.ts';
import { merkleRootByDefinition } from './merkle.ts';

/** All that a node knows when it computes a milestone. */
export interface OracleView {
  genesisMilestoneIndex: number;
  solidEntryPoints: ReadonlySet<string>;
  blocks: ReadonlyMap<string, ParsedBlock>;
  /** Blocks that an earlier milestone references. */
  referenced: ReadonlySet<string>;
  /** Blocks that properly carry a milestone (M-2 to M-5). */
  milestoneBlocks: ReadonlySet<string>;
  /** Outputs of the ledger, the unspent ones at least. */
  outputs: ReadonlyMap<string, { bytes: Uint8Array }>;
  /** Outputs that an earlier milestone spends. */
  spent: ReadonlySet<string>;
}

export interface OracleRequest {
  index: number;
  timestamp: number;
  parents: readonly string[];
  previousMilestoneId: string;
}

export interface OracleResult {
  /** In white-flag order. */
  order: { id: string; isTransaction: boolean; reason: ConflictReason }[];
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  /** Whether the previous milestone lies in the cone, or need not (E.3). */
  metPreviousMilestone: boolean;
  created: Map<string, { blockId: string; bytes: Uint8Array }>;
  /** The transaction that spends each output. */
  consumed: Map<string, string>;
}

const ZERO_ID = `0x${'00'.repeat(32)}`;

/**
 * Throws an Error where the reference fails, except if the previous milestone was not met: the
 * result tells that.
 */
export async function whiteFlag(view: OracleView, request: OracleRequest): Promise<OracleResult> {
  const { order, metPreviousMilestone } = traverse(view, request);
  const { blocks, created, consumed } = await consume(view, order, request.timestamp);
  const roots = {
    inclusionMerkleRoot: toHex(merkleRootByDefinition(order.map(({ id }) => id))),
    appliedMerkleRoot: toHex(
      merkleRootByDefinition(
        order
          .filter((_, i) => blocks[i]!.isTransaction && blocks[i]!.reason === ConflictReason.None)
          .map(({ id }) => id),
      ),
    ),
  };
  return { order: blocks, ...roots, metPreviousMilestone, created, consumed };
}

/** E.1 with the stack of the reference, E.3. */
function traverse(
  view: OracleView,
  request: OracleRequest,
): { order: ParsedBlock[]; metPreviousMilestone: boolean } {
  const first = request.index === view.genesisMilestoneIndex + 1;
  // E.3 (a)
  if (first !== (request.previousMilestoneId === ZERO_ID))
    throw new Error('previous milestone ID and index disagree');
  let metPreviousMilestone = first;
  const processed = new Set<string>();
  const checked = new Set<string>();
  const order: ParsedBlock[] = [];
  for (const parent of request.parents) {
    const stack = [parent];
    while (stack.length > 0) {
      const id = stack.at(-1)!;
      if (processed.has(id)) {
        stack.pop();
        continue;
      }
      if (view.solidEntryPoints.has(id)) {
        processed.add(id);
        continue;
      }
      const block = view.blocks.get(id);
      if (block === undefined) throw new Error(`block not found: ${id}`);
      if (!checked.has(id)) {
        checked.add(id);
        metPreviousMilestone ||= view.milestoneBlocks.has(id) && isPrevious(block, request);
      }
      if (view.referenced.has(id)) {
        processed.add(id);
        continue;
      }
      const next = block.block.parents.map(toHex).find((each) => !processed.has(each));
      if (next !== undefined) {
        stack.push(next);
        continue;
      }
      processed.add(id);
      order.push(block);
    }
  }
  return { order, metPreviousMilestone };
}

/** E.3 (b) */
function isPrevious(block: ParsedBlock, request: OracleRequest): boolean {
  if (block.milestone === undefined || toHex(block.milestone.id) !== request.previousMilestoneId)
    return false;
  const { index, timestamp } = block.milestone.value;
  if (timestamp >= request.timestamp) throw new Error('the timestamp does not increase');
  if (index + 1 !== request.index) throw new Error('the index does not increase by one');
  return true;
}

/** E.2 */
async function consume(view: OracleView, order: readonly ParsedBlock[], timestamp: number) {
  const created: OracleResult['created'] = new Map();
  const consumed: OracleResult['consumed'] = new Map();
  const blocks: OracleResult['order'] = [];
  for (const block of order) {
    const id = toHex(block.id);
    if (block.transaction === undefined) {
      blocks.push({ id, isTransaction: false, reason: ConflictReason.None });
      continue;
    }
    const reason = await verdict(view, block.transaction, timestamp, created, consumed);
    blocks.push({ id, isTransaction: true, reason });
    if (reason !== ConflictReason.None) continue;
    const { value, id: transactionId } = block.transaction;
    for (const input of value.essence.inputs) {
      consumed.set(toHex(outputId(input.transactionId, input.outputIndex)), toHex(transactionId));
    }
    value.essence.outputs.forEach((each, i) => {
      created.set(toHex(outputId(transactionId, i)), { blockId: id, bytes: outputBytes(each) });
    });
  }
  return { blocks, created, consumed };
}

/** D.1, then D.2 */
async function verdict(
  view: OracleView,
  transaction: NonNullable<ParsedBlock['transaction']>,
  timestamp: number,
  created: OracleResult['created'],
  consumed: OracleResult['consumed'],
): Promise<ConflictReason> {
  const inputs: ConsumedOutput[] = [];
  for (const { transactionId, outputIndex } of transaction.value.essence.inputs) {
    const id = outputId(transactionId, outputIndex);
    const key = toHex(id);
    // L-1
    if (consumed.has(key)) return ConflictReason.InputAlreadySpentInThisMilestone;
    const made = created.get(key);
    // L-4
    if (made === undefined && view.spent.has(key)) return ConflictReason.InputAlreadySpent;
    // L-2, L-5
    const bytes = (made ?? view.outputs.get(key))?.bytes;
    // L-3
    if (bytes === undefined) return ConflictReason.InputNotFound;
    inputs.push({ id, bytes, output: decode(output, bytes) });
  }
  return judgeAt(
    { ...transaction, validSignatures: await validSignatures(transaction) },
    inputs,
    timestamp,
  );
}

const verified = new WeakMap<object, ReturnType<typeof verifySignatures>>();

/** Once for each transaction, as many questions are about the same ones. */
function validSignatures(transaction: NonNullable<ParsedBlock['transaction']>) {
  const known = verified.get(transaction);
  if (known !== undefined) return known;
  const valid = verifySignatures(transaction, verifySignature);
  verified.set(transaction, valid);
  return valid;
}
