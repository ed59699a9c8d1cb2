/**
 * The white flag of a milestone over parsed blocks (docs/protocol.md, D.1, E.1 to E.3). The subpath
 * `/white-flag` of the package (README.md). The walk itself, white-flag/walk.ts, knows blocks and
 * outputs by numbers; here a block's number is its position in the cone.
 */
import { verifyEd25519 } from './crypto/ed25519.ts';
import { equalBytes, isZero, toHex, toHexDigits } from './encoding/bytes.ts';
import { refusal } from './error.ts';
import { judge } from './judge.ts';
import { isMilestoneBlock, type MilestoneKeys, type VerifySignature } from './milestone-keys.ts';
import { hashLeaf } from './proof/tree-hash.ts';
import { ConflictReason, type ConsumedOutput, type Fault } from './semantics/verdict.ts';
import { BlockKind, type Cone } from './white-flag/cone.ts';
import { findDecidingInputs } from './white-flag/deciding-input.ts';
import { computeRoots, LedgerState, type MerkleRoots, walkCone } from './white-flag/walk.ts';
import type { ParsedBlock } from './wire/block.ts';
import { consumedIds, decodeOutput, outputBytes, outputId } from './wire/ids.ts';
import type { Milestone } from './wire/milestone.ts';

/** An output in the ledger, before the milestone. */
export type OutputInLedger = { spent: false; bytes: Uint8Array } | { spent: true };

export interface WhiteFlagInput {
  /** The blocks of the past cone, in any order. Others among them are ignored. */
  blocks: Iterable<ParsedBlock>;
  /** Milestone, or a proposal of one. */
  milestone: Pick<Milestone, 'index' | 'timestamp' | 'parents' | 'previousMilestoneId'>;
  /** Whether an earlier milestone references the block, or it is a solid entry point. */
  isReferenced(blockId: Uint8Array): boolean | Promise<boolean>;
  /** The state of an output, 34 bytes of ID; undefined if the ledger never held it. */
  output(outputId: Uint8Array): OutputInLedger | undefined | Promise<OutputInLedger | undefined>;
  /** Keys that may sign milestones: the previous one must be in the cone, and signed (E.3). */
  keys: MilestoneKeys;
  /** Index of the milestone before the network's first; needed for the first only. */
  genesisIndex?: number;
  /** Decides about signatures by ZIP-215; by default in JavaScript. */
  verify?: VerifySignature;
}

export interface OrderedBlock {
  blockId: Uint8Array;
  /** Whether it carries a transaction that changes the ledger. */
  applied: boolean;
  /** Why its transaction is in conflict. */
  fault?: Fault;
}

export interface WhiteFlagOutput extends MerkleRoots {
  /** All blocks that the milestone references, in white-flag order. */
  order: OrderedBlock[];
}

/**
 * Computes which blocks a milestone references, in which order, which transactions are applied, and
 * both Merkle roots. Compare these with those that were signed. Throws a StardustError of rule E.1
 * if a block is neither given nor referenced before, of E.3 if the milestone does not follow the
 * previous one.
 *
 * @example
 * ```ts
 * import { equalBytes } from '@stardust-edge/protocol/bytes';
 * import type { Milestone } from '@stardust-edge/protocol/milestone';
 * import { type WhiteFlagInput, whiteFlag } from '@stardust-edge/protocol/white-flag';
 *
 * export async function isComputedAsSigned(
 *   milestone: Milestone,
 *   ledger: Omit<WhiteFlagInput, 'milestone'>,
 * ): Promise<boolean> {
 *   const computed = await whiteFlag({ milestone, ...ledger });
 *   return (
 *     equalBytes(computed.inclusionMerkleRoot, milestone.inclusionMerkleRoot) &&
 *     equalBytes(computed.appliedMerkleRoot, milestone.appliedMerkleRoot)
 *   );
 * }
 * ```
 */
export async function whiteFlag(options: WhiteFlagInput): Promise<WhiteFlagOutput> {
  const { milestone } = options;
  const blocks = await collectCone(options);
  const positions = new Map(blocks.map(({ id }, i) => [toHexDigits(id), i]));
  const positionOf = (id: Uint8Array) => positions.get(toHexDigits(id)) ?? -1;
  const isFirst = isFirstMilestone(options);
  const previous = isFirst ? new Set<ParsedBlock>() : await findPrevious(blocks, options);
  const { numberOf, states, faults } = await judgeAll(blocks, options);
  const parents = blocks.map(({ block }) => block.parents.map(positionOf));
  const cone: Cone = {
    size: blocks.length,
    find: (number) => number,
    numberAt: (position) => position,
    parentCountAt: (position) => parents[position]!.length,
    parentAt: (position, parent) => parents[position]![parent]!,
    kindAt(position) {
      const block = blocks[position]!;
      if (block.transaction !== undefined) return BlockKind.Transaction;
      return previous.has(block) ? BlockKind.Milestone : BlockKind.Plain;
    },
    copyLeaf: (position, target, at) => hashLeaf(blocks[position]!.id, target, at),
    milestoneIdAt: (position) => blocks[position]!.milestone!.id,
    transactionAt(position) {
      const { value, id } = blocks[position]!.transaction!;
      const { inputs, outputs } = value.essence;
      return {
        inputCount: inputs.length,
        outputCount: outputs.length,
        inputAt: (i) => numberOf(outputId(inputs[i]!.transactionId, inputs[i]!.outputIndex)),
        outputAt: (i) => numberOf(outputId(id, i)),
        reasonAt: () =>
          faults.has(position) ? (faults.get(position)?.reason ?? ConflictReason.None) : undefined,
      };
    },
    newOutputMap: () => new Map<number, number>(),
  };
  const walked = walkCone(cone, states, {
    parents: milestone.parents.map(positionOf),
    timestamp: milestone.timestamp,
    previousMilestoneId: isFirst ? undefined : milestone.previousMilestoneId,
  });
  if (!walked.metPreviousMilestone)
    throw refusal('E.3', 'the previous milestone is not in the past cone');
  if (walked.undecided.length > 0) throw new Error('a transaction was not judged');
  const lookups = findDecidingInputs(cone, walked, states);
  const order = Array.from(walked.order, (position, place): OrderedBlock => {
    const reason = walked.reasons[place]!;
    const lookup = lookups.get(place);
    const fault: Fault | undefined = lookup
      ? { reason: reason as Fault['reason'], rule: lookup.rule, input: lookup.input }
      : faults.get(position);
    const applied = reason === ConflictReason.None;
    return { blockId: blocks[position]!.id, applied, ...(fault && { fault }) };
  });
  return { ...computeRoots(cone, walked), order };
}

