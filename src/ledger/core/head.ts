/**
 * Where the ledger stands: one row, read in the same batch as whatever is answered from it.
 */
import type { Database } from './database.ts';
import { type IdTable, readIdTables } from './id-index.ts';
import { first, type Query, type Row, readAlone } from './read-batch.ts';
import { requireSchema } from './schema.ts';

export interface Head {
  /** Names the import that this ledger grew from. */
  generation: string;
  /** Genesis milestone index. */
  genesis: number;
  /** Ledger index that the import brought; no earlier state is known. */
  start: number;
  /** Ledger index now. */
  ledger: number;
  treasury: HeadTreasury;
  /** Numbers from these on are free, unless a live pack names higher ones (packs.ts). */
  nextBlock: number;
  nextOutput: number;
  /** How many times unreferenced blocks were dropped (drop-blocks.ts). */
  dropped: number;
  /** The tables of the index of IDs that are in use, oldest first. */
  idTables: readonly IdTable[];
  /** IDs of milestones up to this one are forgotten. */
  forgotten: number;
}

/** The one unspent treasury output. */
export interface HeadTreasury {
  /** Hex of the milestone that made it. */
  milestoneId: string;
  /** Base tokens, uint64. */
  amount: bigint;
}

/** A milestone whose state can be asked for. */
export interface KnownMilestone {
  /** 64 hex digits. */
  id: string;
  /** Unix seconds. */
  timestamp: number;
}

const SELECT_HEAD = 'SELECT * FROM head';

/** ?1 the index of a milestone; of the ledger's where it is NULL. */
const SELECT_HEAD_AT = `
  SELECT h.*, m.id, m.timestamp
  FROM head h LEFT JOIN milestone m ON m.idx = coalesce(?1, h.ledger)`;

/**
 * The head; undefined where nothing was imported. Throws a LedgerUnreadable where the tables are of
 * another version: so it is the first query of a batch.
 */
export function selectHead(db: Database): Query<Head | undefined> {
  return first(db.prepare(SELECT_HEAD), headFromRow);
}

/** {@link selectHead} by itself. */
export function readHead(db: Database): Promise<Head | undefined> {
  return readAlone(selectHead(db));
}

export interface HeadAt {
  head: Head;
  /** Undefined if it is not known. */
  milestone: KnownMilestone | undefined;
}

/**
 * The head as {@link selectHead} has it, and a milestone.
 *
 * @param index of the milestone; the ledger's where it is left out
 */
export function selectHeadAt(db: Database, index?: number): Query<HeadAt | undefined> {
  return first(db.prepare(SELECT_HEAD_AT).bind(index ?? null), (row) => ({
    head: headFromRow(row),
    milestone: milestoneFromRow(row),
  }));
}

function headFromRow(row: Row): Head {
  requireSchema(row.integer('schema'));
  return {
    generation: row.text('generation'),
    genesis: row.integer('genesis'),
    start: row.integer('start'),
    ledger: row.integer('ledger'),
    treasury: {
      milestoneId: row.text('treasury_milestone'),
      amount: BigInt(row.text('treasury_amount')),
    },
    nextBlock: row.integer('next_block'),
    nextOutput: row.integer('next_output'),
    dropped: row.integer('dropped'),
    idTables: readIdTables(row.text('id_tables')),
    forgotten: row.integer('forgotten'),
  };
}

function milestoneFromRow(row: Row): KnownMilestone | undefined {
  const id = row.textOrNull('id');
  return id === null ? undefined : { id, timestamp: row.integer('timestamp') };
}

/**
 * Whether no milestone was applied, no block dropped and no snapshot imported from one to the
 * other: then blocks were stored at most.
 */
export function isSameHead(
  one: Pick<Head, 'generation' | 'ledger' | 'dropped'>,
  other: Pick<Head, 'generation' | 'ledger' | 'dropped'>,
): boolean {
  return (
    one.generation === other.generation &&
    one.ledger === other.ledger &&
    one.dropped === other.dropped
  );
}
