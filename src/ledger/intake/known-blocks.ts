/** Finds the blocks that the ledger knows, with their numbers. */
import { equalBytes } from '../../stardust/encoding/bytes.ts';
import { leafHash } from '../../stardust/proof/merkle.ts';
import type { Cone } from '../../stardust/white-flag/cone.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { selectIds } from '../core/id-index.ts';
import { many, type Query, type Row } from '../core/read-batch.ts';

export interface KnownBlock {
  /** 0 of a solid entry point: no block has that number. */
  number: number;
  /** The milestone that references it, or null. */
  milestone: number | null;
}

const FIND_BLOCKS = selectIds('?1');

/** Finds those of the blocks with these hex IDs that milestones reference. */
export function findReferenced(
  db: Database,
  ids: readonly string[],
): Query<[id: string, block: KnownBlock][]> {
  return many(forEachPiece(db, FIND_BLOCKS, ids), knownBlockFromRow);
}

/** @param row of selectIds */
export function knownBlockFromRow(row: Row): [id: string, block: KnownBlock] {
  row.requireSum('id');
  return [row.text('id'), { number: row.integer('block'), milestone: row.integer('milestone') }];
}

/**
 * Finds the blocks with these IDs in the cone, unless they are excluded, as unreferenced blocks.
 * Their Merkle leaves are hashes of their IDs, so only records are read.
 */
export function findInCone(cone: Cone, ids: Iterable<string>): Map<string, KnownBlock> {
  const found = new Map<string, KnownBlock>();
  /** Wanted blocks by the first word of the leaf. */
  const wanted = new Map<number, { id: string; leaf: Uint8Array }[]>();
  for (const id of ids) {
    const leaf = leafHash(Uint8Array.fromHex(id));
    const first = new DataView(leaf.buffer).getUint32(0, true);
    const same = wanted.get(first);
    if (same === undefined) wanted.set(first, [{ id, leaf }]);
    else same.push({ id, leaf });
  }
  if (wanted.size === 0) return found;
  const words = new Uint32Array(8);
  for (let position = 0; position < cone.size; position++) {
    cone.copyLeaf(position, words, 0);
    for (const { id, leaf } of wanted.get(words[0]!) ?? []) {
      const number = cone.numberAt(position);
      if (equalBytes(new Uint8Array(words.buffer), leaf) && cone.find(number) >= 0)
        found.set(id, { number, milestone: null });
    }
  }
  return found;
}
