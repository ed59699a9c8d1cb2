/**
 * Tips: open blocks that no other stored block approves.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import { readCone } from '../stardust/white-flag/cone.ts';
import { type Database, runBatch } from './database.ts';
import { headFromRow, SELECT_HEAD } from './head.ts';

export interface Tips {
  /** 64 hex digits each, the newest first. */
  blockIds: string[];
  ledgerIndex: number;
}

/** As many as a block has parents: clients take all of them. */
const MAX_TIPS = 8;

/** The newest first. */
const SELECT_OPEN = 'SELECT records, blocks FROM open ORDER BY key DESC';

/** Undefined where nothing was imported. */
export async function readTips(db: Database): Promise<Tips | undefined> {
  const [heads, packs] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_OPEN),
  ]);
  const row = heads![0];
  if (row === undefined) return undefined;
  const cone = readCone(packs!.map(({ records }) => fromBase64(String(records))));
  const approved = new Set<number>();
  for (let position = 0; position < cone.size; position++) {
    for (let parent = 0; parent < cone.parentCountAt(position); parent++)
      approved.add(cone.parentAt(position, parent));
  }
  const blockIds: string[] = [];
  for (const { blocks } of packs!) {
    for (const [number, id] of (JSON.parse(String(blocks)) as [number, string][]).reverse()) {
      if (blockIds.length < MAX_TIPS && !approved.has(number)) blockIds.push(id);
    }
  }
  return { blockIds, ledgerIndex: headFromRow(row).ledger };
}
