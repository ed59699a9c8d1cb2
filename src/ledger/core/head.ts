/** The head, where the ledger stands: one row, read in the batch of what is answered from it. */
import { HeadDamaged, LedgerDamaged } from './checksum.ts';
import type { Database } from './database.ts';
import { first, type Query, type Row, readAlone } from './read-batch.ts';
import { type Integrity, summedColumns } from './row-sum.ts';

/**
 * Version of the tables, in `head.schema`. A migration that changes the meaning of stored rows
 * raises it; a ledger of another version is not read (docs/operations.md#upgrade).
 */
export const SCHEMA = 3;

/** D1 holds a ledger that this version does not read. The message is for people, in ASCII. */
export class LedgerUnreadable extends Error {
  override readonly name = 'LedgerUnreadable';
}

/** Whether the message of an error says what to do, to whoever asked. */
export const isTold = (error: unknown): error is LedgerUnreadable | LedgerDamaged =>
  error instanceof LedgerUnreadable || error instanceof LedgerDamaged;

/** Message of a node without a ledger, and what to do. */
export const NO_LEDGER =
  'no ledger was imported yet: npx stardust-edge import FILE (docs/operations.md#import-a-snapshot)';

/** Whether SQLite lacks a table: that of the head, if no migration was applied. */
export const isMissingTable = (error: unknown) => String(error).includes('no such table');

/** Throws a LedgerUnreadable unless `schema`, the value of `head.schema`, is {@link SCHEMA}. */
export function requireSchema(schema: unknown): void {
  if (schema === SCHEMA) return;
  const fault = `ledger schema ${schema} is not supported by this version, which reads ${SCHEMA}`;
  const remedy =
    Number(schema) > SCHEMA ? 'install the newer release' : 'migrate, or import the snapshot again';
  throw new LedgerUnreadable(`${fault}: ${remedy} (docs/operations.md#upgrade)`);
}

/** A table of the index of IDs in use. It holds milestones up to the next table's first. */
export interface IdTable {
  /** Number, 0 to 4. */
  table: number;
  first: number;
}

export interface Head {
  /** Names the import that this ledger grew from. */
  generation: string;
  /** Genesis milestone index. */
  genesis: number;
  /** Ledger index that the import brought; no earlier state is known. */
  start: number;
  /** SHA-256 of the imported file, 64 hex digits; empty if the import was not told it. */
  snapshot: string;
  ledger: number;
  treasury: HeadTreasury;
  /** Numbers from these on are free, unless a live pack names higher ones (pack-columns.ts). */
  nextBlock: number;
  nextOutput: number;
  /** Number of unreferenced blocks below nextBlock. */
  unreferenced: number;
  /** How many times unreferenced blocks were dropped (drop-blocks.ts). */
  dropped: number;
  /** The tables of the index of IDs that are in use, oldest first. */
  idTables: readonly IdTable[];
  /** IDs of milestones up to this one are dropped. */
  forgotten: number;
  /**
   * Progress of filling output_detail: '' if nothing keeps it, the last output's ID while it is
   * filled, 'all' (ALL_INDEXED) when it is whole.
   */
  indexed: string;
  /** First milestone whose NFT changes are in nft_past; 0 if there is none. */
  history: number;
  integrity: Integrity;
}

/** The value of `indexed` when every kind of output is in the lists. */
export const ALL_INDEXED = 'all';

/** Whether milestones change output_detail: while it is filled, and when it is whole. */
export function keepsIndex({ indexed }: Pick<Head, 'indexed'>): boolean {
  return indexed !== '';
}

/** The one unspent treasury output. */
export interface HeadTreasury {
  /** Hex of the milestone that made it. */
  milestoneId: string;
  amount: bigint;
}

/** A milestone whose state can be asked for. */
export interface KnownMilestone {
  id: string;
  timestamp: number;
  /** Number of blocks that it references; 0 for a snapshot's milestone. */
  blocks: number;
  /** Changes of NFTs from the import to the milestone. An NFT counts once in each milestone. */
  nftChanges: number;
}