/** The blocks below the milestone's parents that no earlier milestone references. */
async function collectCone(options: WhiteFlagInput): Promise<ParsedBlock[]> {
  const given = new Map(Array.from(options.blocks, (each) => [toHexDigits(each.id), each]));
  const cone: ParsedBlock[] = [];
  const seen = new Set<string>();
  const stack = [...options.milestone.parents];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const key = toHexDigits(id);
    if (seen.has(key)) continue;
    seen.add(key);
    if (await options.isReferenced(id)) continue;
    const block = given.get(key);
    if (block === undefined)
      throw refusal('E.1', `block ${toHex(id)} is neither given nor referenced before`);
    cone.push(block);
    stack.push(...block.block.parents);
  }
  return cone;
}

/** E.3 (a): the first milestone has no previous one, and all others have one. */
function isFirstMilestone({ milestone, genesisIndex }: WhiteFlagInput): boolean {
  const isFirst = genesisIndex !== undefined && milestone.index === genesisIndex + 1;
  if (isFirst !== isZero(milestone.previousMilestoneId))
    throw refusal(
      'E.3',
      isFirst ? 'the first milestone names a previous one' : 'no previous milestone is named',
    );
  return isFirst;
}

/** E.3 (b): the blocks that properly carry the previous milestone. */
async function findPrevious(
  blocks: readonly ParsedBlock[],
  { milestone, keys, verify = verifyEd25519 }: WhiteFlagInput,
): Promise<Set<ParsedBlock>> {
  const found = new Set<ParsedBlock>();
  for (const block of blocks) {
    const { milestone: carried } = block;
    if (carried === undefined || !equalBytes(carried.id, milestone.previousMilestoneId)) continue;
    if (!(await isMilestoneBlock(block, keys, verify))) continue;
    const { index, timestamp } = carried.value;
    if (index + 1 !== milestone.index || timestamp >= milestone.timestamp)
      throw refusal('E.3', `milestone ${milestone.index} does not follow milestone ${index}`);
    found.add(block);
  }
  return found;
}

/**
 * Judges all transactions whose inputs are known, by position; undefined if there is no fault. The
 * walk asks for a transaction only if it has found its inputs.
 */
async function judgeAll(blocks: readonly ParsedBlock[], options: WhiteFlagInput) {
  const numbers = new Map<string, number>();
  const numberOf = (id: Uint8Array): number => {
    const key = toHexDigits(id);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const transactions = blocks.map(({ transaction }) => transaction);
  /** Contents by number: created by blocks of the cone, or in the ledger. */
  const contents = new Map<number, ConsumedOutput>();
  const states = new Map<number, number>();
  for (const transaction of transactions)
    transaction?.value.essence.outputs.forEach((output, i) => {
      const id = outputId(transaction.id, i);
      contents.set(numberOf(id), { id, bytes: outputBytes(output), output });
    });
  const faults = new Map<number, Fault | undefined>();
  for (const [position, transaction] of transactions.entries()) {
    if (transaction === undefined) continue;
    const ids = consumedIds(transaction.value.essence);
    for (const id of ids) {
      const number = numberOf(id);
      const state = states.has(number) ? undefined : await options.output(id);
      if (state === undefined) continue;
      states.set(number, state.spent ? LedgerState.Spent : LedgerState.Unspent);
      if (!state.spent && !contents.has(number))
        contents.set(number, { id, bytes: state.bytes, output: decodeOutput(state.bytes) });
    }
    const consumed = ids.flatMap((id) => contents.get(numberOf(id)) ?? []);
    if (consumed.length < ids.length) continue;
    const { timestamp } = options.milestone;
    faults.set(position, await judge(transaction, consumed, { ...options, timestamp }));
  }
  return { numberOf, states, faults };
}

export {
  computeRoots,
  LedgerState,
  type MerkleRoots,
  NOT_A_TRANSACTION,
  walkCone,
} from './white-flag/walk.ts';
