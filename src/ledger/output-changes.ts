/**
 * What becomes of outputs and NFTs when a milestone is applied. Contents stay in D1, but those of
 * NFTs, of which lists keep what they say.
 */
import { toBase64 } from '../stardust/bytes.ts';
import { type Database, forEachPiece, jsonPieces, runBatch } from './database.ts';
import { LedgerMoved } from './fence.ts';
import type { MilestoneChanges } from './milestone-changes.ts';
import type { BlockOfMilestone, SpentHere } from './milestone-packs.ts';
import { deleteDetails, detailOfStored, insertDetails } from './nft-list/nft-detail.ts';
import {
  FETCHED,
  type KnownContents,
  lengthInSql,
  selectBlocks,
  selectOutputs,
} from './open-contents.ts';
import type { OpenBlock } from './open-packs.ts';
import { PARTS } from './packs.ts';

/** An output as it comes into the ledger: ID, base64 bytes, NFT's ID, block. IDs are hex. */
type NewOutput = [id: string, bytes: string, nft: string | null, block: string];

export interface OutputChanges {
  /** In the order in which they were spent. */
  spent: SpentHere[];
  /** Outputs that are unspent at the end of the milestone and were not there before. */
  added: NewOutput[];
  /** The same of those that open packs have: number, and pack and place of the block. */
  taken: [output: number, pack: number, at: number][];
  /** The output of each NFT that came, moved or went: null where it was burned. */
  nfts: Map<string, string | null>;
  /** NFT outputs that go: time of creation, ID. */
  gone: [createdTime: number, id: string][];
  /** NFT outputs that come. */
  come: { id: string; bytes: string }[];
}

const SELECT_HELD = `
  SELECT o.id, ${lengthInSql('o.bytes', 'o.nft')} AS length, o.nft, o.created_time
  FROM json_each(?1) j JOIN output o ON o.id = j.value`;

interface Held {
  /** Characters. */
  length: number;
  nft: string | null;
  createdTime: number;
}

const MIGRATED_BLOCK = '0'.repeat(64);

/** Numbers of the outputs that the ledger held and the milestone spends. */
export function takenFromLedger({ created, spent }: MilestoneChanges): number[] {
  return [...spent.keys()].filter((number) => !created.has(number));
}

/**
 * Reads what the ledger holds of the outputs that go. Throws a LedgerMoved when one is not there.
 *
 * @param blocks that the milestone references, by number
 */
export async function readOutputChanges(
  db: Database,
  { timestamp }: { timestamp: number },
  changes: MilestoneChanges,
  blocks: ReadonlyMap<number, BlockOfMilestone>,
  { known, fetched }: { known: KnownContents; fetched: readonly OpenBlock[] },
): Promise<OutputChanges> {
  const { created, spent, migrated } = changes;
  const held = await readHeld(db, takenFromLedger(changes), known);
  const result: OutputChanges = {
    spent: [],
    added: [],
    taken: [],
    nfts: new Map(),
    gone: [],
    come: [],
  };
  for (const [output, block] of spent) {
    const creator = created.get(output);
    const from = creator === undefined ? undefined : blocks.get(creator)!;
    const before = held.get(output);
    const length = before?.length ?? known.outputLengths.get(output);
    if (length === undefined) throw new Error(`the content of output number ${output} is unknown`);
    result.spent.push({ output, by: blocks.get(block)!, from, length });
    const inside = known.nfts.get(output);
    if (from === undefined && before!.nft !== null) {
      result.nfts.set(before!.nft, null);
      result.gone.push([before!.createdTime, known.ids.get(output)!]);
    } else if (from !== undefined && inside !== undefined) {
      result.nfts.set(inside.nft, null);
      result.gone.push([timestamp, inside.id]);
    }
  }
  for (const [output, block] of created) {
    if (spent.has(output)) continue;
    const { place } = blocks.get(block)!;
    if (place.pack === FETCHED) result.added.push(newOutput(fetched[place.at]!, output));
    else result.taken.push([output, place.pack, place.at]);
    const nft = known.nfts.get(output);
    if (nft === undefined) continue;
    result.nfts.set(nft.nft, nft.id);
    result.come.push(nft);
  }
  for (const [id, { bytes }] of migrated)
    result.added.push([id, toBase64(bytes), null, MIGRATED_BLOCK]);
  return result;
}

