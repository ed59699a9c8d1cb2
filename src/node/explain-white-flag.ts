/**
 * The white flag explained (docs/contract.md#explanation-of-a-proposal): the roots of a milestone
 * that may not be signed yet, and every block that leads to them.
 */

import type { Database } from '../ledger/core/database.ts';
import type { ExplainedBlock } from '../ledger/read/applied-milestone.ts';
import { readBlocks } from '../ledger/view/decide-verdicts.ts';
import { findFaults } from '../ledger/view/find-faults.ts';
import { toHexDigits } from '../stardust/encoding/bytes.ts';
import type { ConflictReason } from '../stardust/semantics/conflict-reason.ts';
import type { Fault } from '../stardust/semantics/fault.ts';
import { type DecidingInput, findDecidingInputs } from '../stardust/white-flag/deciding-input.ts';
import { computeRoots, NOT_A_TRANSACTION } from '../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../stardust/wire/block.ts';
import { outputId } from '../stardust/wire/ids.ts';
import {
  onceMore,
  refuse,
  type WhiteFlagOptions,
  type WhiteFlagRefusal,
  type WhiteFlagRequest,
  walkProposal,
} from './compute-white-flag.ts';

/** A block of the cone. IDs are hex digits. */
export interface JudgedBlock extends ExplainedBlock {
  /** Of the transaction that it carries. */
  transactionId: string | undefined;
  /** What decided that it is in conflict. */
  decided: Decision | undefined;
}

/** Places are from 0; `outputId`: of the output consumed or created. */
export interface Decision {
  /** Of docs/protocol.md, D.1 or D.2. */
  rule: string;
  /** The input, where one decided; and the block of the cone that spent it before. */
  input?: { input: number; outputId: string; spentBy: string | undefined };
  /** The output that the transaction creates, where one decided. */
  output?: { output: number; outputId: string };
}

export interface WhiteFlagExplanation {
  ok: true;
  /** 32 bytes each. */
  inclusionMerkleRoot: Uint8Array;
  appliedMerkleRoot: Uint8Array;
  /** In white-flag order. */
  blocks: JudgedBlock[];
}

/** The bytes of every block are read, unlike for roots. */
const MAX_EXPLAINED_BLOCKS = 10_000;

/** Throws as computeWhiteFlag does. */
export async function explainWhiteFlag(
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
): Promise<WhiteFlagExplanation | WhiteFlagRefusal> {
  return onceMore(async () => {
    const walked = await walkProposal(db, request, options);
    if (!walked.ok) return walked;
    const { loaded, cone, whiteFlag } = walked;
    const { order, reasons } = whiteFlag;
    if (order.length > MAX_EXPLAINED_BLOCKS)
      return refuse('failed', `more than ${MAX_EXPLAINED_BLOCKS} blocks to explain`);
    const numbers = Array.from(order, (position) => cone.numberAt(position));
    const blocks = await readBlocks(db, loaded, numbers);
    const deciding = findDecidingInputs(cone, whiteFlag, loaded.view.states);
    const faults = await findFaults(db, loaded, blocks, reasons, request.timestamp);
    return {
      ok: true,
      ...computeRoots(cone, whiteFlag),
      blocks: blocks.map((block, place) =>
        explainBlock(block, reasons[place]!, deciding.get(place) ?? faults.get(place), blocks),
      ),
    };
  });
}

const PAYLOADS = { 5: 'taggedData', 6: 'transaction', 7: 'milestone' } as const;

function explainBlock(
  { id, block, transaction }: ParsedBlock,
  reason: number,
  deciding: DecidingInput | Fault | undefined,
  blocks: readonly ParsedBlock[],
): JudgedBlock {
  return {
    blockId: toHexDigits(id),
    payload: block.payload === undefined ? 'none' : PAYLOADS[block.payload.type],
    reason: reason === NOT_A_TRANSACTION ? undefined : (reason as ConflictReason),
    transactionId: transaction && toHexDigits(transaction.id),
    decided: deciding && nameDecision(transaction!, deciding, blocks),
  };
}

function nameDecision(
  { id, value }: NonNullable<ParsedBlock['transaction']>,
  decided: DecidingInput | Fault,
  blocks: readonly ParsedBlock[],
): Decision {
  const { rule, input } = decided;
  if (input !== undefined) {
    const { transactionId, outputIndex } = value.essence.inputs[input]!;
    const spender = 'spentBy' in decided ? decided.spentBy : undefined;
    const spentBy = spender === undefined ? undefined : toHexDigits(blocks[spender]!.id);
    const consumed = toHexDigits(outputId(transactionId, outputIndex));
    return { rule, input: { input, outputId: consumed, spentBy } };
  }
  const output = 'output' in decided ? decided.output : undefined;
  if (output === undefined) return { rule };
  return { rule, output: { output, outputId: toHexDigits(outputId(id, output)) } };
}
