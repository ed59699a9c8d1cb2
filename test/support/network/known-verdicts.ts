/**
 * The white flag over blocks whose verdicts are known (docs/protocol.md, B.13, D.1, E.1, E.2): what
 * a made-up network decides about its own blocks.
 */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { merkleRootByDefinition } from '../oracle/merkle.ts';
import type { InclusionState, NetworkBlock, NetworkOutput } from './network-model.ts';
import type { MadeTransaction } from './transactions.ts';

export interface Decided {
  block: NetworkBlock;
  transaction: MadeTransaction | undefined;
  state: InclusionState;
  conflict: ConflictReason;
}

/**
 * Post-order from the parents in the given order, over all blocks that no milestone references yet.
 * A block that is unknown, such as the genesis, ends the walk. `met` also has the blocks that ended
 * it.
 */
export function pastCone(
  blocks: ReadonlyMap<string, NetworkBlock>,
  parents: readonly string[],
  isOpen = ({ referenced }: NetworkBlock) => referenced === undefined,
): { order: NetworkBlock[]; met: Set<string> } {
  const met = new Set<string>();
  const order: NetworkBlock[] = [];
  const stack: { block: NetworkBlock; next: number }[] = [];
  const enter = (id: string) => {
    if (met.has(id)) return;
    met.add(id);
    const block = blocks.get(id);
    if (block !== undefined && isOpen(block)) stack.push({ block, next: 0 });
  };
  for (const parent of parents) {
    enter(parent);
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const next = top.block.parents[top.next++];
      if (next !== undefined) {
        enter(next);
        continue;
      }
      stack.pop();
      order.push(top.block);
    }
  }
  return { order, met };
}

/** The verdicts of a cone on a ledger, spent outputs included. */
export function decide(
  order: readonly NetworkBlock[],
  transactions: ReadonlyMap<string, MadeTransaction>,
  ledger: { get(id: string): Pick<NetworkOutput, 'spent'> | undefined },
  timestamp: number,
): Decided[] {
  const spent = new Set<string>();
  const created = new Set<string>();
  // D.1, at the first input that fails
  const lookUp = (inputs: readonly string[]): ConflictReason => {
    for (const id of inputs) {
      if (spent.has(id)) return ConflictReason.InputAlreadySpentInThisMilestone;
      if (created.has(id)) continue;
      const stored = ledger.get(id);
      if (stored === undefined) return ConflictReason.InputNotFound;
      if (stored.spent !== undefined) return ConflictReason.InputAlreadySpent;
    }
    return ConflictReason.None;
  };
  return order.map((block) => {
    const transaction = transactions.get(block.id);
    if (transaction === undefined)
      return { block, transaction, state: 'noTransaction', conflict: ConflictReason.None };
    const conflict = lookUp(transaction.inputs) || transaction.verdict(timestamp);
    if (conflict !== ConflictReason.None)
      return { block, transaction, state: 'conflicting', conflict };
    for (const id of transaction.inputs) spent.add(id);
    for (const { id } of transaction.coins) created.add(toHex(id));
    return { block, transaction, state: 'included', conflict };
  });
}

export interface Roots {
  inclusionMerkleRoot: Uint8Array;
  appliedMerkleRoot: Uint8Array;
}

export function rootsOf(decided: readonly Decided[]): Roots {
  const idsOf = (list: readonly Decided[]) => list.map(({ block }) => fromHex(block.id));
  return {
    inclusionMerkleRoot: merkleRootByDefinition(idsOf(decided)),
    appliedMerkleRoot: merkleRootByDefinition(
      idsOf(decided.filter(({ state }) => state === 'included')),
    ),
  };
}
