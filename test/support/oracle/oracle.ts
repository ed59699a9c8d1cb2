/**
 * The white flag of known-verdicts.ts over any blocks, as bytes have them (docs/protocol.md, D.1,
 * E.1 to E.3, B.13). It is the oracle of src/stardust/white-flag/walk.ts. Verdicts come from the
 * product's `judge`, which has vectors of its own.
 */

import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { judgeAt } from '../../../src/stardust/semantics/judge.ts';
import { verifySignatures } from '../../../src/stardust/semantics/signatures.ts';
import type { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { decodeOutput, outputBytes, outputId } from '../../../src/stardust/wire/ids.ts';
import { decide, pastCone, rootsOf } from '../network/known-verdicts.ts';
import { type WhiteFlagCase, ZERO_ID } from '../network/network-model.ts';

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

type Request = Omit<WhiteFlagCase['request'], 'parents'> & { parents: readonly string[] };

export interface OracleResult {
  /** In white-flag order. */
  order: { id: string; isTransaction: boolean; reason: ConflictReason }[];
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  /** Whether the previous milestone lies in the cone, or need not (E.3). */
  metPreviousMilestone: boolean;
  /** IDs of outputs. */
  created: Set<string>;
  consumed: Set<string>;
}

/**
 * Throws an Error where the reference fails, except if the previous milestone was not met: the
 * result tells that.
 */
export async function whiteFlag(view: OracleView, request: Request): Promise<OracleResult> {
  const { solidEntryPoints, milestoneBlocks, spent, outputs } = view;
  const isFirst = request.index === view.genesisMilestoneIndex + 1;
  // E.3 (a)
  if (isFirst !== (request.previousMilestoneId === ZERO_ID))
    throw new Error('previous milestone ID and index disagree');
  const blocks = {
    get(id: string) {
      const parsed = solidEntryPoints.has(id) ? undefined : view.blocks.get(id);
      const referenced = view.referenced.has(id) || undefined;
      return parsed && { id, parents: parsed.block.parents.map(toHex), referenced, parsed };
    },
  };
  const { order, met } = pastCone(blocks, request.parents);
  for (const id of met)
    if (!solidEntryPoints.has(id) && !view.blocks.has(id))
      throw new Error(`block not found: ${id}`);
  const isMet = (id: string) =>
    milestoneBlocks.has(id) && isPrevious(blocks.get(id)?.parsed, request);
  const metPreviousMilestone = isFirst || [...met].some(isMet);
  const ledger = {
    get: (id: string) => (spent.has(id) ? { spent: true } : outputs.has(id) ? {} : undefined),
  };
  const transactions = await transactionsOf(
    view,
    order.map(({ parsed }) => parsed),
  );
  const decided = decide(order, transactions, ledger, request.timestamp);
  const roots = rootsOf(decided);
  const applied = decided.flatMap(({ state, transaction }) =>
    state === 'included' ? transaction! : [],
  );
  return {
    order: decided.map(({ block: { id }, state, conflict }) => ({
      id,
      isTransaction: state !== 'noTransaction',
      reason: conflict,
    })),
    inclusionMerkleRoot: toHex(roots.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(roots.appliedMerkleRoot),
    metPreviousMilestone,
    created: new Set(applied.flatMap(({ coins }) => coins.map(({ id }) => toHex(id)))),
    consumed: new Set(applied.flatMap(({ inputs }) => inputs)),
  };
}

/** E.3 (b) */
function isPrevious(block: ParsedBlock | undefined, request: Request): boolean {
  if (block?.milestone === undefined || toHex(block.milestone.id) !== request.previousMilestoneId)
    return false;
  const { index, timestamp } = block.milestone.value;
  if (timestamp >= request.timestamp) throw new Error('the timestamp does not increase');
  if (index + 1 !== request.index) throw new Error('the index does not increase by one');
  return true;
}

/** By their blocks. A verdict is asked for once all inputs are there (D.2). */
async function transactionsOf({ outputs }: OracleView, order: readonly ParsedBlock[]) {
  const made = new Map<string, Uint8Array>();
  const transactions = new Map<string, ReturnType<typeof judged>>();
  const judged = (
    transaction: NonNullable<ParsedBlock['transaction']>,
    validSignatures: readonly boolean[],
  ) => {
    const { essence } = transaction.value;
    const inputs = essence.inputs.map((each) => outputId(each.transactionId, each.outputIndex));
    const coins = essence.outputs.map((each, i) => {
      const id = outputId(transaction.id, i);
      made.set(toHex(id), outputBytes(each));
      return { id };
    });
    const consumed = () =>
      inputs.map((id) => {
        const bytes = made.get(toHex(id)) ?? outputs.get(toHex(id))!.bytes;
        return { id, bytes, output: decodeOutput(bytes) };
      });
    const verdict = (timestamp: number) =>
      judgeAt({ ...transaction, validSignatures }, consumed(), timestamp);
    return { inputs: inputs.map(toHex), coins, verdict };
  };
  for (const { id, transaction } of order)
    if (transaction !== undefined)
      transactions.set(toHex(id), judged(transaction, await validSignatures(transaction)));
  return transactions;
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
