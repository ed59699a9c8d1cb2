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

/**
 * Reads blocks of the cone by their numbers. Returns what parses the i-th, as that takes up to ten
 * times its bytes, and throws a LedgerDamaged if it is not there.
 */
export async function readBlocks(
  db: Database,
  { cone, packs }: ConsistentView,
  numbers: readonly number[],
): Promise<(i: number) => ParsedBlock> {
  const positions = numbers.map((number) => cone.find(number));
  const places = [...placesOf(packs, positions)];
  const query = selectAt(db, 'bytes', places, (row): [place: string, bytes: Uint8Array] => [
    `${row.integer('pack')},${row.integer('at')}`,
    fromBase64(row.text('value')),
  ]);
  const bytesOf = new Map(await readQuery(db, query));
  return (i) => {
    const bytes = bytesOf.get(places[i]!.join());
    const result = bytes && parseBlock(bytes);
    if (result?.ok && isBlockAt(cone, positions[i]!, result.parsed.id)) return result.parsed;
    throw new LedgerDamaged(`bytes of block number ${numbers[i]}`);
  };
}

/**
 * Packs that one statement of the follower reads, up to 13 MB: it has 1,000 statements in an
 * invocation, and a milestone's cone up to 165,000 blocks, any of which a stranger may have made.
 */
export const FOLLOWER_PACKS_AT_ONCE = 16;

/**
 * Yields blocks like {@link readBlocks}, in the order of their packs, of which some (800,000
 * characters each) are read at a time; each with its index in `numbers`.
 */
export async function* readBlocksInSteps(
  db: Database,
  view: ConsistentView,
  numbers: readonly number[],
  packsAtOnce = 1,
): AsyncGenerator<[index: number, block: ParsedBlock]> {
  const { cone, packs } = view;
  const byPack = [...Map.groupBy(numbers.keys(), (i) => packAt(packs, cone.find(numbers[i]!)))];
  for (let at = 0; at < byPack.length; at += packsAtOnce) {
    const indexes = byPack.slice(at, at + packsAtOnce).flatMap(([, those]) => those);
    const some = indexes.map((i) => numbers[i]!);
    const blockAt = await readBlocks(db, view, some);
    for (const [i, index] of indexes.entries()) yield [index, blockAt(i)];
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
  const numbers = unverified.map((position) => view.cone.numberAt(position));
  for await (const [, block] of readBlocksInSteps(db, view, numbers, FOLLOWER_PACKS_AT_ONCE))
    if (await isMilestoneBlock(block, keys, verify)) return true;
  return false;
}
