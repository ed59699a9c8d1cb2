/**
 * Pushed blocks are stored: every two seconds, and when a request needs one of them.
 *
 * No upstream was asked about these blocks. So one is stored only where its parents prove that no
 * milestone references it (src/ledger/intake/prove-unreferenced.ts), all in one view and behind a
 * fence. The walk from an upstream's tips asks about the others (store-tips.ts).
 */
import { LedgerMoved } from '../../ledger/core/fence.ts';
import { MAX_PACK_BLOCKS } from '../../ledger/core/packs.ts';
import type { KnownBlock } from '../../ledger/intake/known-blocks.ts';
import {
  findProvenUnreferenced,
  type KnownReference,
} from '../../ledger/intake/prove-unreferenced.ts';
import type { UnreferencedView } from '../../ledger/write/unreferenced-index.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { type FollowerContext, type LastLedger, noteLedger } from '../follower-context.ts';
import { readPosition } from '../ledger-position.ts';
import { storeUnreferenced } from '../store/store-unreferenced.ts';

/** Blocks stored in one go: as many as a pack, which is a row. */
export const MAX_PUSHED_STORED = MAX_PACK_BLOCKS;

/** Milliseconds for which a parent may come later than its child, before it counts as lost. */
const LATE_MS = 1000;

export type FeedTools = Pick<FollowerContext, 'db' | 'keys' | 'verify' | 'memory'>;

/**
 * Stores what it can of what is held, at most so much as goes into one pack. How many blocks were
 * stored. Throws a LedgerMoved where another follower was first, and what the database throws.
 */
export async function storePushed(tools: FeedTools): Promise<number> {
  const { memory } = tools;
  const { pushed } = memory;
  return memory.mutex(async () => {
    const most = Math.min(MAX_PUSHED_STORED, memory.upkeep.room);
    if (most <= 0) return 0;
    const { blocks, parents } = pushed.blocks.next(most, Date.now());
    if (blocks.length === 0 && parents.size === 0) return 0;
    const seen = memory.lastLedger ?? (await lookAtLedger(tools));
    try {
      const stored = await storeHeld(tools, seen, blocks, parents);
      if (stored !== undefined) return stored;
    } catch (error) {
      if (!(error instanceof LedgerMoved)) throw error;
      const { generation } = await lookAtLedger(tools);
      // of another ledger: what is held was given up
      if (generation !== seen.generation) return 0;
      throw error;
    }
    return (await storeHeld(tools, await lookAtLedger(tools), blocks, parents)) ?? 0;
  });
}

async function lookAtLedger(tools: FeedTools): Promise<LastLedger> {
  noteLedger(tools.memory, await readPosition(tools.db, tools));
  return tools.memory.lastLedger!;
}

/** Undefined, and nothing is stored, where the ledger has moved on since it was seen. */
async function storeHeld(
  { db, keys, verify, memory }: FeedTools,
  seen: LastLedger,
  held: readonly ParsedBlock[],
  parents: ReadonlySet<string>,
): Promise<number | undefined> {
  const { pushed, fetched, index, announce } = memory;
  const { parameters } = seen;
  const blocks = new Map(held.map((block) => [toHexDigits(block.id), block]));
  const { belowMaxDepth } = parameters[0]!;
  let hasMoved = false;
  const choose = ({ head: then, named }: UnreferencedView) => {
    hasMoved = then.ledger !== seen.ledger;
    if (hasMoved) return { visible: new Set<string>() };
    const now = Date.now();
    pushed.blocks.looked(parents, (id) => named.has(id), now);
    if (pushed.blocks.missing(now - LATE_MS).length > 0) memory.tips.hasLooseEnds = true;
    const unknown = new Map<string, ParsedBlock>();
    for (const [id, block] of blocks) {
      const parents = block.block.parents.map((parent) => named.get(toHexDigits(parent)));
      const known = parents.filter((parent) => parent !== undefined);
      if (named.has(id) || isBelowMaxDepth(known, then.ledger, belowMaxDepth))
        pushed.blocks.remove([id]);
      else unknown.set(id, block);
    }
    const proven = findProvenUnreferenced(unknown, named, then);
    for (const [id, block] of unknown) {
      if (proven.has(id) || !hasKnownParents(block, named, unknown)) continue;
      memory.tips.hasLooseEnds = true;
      fetched.set(id, block);
      pushed.blocks.remove([id]);
    }
    return { visible: proven };
  };
  const rules = { keys, verify, parameters };
  const toStore = { blocks, also: parents, rules, choose, index, announce };
  const stored = await storeUnreferenced(db, seen, toStore);
  if (hasMoved) return undefined;
  pushed.blocks.remove(stored);
  memory.upkeep.room -= stored.length;
  if (stored.length > 0) memory.tips.newestBlock = Date.now();
  return stored.length;
}

/**
 * Whether a block is so deep that no node selects it, or a block above it, as a tip: one of its
 * parents was referenced more than `belowMaxDepth` milestones before the ledger's. No milestone is
 * likely to reference it, so it is not worth storing. It is fetched if a milestone or a request
 * leads to it (https://github.com/iotaledger/hornet/blob/v2.0.1/pkg/tangle/tipscore.go).
 *
 * @param parents those of the block's parents that are known
 * @param ledger index
 */
export function isBelowMaxDepth(
  parents: readonly KnownReference[],
  ledger: number,
  belowMaxDepth: number,
): boolean {
  return parents.some(({ milestone }) => milestone !== null && milestone + belowMaxDepth < ledger);
}

/** Whether nothing that may still come could prove the block unreferenced. */
function hasKnownParents(
  { block }: ParsedBlock,
  known: ReadonlyMap<string, KnownBlock>,
  held: ReadonlyMap<string, ParsedBlock>,
): boolean {
  return block.parents.map(toHexDigits).every((id) => known.has(id) || held.has(id));
}
