/**
 * Where the ledger stands: one row, read in the same batch as whatever is answered from it.
 */
import { type IdTable, readIdTables } from './id-index.ts';
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

/**
 * Head, and the milestone with the index ?1, or the ledger's where that is NULL, if it is known.
 */
export const SELECT_HEAD = `
  SELECT h.*, m.id, m.timestamp
  FROM head h LEFT JOIN milestone m ON m.idx = coalesce(?1, h.ledger)`;

/** Throws a LedgerUnreadable where the tables are of another version. */
export function headFromRow(row: Record<string, unknown>): Head {
  requireSchema(row.schema);
  return {
    generation: String(row.generation),
    genesis: Number(row.genesis),
    start: Number(row.start),
    ledger: Number(row.ledger),
    treasury: {
      milestoneId: String(row.treasury_milestone),
      amount: BigInt(String(row.treasury_amount)),
    },
    nextBlock: Number(row.next_block),
    nextOutput: Number(row.next_output),
    dropped: Number(row.dropped),
    idTables: readIdTables(String(row.id_tables)),
    forgotten: Number(row.forgotten),
  };
}

export function milestoneFromRow(row: Record<string, unknown>): KnownMilestone | undefined {
  return row.id === null ? undefined : { id: String(row.id), timestamp: Number(row.timestamp) };
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
