/**
 * What becomes of outputs and NFTs when a milestone is applied.
 */
import { toBase64 } from '../stardust/bytes.ts';
import { type Database, forEachPiece, jsonPieces, runBatch } from './database.ts';
import { failUnless, LedgerMoved } from './fence.ts';
import type { MilestoneChanges } from './milestone-changes.ts';
import type { BlockOfMilestone } from './milestone-packs.ts';
import { deleteDetails, detailOfStored, insertDetails } from './nft-list/nft-detail.ts';
import type { MentionedOutput } from './open-packs.ts';
import type { SpentOutput } from './packs.ts';

/** An output as it comes into the ledger. IDs are hex. */
interface NewOutput {
  id: string;
  /** Base64. */
  bytes: string;
  nft: string | null;
  /** The block that created it, all zero for migrated outputs. */
  block: string;
}

export interface OutputChanges {
  /** Whole, in the order in which they were spent. */
  spent: SpentOutput[];
  /** Those of them that the ledger held before. */
  taken: string[];
  /** Outputs that are unspent at the end of the milestone and were not there before. */
  added: NewOutput[];
  /** The output of each NFT that came, moved or went: null where it was burned. */
  nfts: Map<string, string | null>;
}

const SELECT_OUTPUTS = `
  SELECT o.id, o.bytes, o.nft, o.block, o.created, o.created_time
  FROM json_each(?1) j JOIN output o ON o.id = j.value`;

const MIGRATED_BLOCK = '0'.repeat(64);

/**
 * Reads what the ledger holds of the outputs that go. Throws a LedgerMoved when one is not there.
 *
 * @param blocks that the milestone references, in white-flag order
 */
export async function readOutputChanges(
  db: Database,
  milestone: { index: number; timestamp: number },
  { created, spent, migrated }: MilestoneChanges,
  blocks: readonly BlockOfMilestone[],
): Promise<OutputChanges> {
  const blockOf = new Map(blocks.map((block) => [block.number, block]));
  const mentionOf = new Map<number, MentionedOutput>();
  for (const { mentions } of blocks) {
    for (const mention of mentions) {
      if (mention.bytes !== null || !mentionOf.has(mention.number))
        mentionOf.set(mention.number, mention);
    }
  }
  const takenIds = [...spent.keys()]
    .filter((number) => !created.has(number))
    .map((number) => mentionOf.get(number)!.id);
  const rows = (await runBatch(db, forEachPiece(db, SELECT_OUTPUTS, takenIds))).flat();
  if (rows.length < takenIds.length) throw new LedgerMoved('an output that is spent is not there');
  const held = new Map(rows.map((row) => [String(row.id), row]));

  const newOutput = (number: number, block: number): NewOutput => {
    const { id, bytes, nft } = mentionOf.get(number)!;
    if (bytes === null) throw new Error(`output 0x${id} is created and its content is not known`);
    return { id, bytes, nft, block: blockOf.get(block)!.id };
  };
  const spentOutputs = Array.from(spent, ([number, block]): SpentOutput => {
    const transaction = transactionIdOf(blockOf.get(block)!);
    const creator = created.get(number);
    if (creator !== undefined) {
      const { index, timestamp } = milestone;
      const inside = { created: index, createdTime: timestamp, transaction };
      return { ...newOutput(number, creator), ...inside };
    }
    return { ...spentFromRow(held.get(mentionOf.get(number)!.id)!), transaction };
  });
  const added = [
    ...Array.from(created)
      .filter(([number]) => !spent.has(number))
      .map(([number, block]) => newOutput(number, block)),
    ...Array.from(migrated, ([id, { bytes }]) => {
      return { id, bytes: toBase64(bytes), nft: null, block: MIGRATED_BLOCK };
    }),
  ];
  const nfts = new Map<string, string | null>();
  for (const { nft } of spentOutputs) if (nft !== null) nfts.set(nft, null);
  for (const { nft, id } of added) if (nft !== null) nfts.set(nft, id);
  return { spent: spentOutputs, taken: takenIds, added, nfts };
}

function spentFromRow(row: Record<string, unknown>): Omit<SpentOutput, 'transaction'> {
  return {
    id: String(row.id),
    bytes: String(row.bytes),
    nft: row.nft === null ? null : String(row.nft),
    block: String(row.block),
    created: Number(row.created),
    createdTime: Number(row.created_time),
  };
}

/** Outputs that a transaction creates have IDs that begin with its own, and stand last. */
function transactionIdOf({ mentions, id }: BlockOfMilestone): string {
  const created = mentions.at(-1);
  if (created === undefined) throw new Error(`block 0x${id} carries no transaction`);
  return created.id.slice(0, 64);
}

const REQUIRE_OUTPUTS = failUnless(`
  (SELECT count(*) FROM json_each(?1) j JOIN output o ON o.id = j.value) = json_array_length(?1)`);

const DELETE_OUTPUTS = 'DELETE FROM output WHERE id IN (SELECT value FROM json_each(?1))';

const INSERT_OUTPUTS = `
  INSERT INTO output (id, bytes, nft, block, created, created_time)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ?2, ?3 FROM json_each(?1)`;

const PLACE_NFTS = `
  INSERT INTO nft (id, output, changed)
  SELECT value ->> 0, value ->> 1, ?2 FROM json_each(?1) WHERE true
  ON CONFLICT (id) DO UPDATE SET output = excluded.output, changed = excluded.changed`;

const LOG_NFTS = 'INSERT INTO nft_change (milestone, part, nfts) VALUES (?1, ?2, ?3)';

export function changeOutputs(
  db: Database,
  { index, timestamp }: { index: number; timestamp: number },
  { spent, taken, added, nfts }: OutputChanges,
): D1PreparedStatement[] {
  const rows = added.map(({ id, bytes, nft, block }) => [id, bytes, nft, block]);
  const gone = spent.filter(({ nft }) => nft !== null);
  const come = added.filter(({ nft }) => nft !== null);
  return [
    ...forEachPiece(db, REQUIRE_OUTPUTS, taken),
    ...forEachPiece(db, DELETE_OUTPUTS, taken),
    ...forEachPiece(db, INSERT_OUTPUTS, rows, index, timestamp),
    ...forEachPiece(db, PLACE_NFTS, [...nfts], index),
    ...deleteDetails(
      db,
      gone.map(({ createdTime, id }) => [createdTime, id] as const),
    ),
    ...insertDetails(
      db,
      come.map(({ id, bytes }) => detailOfStored(bytes, id, timestamp)),
    ),
    ...Array.from(jsonPieces([...nfts.keys()].sort()), (piece, part) =>
      db.prepare(LOG_NFTS).bind(index, part, piece),
    ),
  ];
}
