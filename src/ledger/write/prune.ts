/**
 * Pruning deletes data that no answer needs any more, in small steps (docs/storage.md#pruning).
 *
 * The oldest row of `milestone`, f, is the first state that can be queried. It moves first; only
 * data from before f is deleted. A request about milestone m > f needs the row of m - 1, the parts
 * and packs of milestones from m on, and the live packs. IDs stay far longer: blocks that were
 * referenced long ago must not be taken for unreferenced ones (docs/architecture.md#the-trap).
 *
 * While the database is nearly full, each step keeps fewer milestones than the one before. There is
 * no state besides the tables. Once there is room, nothing is pruned before the configured
 * retention, so what is kept grows by one milestone with each that is applied.
 */
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { SHRINK_AT, shareUsed, withSize } from '../core/database-size.ts';
import { runFenced, unlessMoved } from '../core/fence.ts';
import { type Head, SCHEMA, selectHead } from '../core/head.ts';
import { idTableName } from '../core/id-index.ts';
import { countedFromRow, selectCounted } from '../core/nft-rows.ts';
import { many, one, readAlone, readBatch, write } from '../core/read-batch.ts';
import { moveHead, notingDamage } from '../core/write-head.ts';
import type { Carry } from '../ledger-part.ts';
import { PARTS, spentSql } from '../packs/milestone-part.ts';
import { deleteOldPacks } from '../packs/write-pack.ts';
import { emptyTable, turnIntegrity, turnOver } from './write-ids.ts';

const STEP = 1000;

/** IDs are kept this many times longer: at least 105 milestones before the first state. */
const ID_RETENTION = 4;

/**
 * Milestones before the ledger's whose states are kept however full the database is: the least that
 * RETENTION_MILESTONES may be (settings.ts).
 */
export const MIN_RETENTION = 35;

/**
 * Share of milestones by which a step keeps fewer while the database is nearly full, 20 milestones
 * at least: more than a pass applies. Then it measures again.
 */
const SHRINK_BY = 0.02;
const MIN_SHRINK = 20;

/** SQL that is true unless the schema is another, or the index damaged: not the last milestone's. */
const MAY_DELETE = `(SELECT schema FROM head WHERE ledger = (SELECT max(idx) FROM milestone)) = ${SCHEMA}`;

/** ?1 the step, ?2 milestones kept before the ledger's. */
const OLD_MILESTONES = `
  SELECT idx FROM milestone WHERE idx < (SELECT ledger FROM head) - ?2 ORDER BY idx LIMIT ?1`;

/** Milestones whose changes can be compared with their counts for the last time. */
const SELECT_COUNTED = selectCounted(`m.idx IN (SELECT idx + 1 FROM (${OLD_MILESTONES}))`);

/** ?3 `head.history`, as whoever deletes knows it. */
const DELETE_MILESTONES = `
  DELETE FROM milestone WHERE idx IN (${OLD_MILESTONES})
    AND ${MAY_DELETE} AND (SELECT history FROM head) = ?3`;

/** The oldest parts of milestones before the first. */
const OLD_PARTS = `
  SELECT key FROM milestone_part WHERE key < (SELECT min(idx) FROM milestone) * ${PARTS}
  ORDER BY key LIMIT ?1`;

/** Run before {@link DELETE_PARTS}: the rest of long contents that they name. */
const DELETE_RESTS = `
  DELETE FROM output_rest WHERE key IN (
    SELECT ${spentSql.rest('s.value')}
    FROM milestone_part p CROSS JOIN json_each(iif(json_valid(p.spent), p.spent, '[]')) s
    WHERE p.key IN (${OLD_PARTS}))
    AND ${MAY_DELETE}`;

const DELETE_PARTS = `DELETE FROM milestone_part WHERE key IN (${OLD_PARTS}) AND ${MAY_DELETE}`;

/** Oldest packs of one look; a step looks on as long as all of them go. */
const PACK_STEP = 8;

