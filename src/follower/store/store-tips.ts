/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's request about
 * them finds them in D1.
 */

import type { Database } from '../../ledger/core/database.ts';
import type { Head } from '../../ledger/core/head.ts';
import type { AdmissionRules } from '../../ledger/intake/admission-rules.ts';
import { unaskedFault } from '../../stardust/admission.ts';
import { type GatherLimits, gatherBlocks } from './gather-blocks.ts';
import { type StoreTools, storeGathered } from './store-gathered.ts';

/** Blocks fetched in one go; more are left to the next. */
const MAX_FETCHED = 300;

/** Levels of blocks without a query. */
const MAX_LEVELS = 64;

/** Milliseconds after which nothing more is fetched, as milestones wait meanwhile. */
const FETCH_MS = 4000;

export interface StoredTips {
  /** Blocks. */
  stored: number;
  /** Tips that the reference would not have admitted. */
  refused: number;
  /** Whether the walk did not come to its end, as more is to be fetched than in one go. */
  isMore: boolean;
}

/**
 * Stores what lies below the tips of the first upstream, which has confirmed the ledger's milestone:
 * one that is behind does not know yet of all blocks that are referenced.
 *
 * Nobody requested a tip, so that it has to pass the rules that a pushed block has to pass, proof of
 * work (C-6) among them. The blocks below an admitted tip are what a node requests to solidify it,
 * and C-6 exempts those.
 *
 * @param room the most blocks to store (src/ledger/write/drop-blocks.ts)
 */
export async function storeTips(
  db: Database,
  head: Head,
  tools: StoreTools,
  room = Number.POSITIVE_INFINITY,
): Promise<StoredTips> {
  const tips = new Set(await tools.upstreams[0]!.readTips());
  const refused = new Set<string>();
  const deadline = Date.now() + FETCH_MS;
  const refuses = refuseTops(tips, tools.rules, refused);
  const limits = { maxFetched: MAX_FETCHED, maxLevels: MAX_LEVELS, deadline, refuses };
  const gathered = await gatherBlocks(db, head, [...tips], tools, limits);
  const blocks = new Map([...gathered.blocks].slice(0, room));
  const { stored } = await storeGathered(db, head, { ...gathered, blocks }, tools, deadline);
  return { stored, refused: refused.size, isMore: gathered.isCut };
}

/**
 * What refuses those of the tops that break a rule for blocks which nobody requested, and notes
 * their hex IDs in `refused`.
 */
export function refuseTops(
  tops: ReadonlySet<string>,
  { parameters }: AdmissionRules,
  refused: Set<string>,
): NonNullable<GatherLimits['refuses']> {
  return (id, block) => {
    if (!tops.has(id)) return false;
    if (parameters.some((each) => unaskedFault(block, each) === undefined)) return false;
    refused.add(id);
    return true;
  };
}
