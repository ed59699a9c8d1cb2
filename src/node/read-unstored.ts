/**
 * Reads single blocks that are not stored, from the follower's memory or the upstreams, for nodes
 * that follow this one. Nothing is written.
 */
import { followerOf } from '../follower/follower-stub.ts';
import { readHead } from '../ledger/core/head.ts';
import type { Settings } from '../settings.ts';
import { createBlockIds } from '../upstream/block-ids.ts';
import { mayFetch } from './answer-once-caught-up.ts';

/** IDs of blocks that no upstream gave: most (1.6 MB), and milliseconds that they are kept. */
const MAX_UNKNOWN_IDS = 10_000;
const UNKNOWN_MS = 3000;

/** A block by its ID that is not stored, for a client; undefined where it cannot be had. */
type ReadUnstored = (id: string, client: string) => Promise<UnstoredBlock | undefined>;

export interface UnstoredBlock {
  bytes: Uint8Array;
  /** Where the ledger stood: none of its milestones references the block. */
  ledgerIndex: number;
}

/**
 * Creates the reader. It returns undefined if nothing may be fetched, no upstream knows the block,
 * or an earlier milestone references it.
 */
export function createUnstoredReader(settings: Settings): ReadUnstored {
  const unknown = createBlockIds(Date.now, MAX_UNKNOWN_IDS, UNKNOWN_MS);
  return async (blockId, client) => {
    if (!mayFetch(settings) || unknown.has(blockId)) return undefined;
    const head = await readHead(settings.ledger.withSession('first-unconstrained'));
    if (head === undefined) return undefined;
    const bytes = await followerOf(settings.follower).readUnstored(blockId, client);
    if (bytes === undefined) unknown.add(blockId);
    return bytes && { bytes, ledgerIndex: head.ledger };
  };
}
