/**
 * Storing blocks that no milestone references, whether they were fetched or pushed: those that are
 * open for certain, whose parents are known, and whose records would be the same later.
 */
import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { type ConsistentView, MAX_PACKS_TO_FOLLOW, readView } from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import { LedgerMoved, runFenced } from '../ledger/fence.ts';
import type { Head } from '../ledger/head.ts';
import type { KnownBlock } from '../ledger/known-blocks.ts';
import { outputsToFind, prepareBlocks } from '../ledger/prepare-blocks.ts';
import { createdOutputIds, settleWaiting, storeStatements } from '../ledger/store-blocks.ts';
import { admissionFault } from '../stardust/admission.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { isMilestoneBlock } from '../stardust/milestone-keys.ts';

/** Blocks stored in one go. */
export const MAX_STORED = 2000;

/** The most open blocks that are kept. */
export const MAX_OPEN_BLOCKS = 100_000;

export interface BlocksToStore {
  /** By hex ID. What stands last is stored first, behind its parents. */
  blocks: ReadonlyMap<string, ParsedBlock>;
  /** Hex IDs to look up besides those of the blocks and of their parents. */
  also?: Iterable<string>;
  rules: AdmissionRules;
  /**
   * Hex IDs of the blocks that may be stored, because they are open at the view's moment for
   * certain. Called with the view that names all of them and their parents.
   */
  choose: (view: ConsistentView) => ReadonlySet<string>;
}

/**
 * Stores those of the blocks that can be, behind a fence, and returns their hex IDs. Run it
 * exclusively. Throws a LedgerMoved where the ledger is not that of `head` any more, and an Error
 * where there are too many open blocks.
 */
export async function storeOpen(
  db: Database,
  head: Head,
  { blocks, also = [], rules, choose }: BlocksToStore,
): Promise<string[]> {
  const parents = [...blocks.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  const outputs = outputsToFind([...blocks.values()]);
  const named = [...new Set([...blocks.keys(), ...parents, ...also])];
  const view = await viewNext(db, head, named, outputs);
  const open = choose(view);
  const fresh = await storableBlocks(blocks, view.named, async (id, block) => {
    return open.has(id) && (await isSettled(block, head.ledger, rules));
  });
  if (fresh.length === 0) return [];
  const { size } = view.cone;
  if (size + fresh.length > MAX_OPEN_BLOCKS)
    throw new Error(`${size} blocks that no milestone references: no more are stored`);

  const numbering = { ...view.numbering, blocks: new Map(view.named) };
  const prepared = await prepareBlocks(fresh, numbering, rules);
  await runFenced(db, storeStatements(db, view, prepared, numbering));
  await settleWaiting(db, head.generation, createdOutputIds(prepared), rules.verify);
  return prepared.map(({ id }) => id);
}

/**
 * All open blocks. A milestone may have been applied since the pass began: what was open then is
 * open still, or known by now. Throws a LedgerMoved where an import replaced the ledger.
 */
export async function viewNext(
  db: Database,
  { generation, ledger }: Head,
  named: readonly string[],
  outputs = outputsToFind([]),
): Promise<ConsistentView> {
  for (let index = ledger + 1; ; ) {
    const request = { index, named, outputs, maxPacks: MAX_PACKS_TO_FOLLOW };
    const view = await readView(db, request);
    if (view?.head.generation !== generation) throw new LedgerMoved('the ledger was replaced');
    if (view.head.ledger + 1 === index) return view;
    index = view.head.ledger + 1;
  }
}

/**
 * Whether the block's record would be the same later (prepare-blocks.ts). It would not if keys or
 * parameters that we lack decide. A milestone beyond ours that our keys do not verify may be one
 * whose keys are about to be configured. A block that no parameters admit may be one of parameters
 * about to be announced.
 */
async function isSettled(
  parsed: ParsedBlock,
  ledger: number,
  { keys, verify, parameters }: AdmissionRules,
): Promise<boolean> {
  const { milestone } = parsed;
  if (
    milestone !== undefined &&
    milestone.value.index > ledger &&
    !(await isMilestoneBlock(parsed, keys, verify))
  )
    return false;
  return parameters.some((each) => admissionFault(parsed, each) === undefined);
}

/**
 * The first blocks all of whose parents are known or among those before them. Blocks that are not
 * settled are left out, with their descendants.
 */
async function storableBlocks(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownBlock>,
  settled: (id: string, block: ParsedBlock) => Promise<boolean>,
): Promise<ParsedBlock[]> {
  const ordered: ParsedBlock[] = [];
  /** Whether it is among the ordered. */
  const done = new Map<string, boolean>();
  const isOpen = (id: string) => blocks.has(id) && !known.has(id) && !done.has(id);
  const stack = [...blocks.keys()];
  while (stack.length > 0 && ordered.length < MAX_STORED) {
    const id = stack.at(-1)!;
    if (!isOpen(id)) {
      stack.pop();
      continue;
    }
    const block = blocks.get(id)!;
    const parents = block.block.parents.map(toHexDigits);
    const before = parents.filter(isOpen);
    if (before.length > 0) {
      stack.push(...before);
      continue;
    }
    const storable =
      parents.every((parent) => known.has(parent) || done.get(parent)) &&
      (await settled(id, block));
    done.set(id, storable);
    if (storable) ordered.push(block);
  }
  return ordered;
}