/** ?1 the index of a milestone; of the ledger's where it is NULL. */
const SELECT_HEAD_AT = `
  SELECT h.*, ${summedColumns('milestone', 'm', 'milestone_')}
  FROM head h LEFT JOIN milestone m ON m.idx = coalesce(?1, h.ledger)`;

/**
 * Selects the head; undefined if nothing was imported. It is the first query of a batch, as it
 * throws a LedgerUnreadable if the tables are of another version.
 *
 * @param table head, or the staging table of an import
 */
export const selectHead = (db: Database, table = 'head'): Query<Head | undefined> =>
  first(db.prepare(`SELECT * FROM ${table}`), headFromRow);

/** {@link selectHead} by itself. */
export const readHead = (db: Database): Promise<Head | undefined> => readAlone(selectHead(db));

export interface HeadAt {
  head: Head;
  milestone: KnownMilestone | undefined;
}

/** Selects the head as {@link selectHead} does, and the milestone with this index. */
export function selectHeadAt(db: Database, index: number | null): Query<HeadAt | undefined> {
  return first(db.prepare(SELECT_HEAD_AT).bind(index), (row) => {
    const head = headFromRow(row);
    const isOwn = (index ?? head.ledger) === head.ledger;
    return { head, milestone: isOwn ? ownMilestoneFromRow(row) : milestoneFromRow(row) };
  });
}

/** Selects the head as {@link selectHead} does, and the ledger's milestone. */
export const selectLedger = (db: Database) =>
  selectHeadAt(db, null) as Query<(HeadAt & { milestone: KnownMilestone }) | undefined>;

/**
 * Throws a HeadDamaged if the row is damaged, or a scrub found other damage.
 *
 * @param row all of head; other columns may have other names
 */
export function headFromRow(row: Row): Head {
  try {
    return parseHead(row);
  } catch (error) {
    throw error instanceof LedgerDamaged ? new HeadDamaged(error.what) : error;
  }
}

function parseHead(row: Row): Head {
  requireSchema(row.integer('schema'));
  row.requireSum('head');
  const integrity: Integrity = JSON.parse(row.text('integrity'));
  const idTables: [number, number][] = JSON.parse(row.text('id_tables'));
  if (integrity.damaged !== undefined) throw new LedgerDamaged(integrity.damaged);
  return {
    generation: row.text('generation'),
    genesis: row.integer('genesis'),
    start: row.integer('start'),
    snapshot: row.text('snapshot'),
    ledger: row.integer('ledger'),
    treasury: {
      milestoneId: row.text('treasury_milestone'),
      amount: BigInt(row.text('treasury_amount')),
    },
    nextBlock: row.integer('next_block'),
    nextOutput: row.integer('next_output'),
    unreferenced: row.integer('unreferenced'),
    dropped: row.integer('dropped'),
    idTables: idTables.map(([table, first]) => ({ table, first })),
    forgotten: row.integer('forgotten'),
    indexed: row.text('indexed'),
    history: row.integer('history'),
    integrity,
  };
}

/** Reads the ledger's milestone. Throws a LedgerDamaged if it is not there: it always was. */
export function ownMilestoneFromRow(row: Row): KnownMilestone {
  const milestone = milestoneFromRow(row);
  if (milestone === undefined) throw new LedgerDamaged('rows of the table milestone');
  return milestone;
}

/** @param row of a milestone's {@link summedColumns}, with that prefix */
export function milestoneFromRow(row: Row, prefix = 'milestone_'): KnownMilestone | undefined {
  const id = row.textOrNull(`${prefix}id`);
  if (id === null) return undefined;
  row.requireSum('milestone', prefix);
  return {
    id,
    timestamp: row.integer(`${prefix}timestamp`),
    blocks: row.integer(`${prefix}blocks`),
    nftChanges: row.integer(`${prefix}nft_changes`),
  };
}

/** The part of the head that tells of milestones, drops and imports, and not of stored blocks. */
export type HeadMoment = Pick<Head, 'generation' | 'ledger' | 'dropped'>;

/** Returns whether nothing but storing blocks happened in between: no milestone, drop or import. */
export const isSameHead = (one: HeadMoment, other: HeadMoment): boolean =>
  (['generation', 'ledger', 'dropped'] as const).every((of) => one[of] === other[of]);
