/**
 * Where the ledger stands: one row, read in the same batch as whatever is answered from it.
 */
export interface Head {
  /** Names the import that this ledger grew from. */
  generation: string;
  /** Genesis milestone index. */
  genesis: number;
  /** Ledger index that the import brought; no earlier state is known. */
  start: number;
  /** Ledger index now. */
  ledger: number;
  treasury: Treasury;
}

/** The one unspent treasury output. */
export interface Treasury {
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

/** Head, and the milestone with the index ?1, or the ledger's where that is NULL, if it is known. */
export const SELECT_HEAD = `
  SELECT h.generation, h.genesis, h.start, h.ledger, h.treasury_milestone, h.treasury_amount, m.id, m.timestamp
  FROM head h LEFT JOIN milestone m ON m.idx = coalesce(?1, h.ledger)`;

export function headFromRow(row: Record<string, unknown>): Head {
  return {
    generation: String(row.generation),
    genesis: Number(row.genesis),
    start: Number(row.start),
    ledger: Number(row.ledger),
    treasury: {
      milestoneId: String(row.treasury_milestone),
      amount: BigInt(String(row.treasury_amount)),
    },
  };
}

export function milestoneFromRow(row: Record<string, unknown>): KnownMilestone | undefined {
  return row.id === null ? undefined : { id: String(row.id), timestamp: Number(row.timestamp) };
}
