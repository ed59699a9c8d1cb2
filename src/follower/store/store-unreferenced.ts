/**
 * Storing blocks that no milestone references, whether they were fetched or pushed, behind their
 * parents. Whatever payload they carry, and whoever admits them: what a block counts for is decided
 * where a walk meets it (src/ledger/view/decide-verdicts.ts), so that no block holds back those
 * above it.
 */

import type { Database } from '../../ledger/core/database.ts';
import { runFenced } from '../../ledger/core/fence.ts';
import type { Head } from '../../ledger/core/head.ts';
import { one, write } from '../../ledger/core/read-batch.ts';
import type { AdmissionRules } from '../../ledger/intake/admission-rules.ts';
import type { Numbering } from '../../ledger/intake/known-outputs.ts';
import { outputsToFind, prepareBlocks } from '../../ledger/intake/prepare-blocks.ts';
import {
  createdOutputIds,
  resolveVerdicts,
  storeStatements,
} from '../../ledger/write/store-blocks.ts';
import type { UnreferencedIndex, UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';

/** Blocks stored in one go. */
const MAX_STORED = 2000;

const SELECT_UNRESOLVED = `
  SELECT EXISTS (SELECT 1 FROM pack WHERE live = 1 AND unresolved <> '[]') AS unresolved`;

export interface BlocksToStore {
  /** By hex ID. The last ones are stored first, behind their parents. */
  blocks: ReadonlyMap<string, ParsedBlock>;
  /** Hex IDs to look up besides those of the blocks and of their parents. */
  also?: Iterable<string>;
  rules: AdmissionRules;
  /**
   * Hex IDs of the blocks that requests may see, because they are unreferenced at the view's moment
   * for certain, and of those to be staged for the next milestone. Called with the view that names
   * all of them and their parents.
   */
  choose: (view: UnreferencedView) => ChosenBlocks;
  index: UnreferencedIndex;
}

export interface ChosenBlocks {
  visible: ReadonlySet<string>;
  staged?: ReadonlySet<string>;
}

/**
 * Stores those of the blocks that were chosen and whose parents are stored or known, behind a
 * fence, and returns their hex IDs. Run it in the mutex. Throws a LedgerMoved where the ledger is
 * not that of `head` any more.
 */
export async function storeUnreferenced(
  db: Database,
  head: Pick<Head, 'generation' | 'ledger'>,
  { blocks, also = [], rules, choose, index }: BlocksToStore,
): Promise<string[]> {
  const parents = [...blocks.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  const outputs = outputsToFind([...blocks.values()]);
  const named = [...new Set([...blocks.keys(), ...parents, ...also])];
  const view = await index.view(db, head, named, outputs);
  const { ordered, staged } = orderStorable(blocks, view, choose(view));
  if (ordered.length === 0) return [];

  const numbering: Numbering = { ...view.numbering, blocks: new Map(view.named) };
  for (const id of parents) {
    const number = view.stagedNumber(id);
    if (number !== undefined && !view.named.has(id))
      numbering.blocks.set(id, { number, milestone: null });
  }
  const prepared = await prepareBlocks(ordered, numbering, rules);
  const { unresolved } = await runFenced(db, {
    writes: write(storeStatements(db, view, prepared, staged, numbering)),
    unresolved: one(db.prepare(SELECT_UNRESOLVED), (row) => row.integer('unresolved')),
  });
  index.stored(view, prepared, staged, numbering);
  if (unresolved > 0)
    await resolveVerdicts(db, head.generation, createdOutputIds(prepared), rules.verify);
  return prepared.map(({ id }) => id);
}

/**
 * The first blocks that can be stored, parents first. One whose parent cannot be stored is left
 * out; one that requests could see, if it were not for a staged parent, is staged too, if it may
 * be.
 */
function orderStorable(
  blocks: ReadonlyMap<string, ParsedBlock>,
  view: UnreferencedView,
  { visible, staged: mayBeStaged = new Set() }: ChosenBlocks,
): { ordered: ParsedBlock[]; staged: Set<string> } {
  const ordered: ParsedBlock[] = [];
  const staged = new Set<string>();
  /** Of blocks that were looked at: whether requests will see it, whether it is stored at all. */
  const done = new Map<string, { isVisible: boolean; isStored: boolean }>();
  const isNew = (id: string) =>
    blocks.has(id) && !view.named.has(id) && view.stagedNumber(id) === undefined;
  const isVisible = (id: string) => view.named.has(id) || done.get(id)?.isVisible === true;
  const isStored = (id: string) =>
    isVisible(id) || view.stagedNumber(id) !== undefined || done.get(id)?.isStored === true;
  const stack = [...blocks.keys()];
  while (stack.length > 0 && ordered.length < MAX_STORED) {
    const id = stack.at(-1)!;
    if (!isNew(id) || done.has(id)) {
      stack.pop();
      continue;
    }
    const block = blocks.get(id)!;
    const parents = block.block.parents.map(toHexDigits);
    const before = parents.filter((parent) => isNew(parent) && !done.has(parent));
    if (before.length > 0) {
      stack.push(...before);
      continue;
    }
    const willBeVisible = visible.has(id) && parents.every(isVisible);
    const willBeStaged = !willBeVisible && mayBeStaged.has(id) && parents.every(isStored);
    done.set(id, { isVisible: willBeVisible, isStored: willBeVisible || willBeStaged });
    if (willBeVisible || willBeStaged) ordered.push(block);
    if (willBeStaged) staged.add(id);
  }
  return { ordered, staged };
}
