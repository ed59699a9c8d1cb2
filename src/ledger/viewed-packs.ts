/**
 * Where the blocks of a view stand (consistent-view.ts): for those who write its packs anew.
 */
import type { Cone } from '../stardust/white-flag/cone.ts';

export interface ViewedPack {
  table: 'open' | 'pack';
  key: number;
  /** Bytes of its records. */
  length: number;
}

interface ConePacks {
  cone: Cone;
  packs: readonly ViewedPack[];
}

/** The pack, by its place among the view's, that each block of the cone stands in, and where. */
export function placesOf({ cone, packs }: ConePacks): { pack: number; at: number }[] {
  const places: { pack: number; at: number }[] = [];
  let left = 0;
  let pack = -1;
  for (let position = 0, at = 0; position < cone.size; position++, at++) {
    while (left === 0) {
      left = packs[++pack]!.length;
      at = 0;
    }
    left -= cone.recordAt(position).length;
    places.push({ pack, at });
  }
  return places;
}

/**
 * The highest key of an open pack; only of a view of the ledger's next milestone, which has all.
 */
export function lastOpenPack({ packs }: Pick<ConePacks, 'packs'>): number | undefined {
  return packs.reduce<number | undefined>((last, { table, key }) => {
    return table === 'open' && key > (last ?? 0) ? key : last;
  }, undefined);
}
