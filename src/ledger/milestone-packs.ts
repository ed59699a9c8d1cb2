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
} from './open-contents.ts';
import { lengthInPack, type MentionedOutput, type OpenBlock } from './open-packs.ts';
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

/** Hex digits of a transaction's ID, with which those of its outputs begin. */
const TRANSACTION_ID_DIGITS = 64;

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
 * ?1 the key, ?2 records, ?3 states; ?4 the blocks: pack, place, reason, and of a fetched block ID,
 * payload and bytes; ?5 the outputs that they mention: pack, number, and the ID where a fetched
 * block tells it; ?6 the outputs spent (SpentRow); ?7 and ?8 index and timestamp of the milestone.
 *
 * A column is NULL if something is missing, which the table does not take: the whole batch fails.
 * `spent` stands alone because SQLite writes the text of a row of json_each() anew for each use.
 */
const INSERT_PACK = `
  INSERT INTO pack (key, records, states, mentions, blocks, spent, bytes)
  WITH
    own AS MATERIALIZED (
      SELECT key AS place, value ->> 0 AS pack, value ->> 1 AS at, value ->> 2 AS reason,
        value ->> 3 AS id, value ->> 4 AS payload, value ->> 5 AS bytes
      FROM json_each(?4)),
    named AS MATERIALIZED (
      SELECT key AS place, value ->> 0 AS pack, value ->> 1 AS number, value ->> 2 AS id
      FROM json_each(?5)),
    spent AS MATERIALIZED (SELECT key, value FROM json_each(?6)),
    gone AS MATERIALIZED (
      SELECT key AS place, value ->> 0 AS pack, value ->> 1 AS output, value ->> 2 AS made,
        value ->> 3 AS home, value ->> 4 AS at, value ->> 5 AS id, value ->> 6 AS tx,
        value ->> 7 AS bytes, value ->> 8 AS nft, value ->> 9 AS block
      FROM spent),
    places AS MATERIALIZED (
      SELECT pack, at FROM own WHERE id IS NULL
      UNION SELECT home, at FROM gone WHERE block IS NULL AND home IS NOT NULL),
    numbers AS MATERIALIZED (
      SELECT pack, number FROM named WHERE id IS NULL
      UNION SELECT pack, output FROM gone WHERE id IS NULL
      UNION SELECT pack, made FROM gone WHERE tx IS NULL
      UNION SELECT home, output FROM gone WHERE bytes IS NULL AND home IS NOT NULL),
    block AS MATERIALIZED (${selectBlocks('SELECT pack, at FROM places')}),
    mention AS MATERIALIZED (${selectOutputs('SELECT pack, number FROM numbers')}),
    content AS MATERIALIZED (${selectBytes('SELECT pack, at FROM own WHERE bytes IS NULL')})
  SELECT ?1, ?2, ?3,
    (SELECT CASE WHEN count(coalesce(n.id, m.id)) = json_array_length(?5)
        THEN json_group_array(json_array(n.number, coalesce(n.id, m.id)) ORDER BY n.place) END
      FROM named n LEFT JOIN mention m ON m.pack = n.pack AND m.number = n.number),
    (SELECT CASE WHEN count(coalesce(own.id, b.id)) = json_array_length(?4)
        THEN json_group_array(json_array(
          coalesce(own.id, b.id), coalesce(own.payload, b.payload), own.reason) ORDER BY own.place)
        END
      FROM own LEFT JOIN block b ON b.pack = own.pack AND b.at = own.at),
    (SELECT CASE WHEN count(coalesce(g.id, m.id)) = json_array_length(?6)
        AND count(coalesce(g.tx, t.id)) = json_array_length(?6)
        AND count(coalesce(g.bytes, c.bytes, o.bytes)) = json_array_length(?6)
        AND count(coalesce(g.block, b.id, o.block)) = json_array_length(?6)
        THEN json_group_array(json_array(coalesce(g.id, m.id),
          coalesce(g.bytes, c.bytes, o.bytes), coalesce(g.nft, c.nft, o.nft),
          coalesce(g.block, b.id, o.block), coalesce(o.created, ?7),
          coalesce(o.created_time, ?8), coalesce(g.tx, substr(t.id, 1, ${TRANSACTION_ID_DIGITS}))
        ) ORDER BY g.place) END
      FROM gone g
        LEFT JOIN mention m ON m.pack = g.pack AND m.number = g.output
        LEFT JOIN mention t ON t.pack = g.pack AND t.number = g.made
        LEFT JOIN mention c ON c.pack = g.home AND c.number = g.output
        LEFT JOIN block b ON b.pack = g.home AND b.at = g.at
        LEFT JOIN output o ON g.home IS NULL AND o.id = coalesce(g.id, m.id)),
    (SELECT CASE WHEN count(coalesce(own.bytes, c.bytes)) = json_array_length(?4)
        THEN json_group_array(coalesce(own.bytes, c.bytes) ORDER BY own.place) END
      FROM own LEFT JOIN content c ON c.pack = own.pack AND c.at = own.at)`;

