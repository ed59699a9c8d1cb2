/**
 * The white flag over blocks whose verdicts are known (docs/protocol.md, B.13, D.1, E.1, E.2): what
 * a made-up network decides about its own blocks, and the oracle (../oracle/oracle.ts) about any.
 */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { merkleRootByDefinition } from '../oracle/merkle.ts';
import type { InclusionState, NetworkBlock } from './network-model.ts';
import type { MadeTransaction } from './transactions.ts';

/** What the walk needs of a block. */
interface Walked {
  id: string;
  parents: readonly string[];
  /** Undefined where no milestone references it yet. */
  referenced?: unknown;
}

/** What a verdict needs of a transaction. */
type Judged = Pick<MadeTransaction, 'inputs' | 'verdict'> & {
  coins: readonly { id: Uint8Array }[];
};

/** Something by its ID. */
interface Known<T> {
  get(id: string): T | undefined;
}

export interface Decided<B extends Walked = NetworkBlock, T extends Judged = MadeTransaction> {
  block: B;
  transaction: T | undefined;
  state: InclusionState;
  conflict: ConflictReason;
}

/**
 * Post-order from the parents in the given order, over all blocks that no milestone references yet.
 * A block that is unknown, such as the genesis, ends the walk. `met` also has the blocks that ended
 * it.
 */
export function pastCone<B extends Walked = NetworkBlock>(
  blocks: Known<B>,
  parents: readonly string[],
  isOpen: (block: B) => boolean = ({ referenced }) => referenced === undefined,
): { order: B[]; met: Set<string> } {
  const met = new Set<string>();
  const order: B[] = [];
  const stack: { block: B; next: number }[] = [];
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
export function decide<B extends Walked, T extends Judged>(
  order: readonly B[],
  transactions: Known<T>,
  ledger: Known<{ spent?: unknown }>,
  timestamp: number,
): Decided<B, T>[] {
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

export function rootsOf(decided: readonly Decided<Walked, Judged>[]): Roots {
  const idsOf = (list: typeof decided) => list.map(({ block }) => fromHex(block.id));
  return {
    inclusionMerkleRoot: merkleRootByDefinition(idsOf(decided)),
    appliedMerkleRoot: merkleRootByDefinition(
      idsOf(decided.filter(({ state }) => state === 'included')),
    ),
  };
}
