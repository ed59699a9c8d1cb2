/**
 * Storing blocks that no milestone references, whether they were fetched or pushed: those that are
 * open for certain, whose parents are known, and whose records would be the same later.
 */
import type { AdmissionRules } from '../ledger/admission-rules.ts';
import type { Database } from '../ledger/database.ts';
import { runFenced } from '../ledger/fence.ts';
import type { Head } from '../ledger/head.ts';
import type { KnownBlock } from '../ledger/known-blocks.ts';
import type { OpenSet, OpenView } from '../ledger/open-set.ts';
import { outputsToFind, prepareBlocks } from '../ledger/prepare-blocks.ts';
import { createdOutputIds, settleWaiting, storeStatements } from '../ledger/store-blocks.ts';
import { admissionFault } from '../stardust/admission.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { isMilestoneBlock } from '../stardust/milestone-keys.ts';

/** Blocks stored in one go. */
const MAX_STORED = 2000;

/** The highest key, and whether any block waits for an output. */
const SELECT_STORED = `SELECT max(key) AS last, max(waiting <> '[]') AS waits FROM open`;

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
  choose: (view: OpenView) => ReadonlySet<string>;
  openSet: OpenSet;
}

/**
 * Stores those of the blocks that can be, behind a fence, and returns their hex IDs. Run it
 * exclusively. Throws a LedgerMoved where the ledger is not that of `head` any more, and an Error
 * where there are too many open blocks.
 */
export async function storeOpen(
  db: Database,
  head: Pick<Head, 'generation' | 'ledger'>,
  { blocks, also = [], rules, choose, openSet }: BlocksToStore,
): Promise<string[]> {
  const parents = [...blocks.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  const outputs = outputsToFind([...blocks.values()]);
  const named = [...new Set([...blocks.keys(), ...parents, ...also])];
  const view = await openSet.view(db, head, named, outputs);
  const open = choose(view);
  const fresh = await storableBlocks(blocks, view.named, async (id, block) => {
    return open.has(id) && (await isSettled(block, head.ledger, rules));
  });
  if (fresh.length === 0) return [];
  const { size } = view;
  if (size + fresh.length > MAX_OPEN_BLOCKS)
    throw new Error(`${size} blocks that no milestone references: no more are stored`);

  const numbering = { ...view.numbering, blocks: new Map(view.named) };
  const prepared = await prepareBlocks(fresh, numbering, rules);
  const results = await runFenced(db, [
    ...storeStatements(db, view, prepared, numbering),
    db.prepare(SELECT_STORED),
  ]);
  const { last, waits } = results.at(-1)![0]!;
  openSet.stored(view, prepared, numbering, Number(last));
  if (Number(waits) > 0)
    await settleWaiting(db, head.generation, createdOutputIds(prepared), rules.verify);
  return prepared.map(({ id }) => id);
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