/**
 * An output that is spent: pack of the block that spends it, its number, that of an output which
 * that block creates, and pack and place of the block that creates it, if the milestone references
 * that. The rest is of fetched blocks, else null: ID, transaction that spends it, base64 bytes,
 * NFT's ID, block that creates it. IDs are hex.
 */
type SpentRow = [
  pack: number,
  output: number,
  made: number,
  home: number | null,
  at: number | null,
  id: string | null,
  tx: string | null,
  bytes: string | null,
  nft: string | null,
  block: string | null,
];

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
  const known = outputsOfFetched(fetched, [
    ...blocks,
    ...spent.flatMap(({ by, from }) => (from === undefined ? [by] : [by, from])),
  ]);
  const mentions = new Map(
    blocks.flatMap(({ position, place }) =>
      [...inputsAt(cone, position), ...outputsAt(cone, position)].map(
        (output) => [output, place.pack] as const,
      ),
    ),
  );
  return db.prepare(INSERT_PACK).bind(
    packKey(index, part),
    toBase64(concatBytes(...records)),
    writeStates(inputStates(cone, blocks, stateOf)),
    JSON.stringify(
      blocks.map(({ place, reason = NO_REASON }) => {
        const row = [place.pack, place.at, reason];
        const block = fetchedAt(fetched, place);
        return block === undefined ? row : [...row, block.id, block.payload, block.bytes];
      }),
    ),
    JSON.stringify(
      Array.from(mentions, ([output, pack]) => [pack, output, known.get(output)?.id ?? null]),
    ),
    JSON.stringify(spent.map((output) => spentRow(cone, output, fetched, known))),
    index,
    timestamp,
  );
}

function fetchedAt(fetched: readonly OpenBlock[], { pack, at }: Place): OpenBlock | undefined {
  return pack === FETCHED ? fetched[at] : undefined;
}

/** What those of the blocks that were fetched say of outputs, by number. */
function outputsOfFetched(
  fetched: readonly OpenBlock[],
  blocks: readonly BlockOfMilestone[],
): Map<number, MentionedOutput> {
  const outputs = new Map<number, MentionedOutput>();
  for (const { place } of blocks) {
    for (const output of fetchedAt(fetched, place)?.mentions ?? []) {
      // who creates it knows more than who spends it
      if (output.bytes !== null || !outputs.has(output.number)) outputs.set(output.number, output);
    }
  }
  return outputs;
}

function spentRow(
  cone: Cone,
  { output, by, from }: SpentHere,
  fetched: readonly OpenBlock[],
  known: ReadonlyMap<number, MentionedOutput>,
): SpentRow {
  const made = outputMadeBy(cone, by);
  const { id = null, bytes = null, nft = null } = known.get(output) ?? {};
  const tx = known.get(made)?.id.slice(0, TRANSACTION_ID_DIGITS) ?? null;
  const { pack: home, at } = from?.place ?? { pack: null, at: null };
  const block = from === undefined ? null : (fetchedAt(fetched, from.place)?.id ?? null);
  return [by.place.pack, output, made, home, at, id, tx, bytes, nft, block];
}

/** An output that the transaction creates: its ID begins with the transaction's. */
function outputMadeBy(cone: Cone, { position, number }: BlockOfMilestone): number {
  const [output] = outputsAt(cone, position);
  if (output === undefined) throw new Error(`block number ${number} carries no transaction`);
  return output;
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
