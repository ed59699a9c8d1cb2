/**
 * The scrub reads the ledger's outputs and the index of IDs row by row, in steps of one batch each,
 * and compares them with their fingerprints in `head.integrity` and with what was derived of them
 * (docs/storage.md#damage-on-disk). So it finds a row that changed or vanished though nobody reads
 * it.
 *
 * Milestones may be applied between two steps. The sum in the scrub's position is always that of
 * the rows up to its ID as they are now, because a milestone moves it together with the fingerprint
 * (apply-statements.ts). So it is the fingerprint when no row is left: where a step reads
 * fewer than it may, as milestones bring rows behind the last one of some tables for ever.
 */
import { chainIdOf, decodeOutput } from '../../stardust/wire/ids.ts';
import { OutputType } from '../../stardust/wire/output.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { runFenced } from '../core/fence.ts';
import { ALL_INDEXED, type Head, readHead } from '../core/head.ts';
import { entrySum, idTableName } from '../core/id-index.ts';
import { countedFromRow, nftFromRow, SELECT_NFTS, selectCounted } from '../core/nft-rows.ts';
import { countNext, outputColumns, outputTypeSql, unspentFromRow } from '../core/output-bytes.ts';
import { many, one, type Row, readAlone, readBatch, write } from '../core/read-batch.ts';
import { addSums, type Integrity, startOf, summedColumns } from '../core/row-sum.ts';
import { lookTwice, moveHead, notingDamage } from '../core/write-head.ts';
import type { FingerprintedTable, RowInSum } from '../ledger-part.ts';
import { cellsFromRow, LIST_CELLS, listRow } from '../output-list/list-rows.ts';

/** Outputs of one step: 20 ms of CPU, 50 ms if all are NFTs. */
const STEP_OUTPUTS = 1000;

/** Entries of the index of IDs: 12 ms. */
const STEP_ENTRIES = 5000;

/** Milestones of one step whose changes are read: each may name 15,000 NFTs, most name five. */
const STEP_CHANGES = 20;

/** ?1 an ID, ?2 how many rows. */
const NEXT_OUTPUTS = 'FROM output o WHERE o.id > ?1 ORDER BY o.id LIMIT ?2';

const SELECT_OUTPUTS = `SELECT ${outputColumns('o')}, o.chain ${NEXT_OUTPUTS}`;

const SELECT_HELD_NFTS = `
  SELECT n.id, n.output, n.changed FROM (SELECT o.chain ${NEXT_OUTPUTS}) o JOIN nft n ON n.id = o.chain`;

const SELECT_DETAILS = `
  SELECT ${LIST_CELLS} FROM output_detail
  WHERE (kind, created_time, output) IN (
    SELECT ${outputTypeSql('o.bytes')}, o.created_time, unhex(o.id) ${NEXT_OUTPUTS})`;

/** Tables without a fingerprint: they are compared with outputs and milestones. */
const NFTS = 'nft';
const DETAILS = 'output_detail';
const CHANGES = 'nft_change';
const DERIVED: readonly string[] = [CHANGES, NFTS, DETAILS];

const STEP_ROWS = new Map([
  ['output', STEP_OUTPUTS],
  [CHANGES, STEP_CHANGES],
]);

/** Milestones behind ?1, up to ?2 of them. No index is below 0. */
const SELECT_CHANGES = selectCounted(
  "m.idx > CAST(coalesce(nullif(?1, ''), -1) AS INTEGER) ORDER BY m.idx LIMIT ?2",
);

/** Rows behind ?1, the JSON of a position, with whether there is the output that they are of. */
const SELECT_ALL_DETAILS = `
  SELECT json_array(d.kind, d.created_time, hex(d.output)) AS position,
    o.created_time = d.created_time AND ${outputTypeSql('o.bytes')} = d.kind AS known
  FROM output_detail d LEFT JOIN output o ON o.id = lower(hex(d.output))
  WHERE (d.kind, d.created_time, d.output) > (
    coalesce(nullif(?1, '') ->> 0, -1), nullif(?1, '') ->> 1, unhex(nullif(?1, '') ->> 2))
  ORDER BY d.kind, d.created_time, d.output LIMIT ?2`;