async function readHeld(
  db: Database,
  outputs: readonly number[],
  { ids }: KnownContents,
): Promise<Map<number, Held>> {
  const numbers = new Map(outputs.map((output) => [ids.get(output)!, output]));
  const held = new Map<number, Held>();
  // one after the other, so that few of the rows are there at once
  for (const statement of forEachPiece(db, SELECT_HELD, [...numbers.keys()])) {
    const [rows] = await runBatch(db, [statement]);
    for (const row of rows!) {
      held.set(numbers.get(String(row.id))!, {
        length: Number(row.length),
        nft: row.nft === null ? null : String(row.nft),
        createdTime: Number(row.created_time),
      });
    }
  }
  if (held.size < outputs.length) throw new LedgerMoved('an output that is spent is not there');
  return held;
}

function newOutput({ id: block, mentions }: OpenBlock, output: number): NewOutput {
  const { id, bytes, nft } = mentions.find(({ number }) => number === output)!;
  if (bytes === null) throw new Error(`output 0x${id} is created and its content is not known`);
  return [id, bytes, nft, block];
}

/** Of a milestone whose packs were inserted: what it spent and had not created. */
const DELETE_SPENT = `
  DELETE FROM output WHERE id IN (
    SELECT s.value ->> 0 FROM pack p CROSS JOIN json_each(p.spent) s
    WHERE p.key >= ?1 * ${PARTS} AND p.key < (?1 + 1) * ${PARTS} AND s.value ->> 4 < ?1)`;

const INSERT_OUTPUTS = `
  INSERT INTO output (id, bytes, nft, block, created, created_time)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ?2, ?3 FROM json_each(?1)`;

/** Number, pack and place as ?1. What is missing is NULL, which the table does not take. */
const TAKE_OUTPUTS = `
  INSERT INTO output (id, bytes, nft, block, created, created_time)
  WITH
    come AS MATERIALIZED (
      SELECT value ->> 0 AS number, value ->> 1 AS pack, value ->> 2 AS at FROM json_each(?1)),
    block AS MATERIALIZED (${selectBlocks('SELECT pack, at FROM come')}),
    mention AS MATERIALIZED (${selectOutputs('SELECT pack, number FROM come')})
  SELECT m.id, m.bytes, m.nft, b.id, ?2, ?3
  FROM come c
    LEFT JOIN mention m ON m.pack = c.pack AND m.number = c.number
    LEFT JOIN block b ON b.pack = c.pack AND b.at = c.at`;

/** Outputs that one statement takes: as many packs may have to be read for it. */
const TAKEN_AT_ONCE = 2000;

const PLACE_NFTS = `
  INSERT INTO nft (id, output, changed)
  SELECT value ->> 0, value ->> 1, ?2 FROM json_each(?1) WHERE true
  ON CONFLICT (id) DO UPDATE SET output = excluded.output, changed = excluded.changed`;

const LOG_NFTS = 'INSERT INTO nft_change (milestone, part, nfts) VALUES (?1, ?2, ?3)';

/** Statements that change them, behind those that insert the milestone's packs. */
export function changeOutputs(
  db: Database,
  { index, timestamp }: { index: number; timestamp: number },
  { added, taken, nfts, gone, come }: OutputChanges,
): D1PreparedStatement[] {
  const takes = Array.from({ length: Math.ceil(taken.length / TAKEN_AT_ONCE) }, (_, i) =>
    JSON.stringify(taken.slice(i * TAKEN_AT_ONCE, (i + 1) * TAKEN_AT_ONCE)),
  );
  return [
    db.prepare(DELETE_SPENT).bind(index),
    ...forEachPiece(db, INSERT_OUTPUTS, added, index, timestamp),
    ...takes.map((some) => db.prepare(TAKE_OUTPUTS).bind(some, index, timestamp)),
    ...forEachPiece(db, PLACE_NFTS, [...nfts], index),
    ...deleteDetails(db, gone),
    ...insertDetails(
      db,
      come.map(({ id, bytes }) => detailOfStored(bytes, id, timestamp)),
    ),
    ...Array.from(jsonPieces([...nfts.keys()].sort()), (piece, part) =>
      db.prepare(LOG_NFTS).bind(index, part, piece),
    ),
  ];
}