/** Most looks of a step: a pass may apply milestones of thousands of blocks. */
const MAX_PACK_STEPS = 100;

/** Rows of nft_change that a step deletes: each may name 15,000 NFTs. */
export const CHANGES_STEP = 20;

/**
 * SQL: the milestone up to which nobody needs changes of NFTs. Clients request those after a kept
 * milestone; KV's index needs those of its window (docs/nft-index.md), in its row if it is this
 * ledger's. NULL, and nothing is deleted, if it is not.
 */
const CHANGES_UNTIL = `(
  SELECT min(iif(json_valid(i.state), i.state ->> 'from', 0), (SELECT min(idx) FROM milestone))
  FROM nft_index i JOIN head h ON h.generation = i.generation AND h.schema = ${SCHEMA} AND i.one = 1)`;

const OLD_CHANGES = `
  SELECT milestone, part FROM nft_change WHERE milestone <= ${CHANGES_UNTIL}
  ORDER BY milestone, part LIMIT ${CHANGES_STEP}`;

/** Burned NFTs are told to clients and put by the publisher as long as their change is kept. */
const DELETE_BURNED = `
  DELETE FROM nft WHERE output IS NULL AND changed <= ${CHANGES_UNTIL} AND id IN (
    SELECT j.value
    FROM nft_change c CROSS JOIN json_each(iif(json_valid(c.nfts), c.nfts, '[]')) j
    WHERE (c.milestone, c.part) IN (${OLD_CHANGES}))`;

/** Run after {@link DELETE_BURNED}, in the same batch. */
const DELETE_CHANGES = `DELETE FROM nft_change WHERE (milestone, part) IN (${OLD_CHANGES})`;

const SELECT_FIRST = `
  SELECT min(idx) AS first, (SELECT max(idx) FROM milestone) > (SELECT ledger FROM head) AS beyond
  FROM milestone`;

/** Milestones before the ledger's: more than there are. */
const NONE_OLD = 2 ** 32;

export interface PruneOptions {
  /** Milestones for which IDs are kept, no fewer than all else. */
  idRetention?: number;
  /** Keeps what is deleted. Absent: histories end. */
  carry?: Carry | undefined;
  step?: number;
  /** The ledger's, in which damage is noted; absent: of whichever is there then. */
  generation?: string | undefined;
  /** Bytes of the database; absent: only the disk limits it. */
  limitBytes?: number | undefined;
  /** Whether a write failed for want of room: then a step is made at any size. */
  isFull?: boolean;
}

/** Findings of a step if the database is nearly full. */
export interface Shortage {
  databaseBytes: number;
  /** Milestones before the ledger's whose states can be asked for, after the step. */
  kept: number;
}

/**
 * Takes one step; the next one continues. Throws a LedgerMoved if somebody else wrote meanwhile,
 * and a LedgerDamaged, noted in the head, if changes of NFTs are not those that were counted, or a
 * milestone is beyond the ledger's.
 *
 * @param retention milestones before the ledger's whose states can be asked for
 * @returns undefined if there is room
 */
export async function prune(
  db: Database,
  retention: number,
  options: PruneOptions = {},
): Promise<Shortage | undefined> {
  const { generation } = options;
  return notingDamage(db, { generation }, () => pruneStep(db, retention, options));
}