/**
 * Takes one step. Returns whether it was the last of a round, in which each row has been read.
 * Throws a LedgerDamaged if a row is damaged, after noting it in head, so that all readers throw
 * it; and a LedgerMoved if the ledger changed meanwhile: then nothing counts.
 *
 * @param most rows of a step; undefined: by the table
 * @param kept tables that modules keep
 */
export async function scrub(
  db: Database,
  most?: number,
  kept: readonly FingerprintedTable[] = [],
): Promise<boolean> {
  const head = await readHead(db);
  if (head === undefined) return true;
  return notingDamage(db, head, () => lookTwice(() => readOn(db, head, most, kept)));
}

async function readOn(
  db: Database,
  head: Head,
  most: number | undefined,
  kept: readonly FingerprintedTable[],
): Promise<boolean> {
  const { fingerprints, smallAt, scrub: noted = startOf('output') } = head.integrity;
  const ofModules = kept.filter(({ isKept }) => isKept(head));
  const tables = [
    'output',
    ...head.idTables.map(idTableName),
    ...ofModules.map(({ name }) => name),
    ...DERIVED,
  ];
  // a module that kept the table may be gone
  const position = tables.includes(noted.table) ? noted : startOf('output');
  const { table, after } = position;
  const ofModule = ofModules.find(({ name }) => name === table);
  const wanted = most ?? STEP_ROWS.get(table) ?? STEP_ENTRIES;
  const count = table === 'output' ? await countNext(db, after, wanted) : wanted;
  const rows = ofModule
    ? await readAlone(ofModule.selectNext(db, after, count))
    : await readNextRows(db, head, table, after, count);
  const sum = addSums(position.sum, ...rows.map((row) => row.sum));
  if (rows.length === count) {
    const scrub = { table, after: rows.at(-1)!.id, sum };
    await saveIntegrity(db, head, { fingerprints, smallAt, scrub });
    return false;
  }
  if (!DERIVED.includes(table) && fingerprints[table] !== sum)
    throw new LedgerDamaged(`rows of the table ${table}`);
  const next = tables[tables.indexOf(table) + 1];
  await saveIntegrity(
    db,
    head,
    next === undefined
      ? { fingerprints: await readSmallTables(db, head), smallAt: head.ledger }
      : { fingerprints, smallAt, scrub: startOf(next) },
  );
  return next === undefined;
}

const SMALL_TABLES = ['parameters', 'receipt'] as const;

/** Rows that are read at once: 8 MB of receipts. */
const STEP_SMALL = 500;

const nextOf = (table: (typeof SMALL_TABLES)[number]) =>
  `SELECT ${summedColumns(table, 't')} FROM ${table} t ORDER BY 1, 2 LIMIT ?1 OFFSET ?2`;

/** Whether the milestones are those up to the ledger's, without a gap. */
const SELECT_MILESTONES = `
  SELECT count(*) = max(idx) - min(idx) + 1 AND max(idx) = ?1 AS whole FROM milestone`;

/** Returns the fingerprints, with those of the tables that were read. */
async function readSmallTables(db: Database, { ledger, integrity }: Head) {
  const statement = db.prepare(SELECT_MILESTONES).bind(ledger);
  if ((await readAlone(one(statement, (row) => row.integerOrNull('whole')))) !== 1)
    throw new LedgerDamaged('rows of the table milestone');
  const fingerprints = { ...integrity.fingerprints };
  for (const table of SMALL_TABLES) {
    let [sum, offset, read] = [0, 0, 0];
    do {
      const sums = await readAlone(
        many(db.prepare(nextOf(table)).bind(STEP_SMALL, offset), (row) => {
          row.requireSum(table);
          return row.integer('sum');
        }),
      );
      sum = addSums(sum, ...sums);
      read = sums.length;
      offset += read;
    } while (read === STEP_SMALL);
    if (integrity.smallAt === ledger && sum !== fingerprints[table])
      throw new LedgerDamaged(`rows of the table ${table}`);
    fingerprints[table] = sum;
  }
  return fingerprints;
}

