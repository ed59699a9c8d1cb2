/**
 * Open packs put together anew: a milestone takes blocks out of them, or brings and spends outputs
 * that their blocks consume, or old blocks are dropped. Packs that nothing of that concerns stay as
 * they are.
 */
import { type Cone, inputsAt } from '../stardust/white-flag/cone.ts';
import type { ConsistentView } from './consistent-view.ts';
import { type Database, runBatch } from './database.ts';
import { LedgerMoved } from './fence.ts';
import { OPEN_COLUMNS, type OpenPack, openPackFromRow, READ_AT_ONCE } from './open-packs.ts';
import { placesOf } from './viewed-packs.ts';

/** With more packs than these all are put together anew: requests read each. */
const MANY_PACKS = 100;

const SELECT_OPEN = `
  SELECT ${OPEN_COLUMNS} FROM open WHERE key IN (SELECT value FROM json_each(?1)) ORDER BY key`;

export interface PacksToRewrite {
  /** Keys of the packs that go. */
  keys: number[];
  /** Of those the ones of which blocks are left: their keys. */
  left: number[];
}

/**
 * The open packs that have to be put together anew.
 *
 * @param view of the ledger's next milestone
 * @param leaves whether the block leaves the open ones, by its number
 * @param changes whether the state of an output changes, by its number
 */
export function packsToRewrite(
  view: ConsistentView,
  leaves: (block: number) => boolean,
  changes: (output: number) => boolean,
): PacksToRewrite {
  const { cone, packs } = view;
  const touched = new Set<number>(packs.length > MANY_PACKS ? packs.map(({ key }) => key) : []);
  const left = new Set<number>();
  for (const [position, { pack }] of placesOf(view).entries()) {
    const { key } = packs[pack]!;
    const isLeaving = leaves(cone.numberAt(position));
    if (!isLeaving) left.add(key);
    if (touched.has(key)) continue;
    if (isLeaving || inputsChange(cone, position, changes)) touched.add(key);
  }
  return { keys: [...touched], left: [...touched].filter((key) => left.has(key)) };
}

/** The packs with these keys, whole but for the bytes of their blocks. */
export async function readOpenPacks(db: Database, keys: readonly number[]): Promise<OpenPack[]> {
  const read: OpenPack[] = [];
  // in steps, so that few of the texts are there at once; that the packs are the view's is fenced
  for (let first = 0; first < keys.length; first += READ_AT_ONCE) {
    const some = JSON.stringify(keys.slice(first, first + READ_AT_ONCE));
    const [rows] = await runBatch(db, [db.prepare(SELECT_OPEN).bind(some)]);
    for (const row of rows!) read.push(openPackFromRow(row));
  }
  if (read.length < keys.length) throw new LedgerMoved('an open pack is gone');
  return read.sort((a, b) => a.key - b.key);
}

function inputsChange(cone: Cone, position: number, changes: (output: number) => boolean): boolean {
  return inputsAt(cone, position).some(changes);
}
