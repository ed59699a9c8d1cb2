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

import { extendCone } from '../../stardust/white-flag/cone.ts';
import { LedgerState } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { Database } from '../core/database.ts';
import type { AdmissionRules } from '../intake/admission-rules.ts';
import { type BlockSource, ConeUnavailable } from '../intake/block-source.ts';
import { type ConeSkeleton, createConeSkeleton } from '../intake/cone-skeleton.ts';
import { findInCone, lookUpBlocks } from '../intake/known-blocks.ts';
import type { Numbering } from '../intake/known-outputs.ts';
import { outputsToFind, prepareBlocks } from '../intake/prepare-blocks.ts';
import { findDoubtfulRoots } from '../intake/prove-unreferenced.ts';
import { walkDown } from '../intake/walk-down.ts';
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
 * Levels of blocks about which no upstream was queried. A walk that has come below the import meets
 * nothing that is known, and only an upstream can tell that it has; a request has no time to go
 * deeper.
 */
const MAX_LEVELS_UNASKED = 16;

/**
 * The cone of parents that D1 does not know all of. Throws a ConeUnavailable where it cannot be
 * had, and whatever else the source throws.
 */
export async function fetchCone(db: Database, request: ConeToFetch): Promise<LoadedCone> {
  const { first, parents, source } = request;
  const unknown = parents.filter((id) => !first.named.has(id));
  if (source === undefined)
    throw new ConeUnavailable('unknown-block', `block 0x${unknown[0]} is not known here`);
  const skeleton = createConeSkeleton(unknown);
  const blocks = new Map<string, ParsedBlock>();
  await walkDown(skeleton, {
    recall: source.recall,
    findKnown: async (ids) =>
      ids.every((id) => unknown.includes(id))
        ? NONE
        : lookUpBlocks(db, (some) => findInCone(first.cone, some), ids),
    fetch: async (ids) => {
      const deep = ids.filter((id) => skeleton.levelOf(id) >= MAX_LEVELS_UNASKED);
      deep.forEach(skeleton.restartLevels);
      const [fetched] = await Promise.all([source.fetch(ids), source.requireUnreferenced?.(deep)]);
      return fetched;
    },
    meet: (id, block) => blocks.set(id, block),
  });
  return assembleCone(db, request, skeleton, blocks);
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Reads the view again, now that all blocks are at hand, and adds the fetched ones to its cone.
 *
 * @param skeleton of the fetched blocks, and of known ones right below them
 * @param blocks fetched, by hex ID
 */
async function assembleCone(
  db: Database,
  { first, index, parents, rules, source }: ConeToFetch,
  skeleton: ConeSkeleton,
  blocks: ReadonlyMap<string, ParsedBlock>,
): Promise<LoadedCone> {
  const met = Array.from({ length: skeleton.size }, (_, at) => skeleton.idAt(at));
  const named = [...new Set([...parents, ...met])];
  const outputs = outputsToFind([...blocks.values()]);
  const view = await readView(db, { index, named, outputs });
  if (view?.head.generation !== first.head.generation)
    throw new ConeUnavailable('ledger-replaced', 'the ledger was replaced meanwhile');
  /** Those that are not known after all. */
  const fresh = new Map(
    Array.from(skeleton.order(), skeleton.idAt)
      .filter((id) => !view.named.has(id))
      .map((id) => [id, blocks.get(id)!]),
  );
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
