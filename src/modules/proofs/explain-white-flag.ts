/**
 * Explains the white flag (docs/contract.md#explanation-of-a-proposal): the roots of a milestone
 * that may not be signed yet, and every block that leads to them.
 */
import type { Database } from '../../ledger/core/database.ts';
import { onceMore, unlessMoved } from '../../ledger/core/fence.ts';
import { measureBlocks, readBlocksInSteps } from '../../ledger/view/cone-blocks.ts';
import {
  computeRootsInTurns,
  refuse,
  type WalkedProposal,
  type WhiteFlagOptions,
  type WhiteFlagRefusal,
  type WhiteFlagRequest,
  walkProposal,
} from '../../node/compute-white-flag.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { PAYLOAD_KINDS } from '../../stardust/provenance/blocks.ts';
import type { ConflictReason, Fault } from '../../stardust/semantics/verdict.ts';
import {
  type DecidingInput,
  findDecidingInputs,
} from '../../stardust/white-flag/deciding-input.ts';
import { type MerkleRoots, NOT_A_TRANSACTION } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { outputId } from '../../stardust/wire/ids.ts';
import type { ExplainedBlock } from './applied-milestone.ts';
import { type BlockAtFault, findFaults, isOfVerdict } from './find-faults.ts';

/** A block of the cone. IDs are hex digits. */
export interface JudgedBlock extends ExplainedBlock {
  transactionId: string | undefined;
  /** Reason of its conflict. */
  decided: Decision | undefined;
}

/** Places are from 0; `outputId`: of the output consumed or created. */
export interface Decision {
  /** Rule of docs/protocol.md, D.1 or D.2. */
  rule: string;
  /** The input, where one decided; and the block of the cone that spent it before. */
  input?: { input: number; outputId: string; spentBy: string | undefined };
  /** The output that the transaction creates, where one decided. */
  output?: { output: number; outputId: string };
}

export interface WhiteFlagExplanation extends MerkleRoots {
  ok: true;
  blocks: JudgedBlock[];
}

/** The bytes of every block are read, unlike for roots. */
const MAX_EXPLAINED_BLOCKS = 10_000;

/** Characters of the packs that hold them: 75 MB of blocks, which take some 4 s to parse. */
const MAX_EXPLAINED_LENGTH = 100_000_000;

/** Inputs of transactions that are judged again. */
const MAX_FAULT_INPUTS = 4096;

/** Bytes of blocks that are judged again at once, parsed, and of outputs, each of up to 21 KB. */
const FAULT_BYTES_AT_ONCE = 5_000_000;
const OUTPUT_BYTES = 21_000;

/** Throws as computeWhiteFlag does. */
export async function explainWhiteFlag(
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
): Promise<WhiteFlagExplanation | WhiteFlagRefusal> {
  return onceMore(async () => {
    const walked = await walkProposal(db, request, options, async (each) => each);
    if (!walked.ok) return walked;
    const { db: read, view, whiteFlag } = walked;
    const { cone } = view;
    const { order, reasons } = whiteFlag;
    if (order.length > MAX_EXPLAINED_BLOCKS)
      return refuse('failed', `more than ${MAX_EXPLAINED_BLOCKS} blocks to explain`);
    const numbers = Array.from(order, (position) => cone.numberAt(position));
    if ((await measureBlocks(read, view, numbers)) > MAX_EXPLAINED_LENGTH)
      return refuse('failed', 'the blocks to explain are too large');
    const faultInputs = order.reduce(
      (sum, position, place) =>
        isOfVerdict(reasons[place]!) ? sum + cone.transactionAt(position).inputCount : sum,
      0,
    );
    if (faultInputs > MAX_FAULT_INPUTS)
      return refuse('failed', `more than ${MAX_FAULT_INPUTS} inputs of conflicts to explain`);
    const blocks = await unlessMoved(read, view.head, request.index - 1, () =>
      explainBlocks(read, walked, numbers, request.timestamp),
    );
    return { ok: true, ...(await computeRootsInTurns(cone, whiteFlag)), blocks };
  });
}

/** Explains the blocks in white-flag order; only what is returned of a block stays in memory. */
async function explainBlocks(
  db: Database,
  { view, whiteFlag }: WalkedProposal,
  numbers: readonly number[],
  timestamp: number,
): Promise<JudgedBlock[]> {
  const { cone, states } = view;
  const { order, reasons } = whiteFlag;
  const deciding = findDecidingInputs(cone, whiteFlag, states);
  const explained = new Array<JudgedBlock>(numbers.length);
  let judged: (BlockAtFault & { place: number })[] = [];
  let bytes = 0;
  const explainFaults = async () => {
    const faults = await findFaults(db, view, judged, timestamp);
    for (const [i, { place, block }] of judged.entries())
      explained[place]!.decided = nameDecision(block.transaction!, faults[i]!);
    judged = [];
    bytes = 0;
  };
  for await (const [place, block] of readBlocksInSteps(db, view, numbers)) {
    const reason = reasons[place]!;
    explained[place] = explainBlock(block, reason, deciding.get(place));
    if (!isOfVerdict(reason)) continue;
    const position = order[place]!;
    // parsed, a block takes some four times its bytes
    bytes += 4 * block.bytes.length + OUTPUT_BYTES * cone.transactionAt(position).inputCount;
    judged.push({ place, position, block, reason });
    if (bytes >= FAULT_BYTES_AT_ONCE) await explainFaults();
  }
  if (judged.length > 0) await explainFaults();
  for (const [place, { spentBy }] of deciding) {
    const input = explained[place]!.decided?.input;
    if (input !== undefined && spentBy !== undefined) input.spentBy = explained[spentBy]!.blockId;
  }
  return explained;
}

function explainBlock(
  { id, block, transaction }: ParsedBlock,
  reason: number,
  deciding: DecidingInput | undefined,
): JudgedBlock {
  return {
    blockId: toHexDigits(id),
    payload: PAYLOAD_KINDS[block.payload?.type ?? 0]!,
    reason: reason === NOT_A_TRANSACTION ? undefined : (reason as ConflictReason),
    transactionId: transaction && toHexDigits(transaction.id),
    decided: deciding && nameDecision(transaction!, deciding),
  };
}

/** Names the decision, without the block that spent the input before. */
function nameDecision(
  { id, value }: NonNullable<ParsedBlock['transaction']>,
  decided: DecidingInput | Fault,
): Decision {
  const { rule, input } = decided;
  if (input !== undefined) {
    const { transactionId, outputIndex } = value.essence.inputs[input]!;
    const consumed = toHexDigits(outputId(transactionId, outputIndex));
    return { rule, input: { input, outputId: consumed, spentBy: undefined } };
  }
  const output = 'output' in decided ? decided.output : undefined;
  if (output === undefined) return { rule };
  return { rule, output: { output, outputId: toHexDigits(outputId(id, output)) } };
}
