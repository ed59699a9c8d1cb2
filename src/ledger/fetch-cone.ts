/**
 * Fetching a cone: the blocks that D1 has not, together with those that it has.
 *
 * Blocks that are fetched stay in memory; whoever wants them stored takes them from the result.
 * Blocks may be stored and milestones applied while others are being fetched. So everything is read
 * once more at the end, in one batch that also names every fetched block: no block can then stand
 * in the cone twice.
 */
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { type Cone, readCone } from '../stardust/white-flag/cone.ts';
import { LedgerState } from '../stardust/white-flag/walk.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { type BlockSource, ConeUnavailable } from './block-source.ts';
import { type ConsistentView, type LoadedCone, numbersOf, readView } from './consistent-view.ts';
import type { Database } from './database.ts';
import { type KnownBlock, lookUpBlocks } from './known-blocks.ts';
import type { Numbering } from './known-outputs.ts';
import { outputsToFind, prepareBlocks } from './prepare-blocks.ts';

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
  /** Of the view (consistent-view.ts). */
  maxPacks?: number;
}

/** Blocks that were fetched, and those known to D1 that they lead to. */
export interface FetchedCone {
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
export async function fetchUnknown(
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
 * Reads the view anew, now that all blocks are at hand, and puts the fetched ones into its cone.
 */
export async function assembleCone(
  db: Database,
  { first, index, parents, rules, maxPacks }: ConeToFetch,
  { blocks, known }: FetchedCone,
): Promise<LoadedCone> {
  const named = [...new Set([...parents, ...known, ...blocks.keys()])];
  const outputs = outputsToFind([...blocks.values()]);
  const view = await readView(db, { index, named, outputs, ...(maxPacks && { maxPacks }) });
  if (view?.head.generation !== first.head.generation) throw ledgerReplaced();
  const fresh = parentsFirst(blocks, view.named);
  const numbering: Numbering = { ...view.numbering, blocks: new Map(view.named) };
  const fetched = await prepareBlocks(fresh, numbering, await rules());
  for (const { number, created, spent } of numbering.outputs.values()) {
    if (created !== undefined && created < index) {
      const isSpent = spent !== undefined && spent < index;
      view.states.set(number, isSpent ? LedgerState.Spent : LedgerState.Unspent);
    }
  }
  const cone = readCone([view.cone.bytes, ...fetched.map(({ record }) => record)]);
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
  const blocks = new Map<string, ParsedBlock>();
  const known = new Set(named.keys());
  let missing = unknown;
  while (missing.length > 0) {
    const asked = new Set<string>();
    const recent = await source.fetch(missing);
    // what was fetched before needs no lookup, however many levels deep
    for (let block = recent.pop(); block !== undefined; block = recent.pop()) {
      blocks.set(toHexDigits(block.id), block);
      for (const parent of block.block.parents.map(toHexDigits)) {
        if (blocks.has(parent) || known.has(parent) || asked.has(parent)) continue;
        const recalled = source.recall?.(parent);
        if (recalled === undefined) asked.add(parent);
        else recent.push(recalled);
      }
    }
    for (const id of (await lookUpBlocks(db, cone, [...asked])).keys()) known.add(id);
    missing = [...asked].filter((id) => !known.has(id) && !blocks.has(id));
  }
  return { blocks, known };
}

/** The blocks that are not known after all, each behind its parents. */
function parentsFirst(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownBlock>,
): ParsedBlock[] {
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
  return [...ordered.values()];
}