async function saveIntegrity(db: Database, head: Head, integrity: Integrity): Promise<void> {
  await runFenced(db, { writes: write([moveHead(db, head, { integrity })]) });
}

/** Reads the next rows of a table of the ledger, which are whole; fewer than `count` at its end. */
async function readNextRows(db: Database, head: Head, table: string, after: string, count: number) {
  if (table === 'output') return readOutputs(db, head, after, count);
  const bind = (sql: string) => db.prepare(sql).bind(after, count);
  if (table === NFTS)
    return readAlone(many(bind(SELECT_NFTS), (row) => ({ id: nftFromRow(row)!.nft, sum: 0 })));
  if (table === DETAILS) return readAlone(many(bind(SELECT_ALL_DETAILS), detailFromRow));
  if (table === CHANGES) return readAlone(many(bind(SELECT_CHANGES), changesFromRow));
  const entries = `SELECT id, milestone, block, sum FROM ${table} WHERE id > ?1 ORDER BY id LIMIT ?2`;
  return readAlone(many(bind(entries), entryFromRow));
}

const changesFromRow = (row: Row): RowInSum => ({ id: String(countedFromRow(row)), sum: 0 });

function detailFromRow(row: Row): RowInSum {
  if (row.integerOrNull('known') !== 1) throw new LedgerDamaged('rows of the table output_detail');
  return { id: row.text('position'), sum: 0 };
}

function entryFromRow(row: Row): RowInSum {
  row.requireSum('id');
  const id = row.text('id');
  return { id, sum: entrySum(id, row.integer('milestone'), row.integer('block')) };
}

/** Throws a LedgerDamaged unless outputs and all that is derived of them are whole. */
async function readOutputs(db: Database, head: Head, after: string, most: number) {
  const bind = (sql: string) => db.prepare(sql).bind(after, most);
  const { outputs, nfts, details } = await readBatch(db, {
    outputs: many(bind(SELECT_OUTPUTS), outputFromRow),
    nfts: many(bind(SELECT_HELD_NFTS), (row): [id: string, state: string] => [
      row.text('id'),
      `${row.textOrNull('output')} ${row.integer('changed')}`,
    ]),
    details: many(bind(SELECT_DETAILS), cellsFromRow),
  });
  const stateOf = new Map(nfts);
  const listed = new Map(details.map((cells) => [cells[1], cells.join()]));
  for (const { id, created, chain, isNft, cells } of outputs) {
    // what made its output changed the NFT last
    if (isNft && stateOf.get(chain ?? '') !== `${id} ${created}`)
      throw new LedgerDamaged('rows of the table nft');
    // of the other kinds it has those up to where the index is filled
    const isListed = isNft || head.indexed === ALL_INDEXED || id <= head.indexed;
    if (isListed && listed.get(id) !== cells)
      throw new LedgerDamaged('rows of the table output_detail');
  }
  return outputs;
}

/** Reads an output, with the cells of its row in output_detail. */
function outputFromRow(row: Row) {
  const { id, bytes, created, createdTime } = unspentFromRow(row);
  const output = decodeOutput(bytes);
  const chain = row.textOrNull('chain');
  const ownChain = chainIdOf(output, Uint8Array.fromHex(id))?.toHex() ?? null;
  if (chain !== ownChain) throw new LedgerDamaged('rows of the table output');
  return {
    id,
    sum: row.integer('sum'),
    created,
    chain,
    isNft: output.type === OutputType.Nft,
    cells: listRow(output, id, createdTime).join(),
  };
}
