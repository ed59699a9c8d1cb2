/**
 * Tips: unreferenced blocks that no other stored block approves.
 */
import { readCone } from '../../stardust/white-flag/cone.ts';
import { type Database, runBatch } from '../core/database.ts';
import { headFromRow, SELECT_HEAD } from '../core/head.ts';
import { WALKED_COLUMNS, walkedPackFromRow } from '../core/packs.ts';
import { readBlockRows } from './referenced-blocks.ts';

export interface Tips {
  /** 64 hex digits each, the newest first. */
  blockIds: string[];
  ledgerIndex: number;
}

/** As many as a block has parents: clients take all of them. */
const MAX_TIPS = 8;

/** Packs that are searched, the newest ones: some 4,000 blocks. */
const MAX_PACKS = 16;

/** The newest packs, with what says which of their blocks are unreferenced. */
const SELECT_LIVE = `
  SELECT ${WALKED_COLUMNS}, p.blocks FROM pack p WHERE p.live = 1 AND p.staged IS NULL
  ORDER BY p.key DESC LIMIT ${MAX_PACKS}`;

/** Undefined where nothing was imported. */
export async function readTips(db: Database): Promise<Tips | undefined> {
  const [heads, rows] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_LIVE),
  ]);
  const head = heads![0];
  if (head === undefined) return undefined;
  const approved = new Set<number>();
  const blockIds: string[] = [];
  // the newest first: a child has a greater number than its parents
  for (const row of rows!) {
    const { records, statuses } = walkedPackFromRow(row);
    const cone = readCone([records]);
    const blocks = readBlockRows(row.blocks);
    for (let at = cone.size - 1; at >= 0; at--) {
      const [number, id] = blocks[at]!;
      const isTip = statuses.milestoneAt(at) === 0 && !approved.has(number);
      if (isTip && blockIds.length < MAX_TIPS) blockIds.push(id);
      for (let parent = 0; parent < cone.parentCountAt(at); parent++)
        approved.add(cone.parentAt(at, parent));
    }
  }
  return { blockIds, ledgerIndex: headFromRow(head).ledger };
}
