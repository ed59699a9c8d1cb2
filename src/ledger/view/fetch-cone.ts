/**
 * Fetching a cone: the blocks that D1 has not, together with those that it has.
 *
 * Blocks that are fetched stay in memory; whoever wants them stored takes them from the result.
 * Blocks may be stored and milestones applied while others are being fetched. So everything is read
 * again at the end, in one batch that also names every fetched block: no block can then be in the
 * cone twice.
 *
 * The same batch tells which of the fetched blocks their parents prove unreferenced
 * (prove-unreferenced.ts). The source is queried for the others, and what it says needs no other
 * view: it is about the state before the milestone, which does not change any more.
 */

import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { type Cone, extendCone } from '../../stardust/white-flag/cone.ts';
import { LedgerState } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { Database } from '../core/database.ts';
import type { AdmissionRules } from '../intake/admission-rules.ts';
import { type BlockSource, ConeUnavailable } from '../intake/block-source.ts';
import {
  type FindUnreferenced,
  findInCone,
  type KnownBlock,
  lookUpBlocks,
} from '../intake/known-blocks.ts';
import type { Numbering } from '../intake/known-outputs.ts';
import { outputsToFind, prepareBlocks } from '../intake/prepare-blocks.ts';
import { findDoubtfulRoots } from '../intake/prove-unreferenced.ts';
import { type ConsistentView, type LoadedCone, numbersOf, readView } from './consistent-view.ts';

export interface ConeToFetch {
  /** The view that names the parents. */
  first: ConsistentView;
  /** The milestone's index; blocks that earlier milestones reference stop the walk. */
  index: number;
  /** Hex IDs. */
  parents: readonly string[];
  rules: () => Promise<AdmissionRules>;
  /** Absent where nothing may be fetched: then the cone cannot be had. */
  source: BlockSource | undefined;
}

/**
 * Levels of blocks that nobody was asked about. A walk that has come below the import meets nothing
 * that is known, and only upstream can tell that it has; a request has no time to go deeper.
 */
const MAX_LEVELS_UNASKED = 16;

/** Blocks that were fetched, and those known to D1 that they lead to. */
interface FetchedCone {
  /** By hex ID. */
  blocks: ReadonlyMap<string, ParsedBlock>;
  /** Hex IDs. */
  known: ReadonlySet<string>;
}

/**
 * The cone of parents that D1 does not know all of. Throws a ConeUnavailable where it cannot be
 * had, and whatever else the source throws.
 */
export async function fetchCone(db: Database, request: ConeToFetch): Promise<LoadedCone> {
  return assembleCone(db, request, await fetchUnknown(db, request));
}

/** Fetches, breadth first, from the unknown parents to blocks that D1 knows. */
async function fetchUnknown(
  db: Database,
  { first, parents, source }: ConeToFetch,
): Promise<FetchedCone> {
  const unknown = parents.filter((id) => !first.named.has(id));
  if (source === undefined) {
    throw new ConeUnavailable('unknown-block', `block 0x${unknown[0]} is not known here`);
  }
  return fetchDownToKnown(db, unknown, first, source);
}

/**
 * Reads the view again, now that all blocks are at hand, and puts the fetched ones into its cone.
 */
async function assembleCone(
  db: Database,
  { first, index, parents, rules, source }: ConeToFetch,
  { blocks, known }: FetchedCone,
): Promise<LoadedCone> {
  const named = [...new Set([...parents, ...known, ...blocks.keys()])];
  const outputs = outputsToFind([...blocks.values()]);
  const view = await readView(db, { index, named, outputs });
  if (view?.head.generation !== first.head.generation) throw ledgerReplaced();
  const fresh = parentsFirst(blocks, view.named);
  if (source?.requireUnreferenced !== undefined) {
    const roots = findDoubtfulRoots(fresh, view.named, view.head);
    if (roots.length > 0) await source.requireUnreferenced(roots);
  }
  const numbering: Numbering = { ...view.numbering, blocks: new Map(view.named) };
  const fetched = await prepareBlocks([...fresh.values()], numbering, await rules());
  for (const { number, created, spent } of numbering.outputs.values()) {
    if (created !== undefined && created < index) {
      const isSpent = spent !== undefined && spent < index;
      view.states.set(number, isSpent ? LedgerState.Spent : LedgerState.Unspent);
    }
  }
  const records = fetched.map(({ record }) => record);
  const cone = extendCone(view.cone, records);
  return { view, cone, parents: numbersOf(parents, numbering.blocks), fetched, numbering };
}

function ledgerReplaced(): ConeUnavailable {
  return new ConeUnavailable('ledger-replaced', 'the ledger was replaced meanwhile');
}

async function fetchDownToKnown(
  db: Database,
  unknown: readonly string[],
  { named, cone }: { named: ReadonlyMap<string, KnownBlock>; cone: Cone },
  source: BlockSource,
): Promise<FetchedCone> {
  const findUnreferenced: FindUnreferenced = (ids) => findInCone(cone, ids);
  const blocks = new Map<string, ParsedBlock>();
  const known = new Set(named.keys());
  /** Levels from a block up to one that the source was asked about. */
  const levels = new Map<string, number>();
  let missing = unknown;
  let deep: readonly string[] = [];
  while (missing.length > 0) {
    /** What is looked up now, by the block that led there. */
    const childOf = new Map<string, string>();
    const [recent] = await Promise.all([source.fetch(missing), source.requireUnreferenced?.(deep)]);
    // what was fetched before needs no lookup, however many levels deep
    for (let block = recent.pop(); block !== undefined; block = recent.pop()) {
      const id = toHexDigits(block.id);
      blocks.set(id, block);
      for (const parent of block.block.parents.map(toHexDigits)) {
        if (blocks.has(parent) || known.has(parent) || childOf.has(parent)) continue;
        levels.set(parent, (levels.get(id) ?? 0) + 1);
        const recalled = source.recall?.(parent);
        if (recalled === undefined) childOf.set(parent, id);
        else recent.push(recalled);
      }
    }
    for (const id of (await lookUpBlocks(db, findUnreferenced, [...childOf.keys()])).keys())
      known.add(id);
    missing = [...childOf.keys()].filter((id) => !known.has(id) && !blocks.has(id));
    const low = missing.filter((id) => levels.get(id)! >= MAX_LEVELS_UNASKED);
    for (const id of low) levels.set(id, 0);
    deep = [...new Set(low.map((id) => childOf.get(id)!))];
  }
  return { blocks, known };
}

/** The blocks that are not known after all, each behind its parents. */
function parentsFirst(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownBlock>,
): Map<string, ParsedBlock> {
  const ordered = new Map<string, ParsedBlock>();
  const entered = new Set<string>();
  const stack = [...blocks.keys()];
  while (stack.length > 0) {
    const id = stack.at(-1)!;
    const block = blocks.get(id);
    if (block === undefined || known.has(id) || ordered.has(id)) {
      stack.pop();
    } else if (entered.has(id)) {
      ordered.set(id, block);
      stack.pop();
    } else {
      entered.add(id);
      for (const parent of block.block.parents) stack.push(toHexDigits(parent));
    }
  }
  return ordered;
}
