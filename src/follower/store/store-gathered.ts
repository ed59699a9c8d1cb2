/**
 * Stores gathered blocks where requests see them: those that are unreferenced for certain.
 *
 * A block that one of our milestones references already, though we do not know it, would look
 * unreferenced to every later request (docs/architecture.md#the-trap). So each is proven
 * unreferenced by its parents (src/ledger/intake/prove-unreferenced.ts), or every upstream is
 * queried. Mostly the parents prove all, and nobody is queried.
 */

import type { Database } from '../../ledger/core/database.ts';
import type { Head } from '../../ledger/core/head.ts';
import type { AdmissionRules } from '../../ledger/intake/admission-rules.ts';
import {
  findDoubtfulRoots,
  findProvenUnreferenced,
  type KnownReference,
} from '../../ledger/intake/prove-unreferenced.ts';
import type { UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { SaidOfBlocks } from '../follower-context.ts';
import {
  createQuery,
  type GatheredBlocks,
  type GatherFault,
  type GatherTools,
  requireFault,
} from './gather-blocks.ts';
import type { Mutex } from './mutex.ts';
import { type Announce, storeUnreferenced } from './store-unreferenced.ts';

export interface StoreTools extends GatherTools {
  rules: AdmissionRules;
  announce?: Announce | undefined;
  /** Whatever is read and then written is done in it, not what is fetched. */
  mutex: Mutex;
}

export interface StoredBlocks {
  /** How many. */
  stored: number;
  /** Why some block of the walk is not stored, if a reason is known. */
  fault: GatherFault | undefined;
}

/**
 * Throws a LedgerMoved where another follower was first, and what the database throws.
 *
 * @param deadline Unix milliseconds after which no upstream is queried
 */
export async function storeGathered(
  db: Database,
  head: Head,
  { blocks, fault, isCut }: GatheredBlocks,
  tools: StoreTools,
  deadline: number,
): Promise<StoredBlocks> {
  const proven = await storeAll(db, head, blocks, tools);
  const left = new Map([...blocks].filter(([id]) => !proven.has(id)));
  // upon a walk that was cut off nothing more can be stored yet
  if (left.size === 0 || isCut) return { stored: proven.size, fault };
  const { named, head: now } = await viewOf(left, db, head, tools);
  const roots = findRoots(left, named, now, tools.said);
  const queried = await createQuery(tools, head, deadline)(roots).catch(requireFault);
  const said = roots.length === 0 ? NONE : await storeAll(db, head, left, tools);
  return { stored: proven.size + said.size, fault: fault ?? (queried || undefined) };
}

const NONE: ReadonlySet<string> = new Set();

/** Stores what is unreferenced for certain by now; returns the hex IDs. */
async function storeAll(
  db: Database,
  head: Head,
  blocks: ReadonlyMap<string, ParsedBlock>,
  { rules, said, index, announce, atHand, mutex }: StoreTools,
): Promise<Set<string>> {
  const choose = ({ named, head: now }: UnreferencedView) => {
    return { visible: findUnreferenced(blocks, named, now, said) };
  };
  const stored = new Set<string>();
  for (let more = blocks.size > 0; more; ) {
    const ids = await mutex(() =>
      storeUnreferenced(db, head, { blocks, rules, choose, index, announce }),
    );
    for (const id of ids) {
      stored.add(id);
      atHand.delete(id);
    }
    more = ids.length > 0 && stored.size < blocks.size;
  }
  return stored;
}

function viewOf(
  blocks: ReadonlyMap<string, ParsedBlock>,
  db: Database,
  head: Head,
  { index }: StoreTools,
): Promise<UnreferencedView> {
  const parents = [...blocks.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  return index.view(db, head, [...new Set([...blocks.keys(), ...parents])]);
}

/**
 * The lowest blocks that nothing proves unreferenced; except those with a parent that is not here,
 * as they cannot be stored.
 */
function findRoots(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  head: Head,
  said: SaidOfBlocks,
): string[] {
  const { unknown, references } = withSaid(blocks, known, said);
  const isHere = (id: string) => blocks.has(id) || known.has(id);
  return findDoubtfulRoots(unknown, references, head).filter((id) =>
    blocks.get(id)!.block.parents.map(toHexDigits).every(isHere),
  );
}

/** Hex IDs of the blocks that upstreams called unreferenced, or whose parents prove it. */
function findUnreferenced(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  head: Head,
  said: SaidOfBlocks,
): Set<string> {
  const { unknown, references, unreferenced } = withSaid(blocks, known, said);
  return unreferenced.union(findProvenUnreferenced(unknown, references, head));
}

/** What upstreams called unreferenced counts as known to be so. */
function withSaid(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  { unreferenced: said }: SaidOfBlocks,
) {
  const unknown = new Map([...blocks].filter(([id]) => !known.has(id) && !said.has(id)));
  const others = [...blocks.keys()].filter((id) => !known.has(id) && said.has(id));
  const references = new Map([...known, ...others.map((id) => [id, { milestone: null }] as const)]);
  return { unknown, references, unreferenced: new Set(others) };
}