async function pruneStep(db: Database, retention: number, options: PruneOptions) {
  const { limitBytes, isFull = false } = options;
  const removed = await deleteOld(db, retention, options);
  if (removed?.head === undefined) return undefined;
  const { packs, first } = removed;
  let { head } = removed;
  let deleted = packs.value.length;
  for (let steps = 1; deleted === PACK_STEP && steps < MAX_PACK_STEPS; steps++)
    deleted = (await readAlone(deleteOldPacks(db, PACK_STEP, MAY_DELETE))).length;

  const { bytes } = packs;
  const isShort = isFull || shareUsed({ bytes, limitBytes }) > SHRINK_AT;
  let kept = head.ledger - (first ?? head.ledger);
  // the size does not tell what to do before all packs of deleted milestones are gone
  if (isShort && kept > MIN_RETENTION && deleted !== PACK_STEP) {
    const fewer = Math.max(MIN_SHRINK, Math.ceil(kept * SHRINK_BY));
    const shrunk = await deleteOld(db, Math.max(MIN_RETENTION, kept - fewer), options);
    if (shrunk?.head === undefined) return undefined;
    head = shrunk.head;
    // an import may have come since the batch before
    kept = head.ledger - (shrunk.first ?? head.ledger);
  }
  const { ledger, idTables } = head;
  const effective = isShort ? Math.min(retention, Math.max(kept, MIN_RETENTION)) : retention;
  // a retention that was lowered takes several steps to be reached: until then more is kept
  const { idRetention = Math.max(effective, kept) * ID_RETENTION } = options;
  const due = turnOver(idTables, ledger, Math.max(effective, 1), idRetention);
  if (due !== undefined) {
    const { tables, drop, forgotten = head.forgotten } = due;
    const statements = [
      moveHead(db, head, {
        idTables: tables,
        forgotten,
        integrity: turnIntegrity(head.integrity, idTables, due),
      }),
      ...(drop === undefined ? [] : await emptyTable(db, idTableName(drop))),
    ];
    await runFenced(db, { writes: write(statements) });
  }
  return isShort ? { databaseBytes: bytes, kept } : undefined;
}

/** A step; undefined without a ledger. */
async function deleteOld(db: Database, keep: number, { carry, step = STEP }: PruneOptions) {
  const first = one(db.prepare(SELECT_FIRST), (row) => {
    // the head of an earlier moment, or a milestone that is not the ledger's
    if (row.integerOrNull('beyond') === 1)
      throw new LedgerDamaged('rows of the tables head and milestone');
    return row.integerOrNull('first');
  });
  const remove = (kept: number, history: number) => ({
    head: selectHead(db),
    counted: many(db.prepare(SELECT_COUNTED).bind(step, kept), countedFromRow),
    rows: write([
      db.prepare(DELETE_MILESTONES).bind(step, kept, history),
      db.prepare(DELETE_RESTS).bind(step),
      db.prepare(DELETE_PARTS).bind(step),
      db.prepare(DELETE_BURNED),
      db.prepare(DELETE_CHANGES),
    ]),
    packs: withSize(deleteOldPacks(db, PACK_STEP, MAY_DELETE)),
    first,
  });
  if (carry === undefined) {
    const removed = await readBatch(db, remove(keep, 0));
    if (!removed.head?.history) return removed;
    await endHistories(db, removed.head);
    return readBatch(db, remove(keep, 0));
  }
  const now = await readBatch(db, { head: selectHead(db), first });
  if (now.head === undefined || now.first === null) return undefined;
  const { head, first: oldest } = now;
  // an import, or another follower that prunes, is no damage
  const { fence, inserts, last, history } = await unlessMoved(db, head, oldest, () =>
    carry(db, head, oldest, head.ledger - keep, step),
  );
  const kept = fence.length === 0 ? NONE_OLD : head.ledger - last;
  return runFenced(db, {
    fence: write(fence),
    ...remove(kept, history),
    inserts: write(inserts),
  });
}

/** Outputs of NFTs that pruned milestones spent, if a module keeps them. */
export const PAST_TABLE = 'nft_past';

/** Empties nft_past: from then on histories are as long as milestones are kept. */
async function endHistories(db: Database, head: Head): Promise<void> {
  const { fingerprints, scrub, ...rest } = head.integrity;
  const { [PAST_TABLE]: _, ...others } = fingerprints;
  const integrity = {
    ...rest,
    fingerprints: others,
    ...(scrub && scrub.table !== PAST_TABLE && { scrub }),
  };
  const statements = [
    moveHead(db, head, { history: 0, integrity }),
    ...(await emptyTable(db, PAST_TABLE)),
  ];
  await runFenced(db, { writes: write(statements) });
}
