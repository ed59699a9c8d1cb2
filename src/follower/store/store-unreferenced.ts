/**
 * Stores blocks that no milestone references, fetched or pushed, behind their parents, whatever
 * payload they carry: what a block counts for is decided where a walk meets it
 * (docs/architecture.md#storing-blocks), so no block holds back those above it.
 */
import type { Database } from '../../ledger/core/database.ts';
import { runFenced } from '../../ledger/core/fence.ts';
import type { Head } from '../../ledger/core/head.ts';
import { write } from '../../ledger/core/read-batch.ts';
import { type Numbering, readOutputContents } from '../../ledger/intake/known-outputs.ts';
import {
  type ContentSource,
  outputsToFind,
  prepareBlocks,
} from '../../ledger/intake/prepare-blocks.ts';
import { resolveVerdicts } from '../../ledger/write/resolve-verdicts.ts';
import { storeStatements } from '../../ledger/write/store-blocks.ts';
import type { UnreferencedIndex, UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import { describeError, writeLog } from '../../platform/log.ts';
import { type AdmissionRules, isAdmitted } from '../../stardust/admission.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';

/** Steps that make verdicts which the stored blocks make possible; passes make the others. */
const RESOLVING_STEPS = 2;

export interface BlocksToStore {
  blocks: ReadonlyMap<string, ParsedBlock>;
  rules: AdmissionRules;
  /**
   * Returns the hex IDs of the blocks that requests may see, as they are certainly unreferenced,
   * and of those to be staged. The view names all of them and their parents.
   */
  choose: (view: UnreferencedView) => ChosenBlocks;
  /** Hex IDs of unknown parents that count as referenced, for blocks that are staged. */
  ends?: Pick<ReadonlySet<string>, 'has'>;
  index: UnreferencedIndex;
  /** Called with the blocks that were stored and that requests see. */
  announce?: Announce | undefined;
}

const NONE: ReadonlySet<string> = new Set();

export type Announce = (blocks: readonly ParsedBlock[]) => void;

export interface ChosenBlocks {
  visible: ReadonlySet<string>;
  staged?: ReadonlySet<string>;
}

/**
 * Stores the chosen blocks whose parents are stored or known, behind a fence; returns their hex
 * IDs. Run it as a step. Throws a LedgerMoved if the ledger is not that of `head` any more.
 */
export async function storeUnreferenced(
  db: Database,
  head: Pick<Head, 'generation' | 'ledger'>,
  part: BlocksToStore,
): Promise<string[]> {
  const { blocks, rules, choose, ends = NONE, index, announce } = part;
  const parents = [...blocks.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  const named = [...new Set([...blocks.keys(), ...parents])];
  const view = await index.view(db, head, named, outputsToFind([...blocks.values()]));
  const { storable, staged } = findStorable(part, view, choose(view));
  if (storable.length === 0) return [];

  const numbering: Numbering = { ...view.numbering, blocks: new Map(view.named) };
  for (const id of parents) {
    const number = view.stagedNumber(id) ?? (ends.has(id) ? 0 : undefined);
    if (number !== undefined && !view.named.has(id))
      numbering.blocks.set(id, { number, milestone: null });
  }
  const prepared = await prepareBlocks(storable, numbering, rules, contentsOf(db, view));
  await runFenced(db, { writes: write(storeStatements(db, view, prepared, staged, numbering)) });
  index.stored(view, prepared, staged, numbering);
  announce?.(storable.filter(({ id }) => !staged.has(toHexDigits(id))));
  try {
    await resolveVerdicts(db, { index, head, verify: rules.verify }, RESOLVING_STEPS);
  } catch (error) {
    // the blocks are stored all the same, and the next pass tries again
    writeLog('warn', 'follower.verdicts-not-made', { error: describeError(error) });
  }
  return prepared.map(({ id }) => id);
}

/** Characters of the content of an output, at most: it has up to 21 KB. */
const MAX_CONTENT_LENGTH = 29_000;

/** Contents as they are in D1 by the time of the view, or later. */
function contentsOf(db: Database, { creatorOf, numbering }: UnreferencedView): ContentSource {
  return {
    lengthOf: (id) =>
      creatorOf(id) === undefined ? (numbering.outputs.get(id)?.length ?? 0) : MAX_CONTENT_LENGTH,
    read: (ids) => readOutputContents(db, ids, creatorOf),
  };
}

/**
 * Finds the blocks that can be stored. One whose parent cannot be stored is left out. One that
 * requests must not see, as a parent is staged or it is not admitted under the known parameters
 * (C-4 to C-19), is staged too, if it may be; else it is fetched again when another block needs it.
 */
function findStorable(
  { blocks, rules, ends = NONE }: BlocksToStore,
  { named, stagedNumber }: UnreferencedView,
  { visible, staged: mayBeStaged = new Set() }: ChosenBlocks,
): { storable: ParsedBlock[]; staged: Set<string> } {
  const storable: ParsedBlock[] = [];
  const shown = new Set<string>();
  const staged = new Set<string>();
  const isVisible = (id: string) => named.has(id) || shown.has(id);
  const isStored = (id: string) =>
    isVisible(id) || staged.has(id) || stagedNumber(id) !== undefined || ends.has(id);
  for (const [id, block] of blocks) {
    if (isStored(id)) continue;
    const parents = block.block.parents.map(toHexDigits);
    const isCertain = visible.has(id) && parents.every(isVisible);
    if (isCertain && isAdmitted(block, rules.parameters)) shown.add(id);
    else if (mayBeStaged.has(id) && parents.every(isStored)) staged.add(id);
    else continue;
    storable.push(block);
  }
  return { storable, staged };
}
