/**
 * The packs of a milestone: its blocks in white-flag order, and the outputs that it spent. What open
 * packs have of them is put together within D1 (open-contents.ts).
 */
import { concatBytes, toBase64 } from '../stardust/bytes.ts';
import { type Cone, inputsAt, outputsAt } from '../stardust/white-flag/cone.ts';
import type { Database } from './database.ts';
import { admittedRecord, type ReferencedBlock } from './milestone-changes.ts';
import {
  FETCHED,
  type KnownContents,
  type Place,
  selectBlocks,
  selectBytes,
  selectOutputs,
  writeFetched,
} from './open-contents.ts';
import { lengthInPack, type OpenBlock } from './open-packs.ts';
import {
  NO_REASON,
  type OutputState,
  PARTS,
  packKey,
  splitIntoParts,
  writeStates,
} from './packs.ts';

export interface BlockOfMilestone extends ReferencedBlock {
  place: Place;
}

/** An output that the milestone spends. */
export interface SpentHere {
  /** Its number. */
  output: number;
  /** The block whose transaction spends it. */
  by: BlockOfMilestone;
  /** The block that creates it, where the milestone references that as well. */
  from: BlockOfMilestone | undefined;
  /** Characters of its content. */
  length: number;
}

/** What the packs are made of. */
export interface PackSources {
  cone: Cone;
  known: KnownContents;
  fetched: readonly OpenBlock[];
  /** As of the milestone. */
  stateOf: (output: number) => OutputState | undefined;
}

/** Characters of an output that was spent, in its pack, without its content: IDs, times, commas. */
const SPENT_LENGTH = 240;

/** What stands in one pack. */
export interface MilestonePack {
  blocks: readonly BlockOfMilestone[];
  spent: readonly SpentHere[];
}

/** Blocks in white-flag order and outputs in the order in which they were spent, by packs. */
export function splitIntoPacks(
  blocks: readonly BlockOfMilestone[],
  spent: readonly SpentHere[],
  sources: Pick<PackSources, 'cone' | 'known'>,
): MilestonePack[] {
  const blockParts = splitIntoParts(blocks, (block) => lengthOf(block, sources));
  const most = Number.POSITIVE_INFINITY;
  const spentParts = splitIntoParts(spent, ({ length }) => length + SPENT_LENGTH, { most });
  const count = Math.max(blockParts.length, spentParts.length);
  if (count > PARTS) throw new Error(`a milestone is too large for ${PARTS} packs`);
  return Array.from({ length: count }, (_, part) => {
    return { blocks: blockParts[part] ?? [], spent: spentParts[part] ?? [] };
  });
}

function lengthOf(
  { place, position }: BlockOfMilestone,
  { cone, known }: Pick<PackSources, 'cone' | 'known'>,
): number {
  const created = outputsAt(cone, position);
  return lengthInPack({
    length: known.blockLengths.get(place.pack)![place.at]!,
    record: cone.recordAt(position),
    mentions: inputsAt(cone, position).length + created.length,
    contents: created.reduce((sum, output) => sum + (known.outputLengths.get(output) ?? 0), 0),
  });
}

/**
 * ?1 the key, ?2 records, ?3 states; ?4 the blocks: pack, place and reason; ?5 the outputs that they
 * mention: pack and number; ?6 the outputs spent: number, pack of the block that spends it, number
 * of an output that that one creates, and the place of the block that creates it, if the milestone
 * does; ?7 to ?9 what is needed of fetched blocks; ?10 and ?11 index and timestamp of the milestone.
 *
 * A column is NULL if something is missing, which the table does not take: the whole batch fails.
 */
