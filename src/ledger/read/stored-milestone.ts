/**
 * Milestones by index or by ID, as long as they are kept, and what each changed in the ledger.
 */

import { fromBase64, toHexDigits } from '../../stardust/encoding/bytes.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { outputId } from '../../stardust/wire/ids.ts';
import { type Milestone, receiptOf } from '../../stardust/wire/milestone.ts';
import { migratedOutputs } from '../../stardust/wire/receipt.ts';
import { requireBlockId } from '../core/checksum.ts';
import { type Database, runBatch } from '../core/database.ts';
import { milestoneEntry, selectIds } from '../core/id-index.ts';
import { readPayload } from '../core/milestone-payload.ts';
import { isPartOf } from '../core/packs.ts';
import { requireSchemaOf, SELECT_SCHEMA } from '../core/schema.ts';
import {
  orderedBlocks,
  type ReferencedBlock,
  selectBytesOf,
  selectPacksOf,
  selectParts,
} from './referenced-blocks.ts';

/** A milestone as a request names it; the ID as 64 hex digits. */
export type MilestoneName = { index: number } | { id: string };

export interface StoredMilestone {
  index: number;
  /** The payload, its type first. */
  payload: Uint8Array;
  /** The ledger index at which it was read. */
  ledgerIndex: number;
}

/** What a milestone changed. IDs are 68 hex digits, in their order. */
export interface LedgerChanges {
  index: number;
  /** Outputs that were consumed within the milestone stand in both lists. */
  created: string[];
  consumed: string[];
  ledgerIndex: number;
}

/**
 * The milestone's own index where it is named by ID: ?1 its entry in the index of IDs, ?2 the ID.
 */
const NAMED = `
  SELECT milestone FROM (${selectIds('json_array(?1)')})
  UNION ALL SELECT idx FROM milestone WHERE idx = (SELECT start FROM head) AND id = ?2`;

const COLUMNS = 'SELECT m.idx, m.id, m.payload, h.ledger, h.start FROM milestone m, head h';

const SELECT_BY_INDEX = `${COLUMNS} WHERE m.idx = ?1 AND m.payload IS NOT NULL`;

const SELECT_BY_ID = `${COLUMNS} WHERE m.idx = (${NAMED} LIMIT 1) AND m.id = ?2 AND m.payload IS NOT NULL`;

function selectMilestone(db: Database, name: MilestoneName): D1PreparedStatement {
  return 'index' in name
    ? db.prepare(SELECT_BY_INDEX).bind(name.index)
    : db.prepare(SELECT_BY_ID).bind(milestoneEntry(name.id), name.id);
}

/**
 * The index of the milestone with this ID: one that was applied here, or that of the snapshot.
 * Undefined of others, and where the ID is forgotten.
 */
export async function findMilestone(db: Database, id: string): Promise<number | undefined> {
  const [heads, rows] = await runBatch(db, [
    db.prepare(SELECT_SCHEMA),
    db.prepare(NAMED).bind(milestoneEntry(id), id),
  ]);
  requireSchemaOf(heads);
  const row = rows![0];
  return row && Number(row.milestone);
}

/** Undefined where the milestone is not known, its payload never came, or it is pruned. */
export async function readMilestone(
  db: Database,
  name: MilestoneName,
): Promise<StoredMilestone | undefined> {
  const [heads, rows] = await runBatch(db, [db.prepare(SELECT_SCHEMA), selectMilestone(db, name)]);
  requireSchemaOf(heads);
  const row = rows![0];
  return row && milestoneFromRow(row);
}

function milestoneFromRow(row: Record<string, unknown>): StoredMilestone {
  return {
    index: Number(row.idx),
    payload: readPayload(row).bytes,
    ledgerIndex: Number(row.ledger),
  };
}

/** The IDs of the outputs that the milestone ?1 spent. */
const SELECT_SPENT = `
  SELECT (SELECT json_group_array(s.value ->> 0) FROM json_each(m.spent) s) AS spent
  FROM milestone_part m WHERE ${isPartOf('m.key', '?1')} ORDER BY m.key`;

/** Undefined where the milestone was not applied here, or is pruned. */
export async function readLedgerChanges(
  db: Database,
  name: MilestoneName,
): Promise<LedgerChanges | undefined> {
  const found = await readMilestone(db, name);
  if (found === undefined) return undefined;
  const { index } = found;
  const [rows, spent, parts, packs, contents] = await runBatch(db, [
    db.prepare(SELECT_BY_INDEX).bind(index),
    db.prepare(SELECT_SPENT).bind(index),
    db.prepare(selectParts('?1')).bind(index),
    db.prepare(selectPacksOf('?1')).bind(index),
    db.prepare(selectBytesOf('?1')).bind(index),
  ]);
  const row = rows![0];
  if (row === undefined || index <= Number(row.start)) return undefined;
  const { value } = readPayload(row);
  const applied = orderedBlocks(parts!, packs!).filter(({ reason }) => reason === 0);
  const created = parseBlocks(applied, contents!).flatMap(createdOutputs);
  return {
    index,
    created: [...created, ...migratedIds(value, String(row.id))].sort(),
    consumed: spent!.flatMap((part) => JSON.parse(String(part.spent)) as string[]).sort(),
    ledgerIndex: Number(row.ledger),
  };
}

function parseBlocks(
  blocks: readonly ReferencedBlock[],
  contents: readonly Record<string, unknown>[],
): ParsedBlock[] {
  const stored = new Map(
    contents.map(({ key, bytes }) => [Number(key), JSON.parse(String(bytes)) as string[]]),
  );
  return blocks.map(({ id, pack, at }) => {
    const bytes = fromBase64(stored.get(pack)![at]!);
    requireBlockId(bytes, id);
    const result = parseBlock(bytes);
    if (!result.ok) throw new Error(`the stored block 0x${id} breaks ${result.reason}`);
    return result.parsed;
  });
}

function createdOutputs({ transaction }: ParsedBlock): string[] {
  const { id, value } = transaction!;
  return value.essence.outputs.map((_, position) => toHexDigits(outputId(id, position)));
}

/** @param id of the milestone, hex */
function migratedIds(value: Milestone, id: string): string[] {
  const receipt = receiptOf(value);
  if (receipt === undefined) return [];
  return migratedOutputs(receipt, Uint8Array.fromHex(id)).map((output) => toHexDigits(output.id));
}
