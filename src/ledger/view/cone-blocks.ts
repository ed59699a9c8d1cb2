/** Blocks of a view, by their numbers: their bytes are read from where the view saw them. */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { isMilestoneBlock, type MilestoneRules } from '../../stardust/milestone-keys.ts';
import type { WhiteFlag } from '../../stardust/white-flag/walk.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { readAlone, readQuery } from '../core/read-batch.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import { selectAt, selectLength } from '../packs/places.ts';
import { isBlockAt, packAt, packsOf, placesOf } from '../packs/viewed-packs.ts';
import type { ConsistentView } from './consistent-view.ts';

/** Reads blocks of the cone by their numbers. Throws a LedgerDamaged if one is not there. */
export async function readBlocks(
  db: Database,
  { cone, packs }: ConsistentView,
  numbers: readonly number[],
): Promise<ParsedBlock[]> {
  const positions = numbers.map((number) => cone.find(number));
  const places = [...placesOf(packs, positions)];
  const query = selectAt(db, 'bytes', places, (row): [place: string, bytes: Uint8Array] => [
    `${row.integer('pack')},${row.integer('at')}`,
    fromBase64(row.text('value')),
  ]);
  const bytesOf = new Map(await readQuery(db, query));
  return positions.map((position, i) => {
    const bytes = bytesOf.get(places[i]!.join());
    const result = bytes && parseBlock(bytes);
    if (result?.ok && isBlockAt(cone, position, result.parsed.id)) return result.parsed;
    throw new LedgerDamaged(`bytes of block number ${numbers[i]}`);
  });
}

/**
 * Yields blocks like {@link readBlocks}, a pack (800,000 characters) at a time, in the order of the
 * packs, each with its index in `numbers`.
 */
export async function* readBlocksInSteps(
  db: Database,
  view: ConsistentView,
  numbers: readonly number[],
): AsyncGenerator<[index: number, block: ParsedBlock][]> {
  const { cone, packs } = view;
  const byPack = Map.groupBy(numbers.keys(), (i) => packAt(packs, cone.find(numbers[i]!)));
  for (const indexes of byPack.values()) {
    const some = indexes.map((i) => numbers[i]!);
    const blocks = await readBlocks(db, view, some);
    yield indexes.map((index, i) => [index, blocks[i]!]);
  }
}

/** Characters that have to be read for the bytes of these blocks: those of their packs. */
export function measureBlocks(
  db: Database,
  { cone, packs }: ConsistentView,
  numbers: readonly number[],
): Promise<number> {
  const positions = numbers.map((number) => cone.find(number));
  return readAlone(selectLength(db, packsOf(packs, positions)));
}

/** Blocks that carry the previous milestone's payload and are verified for one request. */
export const MAX_VERIFIED_FOR_REQUEST = 100;

/** Blocks whose bytes are in memory at once while they are verified: up to 3 MB. */
const VERIFIED_AT_ONCE = 100;

/**
 * Returns whether one of the unverified blocks that carry the previous milestone's payload properly
 * carries it (M-2 to M-5). Throws a ConeUnavailable `too-large` if there are more than `most`. A
 * milestone passes no `most`: anybody can copy a milestone with bad signatures into blocks without
 * proof of work, and no number of these may stop the ledger.
 */
export async function meetsPreviousMilestone(
  db: Database,
  view: ConsistentView,
  { metPreviousMilestone, unverified }: WhiteFlag,
  { keys, verify }: MilestoneRules,
  most = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  if (metPreviousMilestone) return true;
  if (unverified.length > most) {
    const reason = `more than ${most} blocks carry the previous milestone, none was verified`;
    throw new ConeUnavailable('too-large', reason);
  }
  for (let at = 0; at < unverified.length; at += VERIFIED_AT_ONCE) {
    const some = unverified.slice(at, at + VERIFIED_AT_ONCE);
    const numbers = some.map((position) => view.cone.numberAt(position));
    for (const block of await readBlocks(db, view, numbers))
      if (await isMilestoneBlock(block, keys, verify)) return true;
  }
  return false;
}
