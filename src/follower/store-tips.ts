/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's question about
 * them finds them in D1.
 *
 * They are open, and a proposal may reach them at once. So each is asked about upstream first: one
 * that a milestone of ours references already, though we do not know it, would look open to every
 * later request (docs/architecture.md#the-trap). Such a block is left out with all its descendants.
 */
import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { ConeUnavailable } from '../ledger/block-source.ts';
import type { ConsistentView } from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import type { Head } from '../ledger/head.ts';
import { type KnownBlock, lookUpBlocks } from '../ledger/known-blocks.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import type { BlockCache } from '../upstream/block-cache.ts';
import { fetchBlock } from '../upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';
import type { Exclusively } from './exclusively.ts';
import { storeOpen, viewNext } from './store-open.ts';

/** Blocks fetched in one go; more are left to the next. */
const MAX_FETCHED = 300;

/** Milliseconds after which nothing more is fetched, as milestones wait meanwhile. */
const FETCH_TIME = 4000;

export interface StoreTools {
  /**
   * It has confirmed the ledger's milestone. An upstream that is behind does not know yet of all
   * blocks that are referenced.
   */
  upstream: Upstream;
  rules: AdmissionRules;
  /**
   * Of the ledger and its index: blocks that earlier passes found to be open and could not store.
   */
  open: BlockCache;
  /** Takes the blocks, for the milestone that will reference them. */
  fetched: BlockCache;
  /** Whatever is read and then written is done in it, not what is fetched. */
  exclusively: Exclusively;
}

/** How many blocks were stored. */
export async function storeTips(db: Database, head: Head, tools: StoreTools): Promise<number> {
  const blocks = await gatherFromTips(db, head, tools);
  if (blocks.size === 0) return 0;
  const choose = (view: ConsistentView) => {
    // some of what was remembered has been stored since
    for (const id of blocks.keys()) if (view.named.has(id)) tools.open.delete(id);
    return new Set(blocks.keys());
  };
  const { rules } = tools;
  const stored = await tools.exclusively(() => storeOpen(db, head, { blocks, rules, choose }));
  for (const id of stored) {
    tools.fetched.delete(id);
    tools.open.delete(id);
  }
  return stored.length;
}

/**
 * Open blocks from the tips down to what D1 knows, as far as may be fetched: what is remembered is
 * walked through for nothing.
 */
async function gatherFromTips(
  db: Database,
  head: Head,
  { upstream, open, fetched }: StoreTools,
): Promise<Map<string, ParsedBlock>> {
  const known = new Map<string, KnownBlock>();
  const blocks = new Map<string, ParsedBlock>();
  /** Blocks from these down that are neither known nor remembered. */
  const walk = (ids: readonly string[]): string[] => {
    const missing = new Set<string>();
    const stack = ids.toReversed();
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (blocks.has(id) || known.has(id)) continue;
      const block = open.get(id);
      if (block === undefined) {
        missing.add(id);
      } else {
        blocks.set(id, block);
        stack.push(...block.block.parents.map(toHexDigits));
      }
    }
    return [...missing];
  };
  let left = MAX_FETCHED;
  const deadline = Date.now() + FETCH_TIME;
  let missing = walk(await upstream.readTips());
  const { cone } = await viewNext(db, head, []);
  while (missing.length > 0 && left > 0 && Date.now() < deadline) {
    for (const [id, block] of await lookUpBlocks(db, cone, missing)) known.set(id, block);
    const unknown = missing.filter((id) => !known.has(id)).slice(0, left);
    left -= unknown.length;
    const isOpen = await Promise.all(
      unknown.map((id) => fetchOpen(upstream, id, head.ledger, open, fetched)),
    );
    missing = walk(unknown.filter((_, i) => isOpen[i]));
  }
  return blocks;
}

/** Whether the block is to be had and no applied milestone references it: then it is remembered. */
async function fetchOpen(
  upstream: Upstream,
  id: string,
  ledger: number,
  open: BlockCache,
  fetched: BlockCache,
): Promise<boolean> {
  try {
    const [block, reference] = await Promise.all([
      fetched.get(id) ?? fetchBlock([upstream], id),
      upstream.readReference(id),
    ]);
    fetched.set(id, block);
    if (reference === undefined || (reference !== null && reference <= ledger)) return false;
    open.set(id, block);
    return true;
  } catch (error) {
    if (error instanceof ConeUnavailable || error instanceof UpstreamFailure) return false;
    throw error;
  }
}
