/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's request about
 * them finds them in D1.
 *
 * A proposal may reach them at once. So each is proven unreferenced by its parents
 * (src/ledger/intake/prove-unreferenced.ts), or every upstream is asked first: a block that one of
 * our milestones references already, though we do not know it, would look unreferenced to every
 * later request (docs/architecture.md#the-trap). Such a block is left out with all its descendants.
 */

import type { Database } from '../../ledger/core/database.ts';
import type { Head } from '../../ledger/core/head.ts';
import type { AdmissionRules } from '../../ledger/intake/admission-rules.ts';
import { ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { createConeSkeleton } from '../../ledger/intake/cone-skeleton.ts';
import { type KnownBlock, lookUpBlocks } from '../../ledger/intake/known-blocks.ts';
import {
  findDoubtfulRoots,
  findProvenUnreferenced,
  type KnownReference,
} from '../../ledger/intake/prove-unreferenced.ts';
import { walkDown } from '../../ledger/intake/walk-down.ts';
import type { UnreferencedIndex, UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import type { BlockCache, BlockIds } from '../../upstream/block-cache.ts';
import { fetchBlock, verifyAhead } from '../../upstream/fetch-blocks.ts';
import { createReferenceReader, type ReadReference } from '../../upstream/read-references.ts';
import { type Upstream, UpstreamFailure } from '../../upstream/upstream.ts';
import type { SaidOfBlocks } from '../follower-context.ts';
import type { Mutex } from '../mutex.ts';
import { type Announce, storeUnreferenced } from './store-unreferenced.ts';

/** Blocks fetched in one go; more are left to the next. */
const MAX_FETCHED = 300;

/** Questions about blocks in one go, and those put at once. */
const MAX_ASKED = 300;
const ASKED_AT_ONCE = 30;

/**
 * Levels below the tips without one question: a walk that has come below the import finds nothing
 * that is known, and only upstream can tell that it has.
 */
const MAX_LEVELS_UNASKED = 64;

/** Milliseconds after which nothing more is fetched, as milestones wait meanwhile. */
const FETCH_TIME = 4000;

export interface StoreTools {
  /**
   * It has confirmed the ledger's milestone. An upstream that is behind does not know yet of all
   * blocks that are referenced.
   */
  upstream: Upstream;
  /** The other upstreams: they too are asked what is referenced, and any "yes" wins. */
  others: readonly Upstream[];
  rules: AdmissionRules;
  /** Of the ledger and its index: what upstreams said about blocks that are not known here. */
  said: SaidOfBlocks;
  index: UnreferencedIndex;
  announce?: Announce | undefined;
  /** Takes the blocks that are fetched, for the milestone that will reference them. */
  atHand: BlockCache;
  /** Whatever is read and then written is done in it, not what is fetched. */
  mutex: Mutex;
}

export interface StoredTips {
  /** Blocks. */
  stored: number;
  /** Whether the walk did not come to its end, as more is to be fetched than in one go. */
  isMore: boolean;
}

export async function storeTips(db: Database, head: Head, tools: StoreTools): Promise<StoredTips> {
  const { blocks, isWhole } = await gatherFromTips(db, head, tools);
  if (blocks.size === 0) return { stored: 0, isMore: !isWhole };
  const { rules, said, index, announce } = tools;
  const choose = ({ named, head: now }: UnreferencedView) => {
    return { visible: findUnreferenced(blocks, named, now, said.unreferenced) };
  };
  const stored = await tools.mutex(() =>
    storeUnreferenced(db, head, { blocks, rules, choose, index, announce }),
  );
  for (const id of stored) tools.atHand.delete(id);
  return { stored: stored.length, isMore: !isWhole };
}

/** Hex IDs of the blocks that upstreams called unreferenced, or whose parents prove it. */
function findUnreferenced(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  head: Head,
  asked: BlockIds,
): Set<string> {
  const { unknown, references, unreferenced } = withAsked(blocks, known, asked);
  return unreferenced.union(findProvenUnreferenced(unknown, references, head));
}

/** What upstreams called unreferenced counts as known to be so. */
function withAsked(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  asked: BlockIds,
) {
  const unknown = new Map([...blocks].filter(([id]) => !known.has(id) && !asked.has(id)));
  const others = [...blocks.keys()].filter((id) => !known.has(id) && asked.has(id));
  const references = new Map([...known, ...others.map((id) => [id, { milestone: null }] as const)]);
  return { unknown, references, unreferenced: new Set(others) };
}

/**
 * Blocks from the tips down to what D1 knows, parents first, as far as may be fetched: what is at
 * hand is walked through for nothing. Upstreams are queried about those which nothing proves
 * unreferenced, once the walk has come down to what is known, or is so deep that it may have come
 * below the import.
 */
async function gatherFromTips(
  db: Database,
  head: Head,
  tools: StoreTools,
): Promise<{ blocks: Map<string, ParsedBlock>; isWhole: boolean }> {
  const { upstream, atHand } = tools;
  const { referenced } = tools.said;
  const known = new Map<string, KnownBlock>();
  const met = new Map<string, ParsedBlock>();
  const deadline = Date.now() + FETCH_TIME;
  let left = MAX_FETCHED;
  let isWhole = true;
  const skeleton = createConeSkeleton(await upstream.readTips());
  const { findUnreferenced: findStored } = await tools.index.view(db, head, []);
  await walkDown(skeleton, {
    recall: (id) => (referenced.has(id) ? undefined : atHand.get(id)),
    async findKnown(ids) {
      const others = ids.filter((id) => !referenced.has(id));
      for (const [id, block] of await lookUpBlocks(db, findStored, others)) known.set(id, block);
      return { has: (id) => known.has(id) || referenced.has(id) };
    },
    async fetch(ids) {
      const due = Date.now() < deadline ? ids.slice(0, left) : [];
      if (due.length < ids.length) isWhole = false;
      left -= due.length;
      const blocks = await Promise.all(due.map((id) => tryToFetch(upstream, id, atHand)));
      return blocks.filter((block) => block !== undefined);
    },
    meet: (id, block) => met.set(id, block),
  });
  const order = Array.from(skeleton.order(), skeleton.idAt);
  const blocks = new Map(order.map((id) => [id, met.get(id)!]));
  const isDeep = order.some((id) => skeleton.levelOf(id) >= MAX_LEVELS_UNASKED);
  if (isWhole || isDeep) await askAbout(blocks, known, head, tools, deadline);
  return { blocks, isWhole };
}

/** Undefined where it is not to be had. */
async function tryToFetch(
  upstream: Upstream,
  id: string,
  atHand: BlockCache,
): Promise<ParsedBlock | undefined> {
  try {
    const block = await fetchBlock([upstream], id);
    await verifyAhead(block);
    atHand.set(id, block);
    return block;
  } catch (error) {
    if (!(error instanceof ConeUnavailable || error instanceof UpstreamFailure)) throw error;
    return undefined;
  }
}

/**
 * Queries the upstreams about the lowest blocks that nothing proves unreferenced: if they are
 * unreferenced, so are those above them.
 */
async function askAbout(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownReference>,
  head: Head,
  { upstream, others, said }: StoreTools,
  deadline: number,
): Promise<void> {
  const upstreams = [upstream, ...others];
  const readReference = createReferenceReader({ upstreams, index: head.ledger + 1 });
  const { unknown, references } = withAsked(blocks, known, said.unreferenced);
  const roots = findDoubtfulRoots(unknown, references, head).slice(0, MAX_ASKED);
  for (let asked = 0; asked < roots.length && Date.now() < deadline; asked += ASKED_AT_ONCE) {
    await Promise.all(
      roots.slice(asked, asked + ASKED_AT_ONCE).map(async (id) => {
        const reference = await tryToRead(readReference, id);
        if (reference === undefined) return;
        const ids = reference === null ? said.unreferenced : said.referenced;
        ids.add(id);
      }),
    );
  }
}

/** Undefined where no upstream says. */
async function tryToRead(
  readReference: ReadReference,
  id: string,
): Promise<number | null | undefined> {
  try {
    return await readReference(id);
  } catch (error) {
    if (error instanceof UpstreamFailure) return undefined;
    throw error;
  }
}