const INSERT_PACK = `
  INSERT INTO pack (key, records, states, mentions, blocks, spent, bytes)
  WITH
    own AS MATERIALIZED (
      SELECT key AS place, value ->> 0 AS pack, value ->> 1 AS at, value ->> 2 AS reason
      FROM json_each(?4)),
    gone AS MATERIALIZED (
      SELECT key AS place, value ->> 0 AS output, value ->> 1 AS pack, value ->> 2 AS made,
        value ->> 3 AS home, value ->> 4 AS at
      FROM json_each(?6)),
    places AS MATERIALIZED (SELECT pack, at FROM own UNION SELECT home, at FROM gone),
    numbers AS MATERIALIZED (
      SELECT value ->> 0 AS pack, value ->> 1 AS number FROM json_each(?5)
      UNION SELECT pack, output FROM gone UNION SELECT pack, made FROM gone
      UNION SELECT home, output FROM gone),
    block AS MATERIALIZED (${selectBlocks('SELECT pack, at FROM places', '?7')}),
    mention AS MATERIALIZED (${selectOutputs('SELECT pack, number FROM numbers', '?8')}),
    content AS MATERIALIZED (${selectBytes('SELECT pack, at FROM own', '?9')})
  SELECT ?1, ?2, ?3,
    (SELECT CASE WHEN count(*) = json_array_length(?5)
        THEN json_group_array(json_array(m.number, m.id)) END
      FROM json_each(?5) j
        CROSS JOIN mention m ON m.pack = j.value ->> 0 AND m.number = j.value ->> 1),
    (SELECT CASE WHEN count(*) = json_array_length(?4)
        THEN json_group_array(json_array(b.id, b.payload, own.reason) ORDER BY own.place) END
      FROM own CROSS JOIN block b ON b.pack = own.pack AND b.at = own.at),
    (SELECT CASE WHEN count(coalesce(c.bytes, o.bytes)) = json_array_length(?6)
        AND count(coalesce(b.id, o.block)) = json_array_length(?6)
        THEN json_group_array(json_array(m.id, coalesce(c.bytes, o.bytes),
          coalesce(c.nft, o.nft), coalesce(b.id, o.block), coalesce(o.created, ?10),
          coalesce(o.created_time, ?11), substr(t.id, 1, 64)) ORDER BY g.place) END
      FROM gone g
        CROSS JOIN mention m ON m.pack = g.pack AND m.number = g.output
        CROSS JOIN mention t ON t.pack = g.pack AND t.number = g.made
        LEFT JOIN mention c ON c.pack = g.home AND c.number = g.output
        LEFT JOIN block b ON b.pack = g.home AND b.at = g.at
        LEFT JOIN output o ON g.home IS NULL AND o.id = m.id),
    (SELECT CASE WHEN count(*) = json_array_length(?4)
        THEN json_group_array(c.bytes ORDER BY own.place) END
      FROM own CROSS JOIN content c ON c.pack = own.pack AND c.at = own.at)`;

/**
 * The statement that inserts a pack. Open packs that contents are taken from must go behind it, and
 * so must the ledger's outputs that are spent.
 */
export function insertPack(
  db: Database,
  { index, timestamp }: { index: number; timestamp: number },
  part: number,
  { blocks, spent }: MilestonePack,
  { cone, fetched, stateOf }: PackSources,
): D1PreparedStatement {
  const records = blocks.map(({ position }) => admittedRecord(cone, position));
  const mentions = new Map(
    blocks.flatMap(({ position, place }) =>
      [...inputsAt(cone, position), ...outputsAt(cone, position)].map(
        (output) => [output, place.pack] as const,
      ),
    ),
  );
  const needs = writeFetched(fetched, fetchedNeeds(cone, blocks, spent, mentions.keys()));
  return db.prepare(INSERT_PACK).bind(
    packKey(index, part),
    toBase64(concatBytes(...records)),
    writeStates(inputStates(cone, blocks, stateOf)),
    JSON.stringify(blocks.map(({ place, reason = NO_REASON }) => [place.pack, place.at, reason])),
    JSON.stringify(Array.from(mentions, ([output, pack]) => [pack, output])),
    JSON.stringify(
      spent.map(({ output, by, from }) => {
        const home = from === undefined ? [] : [from.place.pack, from.place.at];
        return [output, by.place.pack, outputMadeBy(cone, by), ...home];
      }),
    ),
    needs.blocks,
    needs.outputs,
    needs.bytes,
    index,
    timestamp,
  );
}

/** An output that the transaction creates: its ID begins with the transaction's. */
function outputMadeBy(cone: Cone, { position, number }: BlockOfMilestone): number {
  const [output] = outputsAt(cone, position);
  if (output === undefined) throw new Error(`block number ${number} carries no transaction`);
  return output;
}

function fetchedNeeds(
  cone: Cone,
  blocks: readonly BlockOfMilestone[],
  spent: readonly SpentHere[],
  mentions: Iterable<number>,
) {
  const placesOf = (all: readonly (BlockOfMilestone | undefined)[]) =>
    all.flatMap((block) => (block?.place.pack === FETCHED ? [block.place.at] : []));
  const whole = new Set(placesOf(blocks));
  const named = whole.union(new Set(placesOf(spent.flatMap(({ by, from }) => [by, from]))));
  const outputs = new Map(Array.from(mentions, (output) => [output, false]));
  for (const { by } of spent) outputs.set(outputMadeBy(cone, by), false);
  for (const { output } of spent) outputs.set(output, true);
  return { whole, named, outputs };
}

function inputStates(
  cone: Cone,
  blocks: readonly BlockOfMilestone[],
  stateOf: (output: number) => OutputState | undefined,
): Map<number, OutputState> {
  const states = new Map<number, OutputState>();
  for (const { position } of blocks) {
    for (const input of inputsAt(cone, position)) {
      const state = stateOf(input);
      if (state !== undefined) states.set(input, state);
    }
  }
  return states;
}
