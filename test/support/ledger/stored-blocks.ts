/**
 * The blocks that are stored in D1, one by one: as tests look at them.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import { Row } from '../../../src/ledger/core/read-batch.ts';
import { readBlockRows } from '../../../src/ledger/packs/id-rows.ts';
import { PARTS, readNumbers } from '../../../src/ledger/packs/milestone-part.ts';
import { NO_REASON, walkedPackFromRow } from '../../../src/ledger/packs/pack-columns.ts';
import { readCone } from '../../../src/ledger/packs/record-cone.ts';

export interface StoredBlock {
  /** Hex without 0x. */
  id: string;
  number: number;
  /** The milestone that references it, null while none does. */
  milestone: number | null;
  /** White-flag index in that milestone. */
  position: number | null;
  /** Of a transaction that a milestone references. */
  reason: number | null;
  /** Payload type, 0 without one. */
  payload: number;
  record: Uint8Array;
  /** Base64. */
  bytes: string;
}

/** All of them, those of milestones first. */
export async function storedBlocks(db: Database): Promise<StoredBlock[]> {
  const packs = (
    await db
      .prepare('SELECT p.*, c.bytes FROM pack p JOIN pack_content c USING (key) ORDER BY key')
      .all()
  ).results;
  const parts = (await db.prepare('SELECT * FROM milestone_part ORDER BY key').all()).results;
  const positions = new Map<number, number>();
  const counts = new Map<number, number>();
  for (const { key, blocks } of parts) {
    const milestone = Math.floor(Number(key) / PARTS);
    for (const number of readNumbers(String(blocks))) {
      const position = counts.get(milestone) ?? 0;
      counts.set(milestone, position + 1);
      positions.set(number, position);
    }
  }
  const stored = packs.flatMap((row) => {
    const { records, statuses } = walkedPackFromRow(new Row(row));
    const cone = readCone([records]);
    const bytes = JSON.parse(String(row.bytes)) as string[];
    return readBlockRows(String(row.blocks)).map(([number, id, payload], at): StoredBlock => {
      const { milestone, reason } = statuses.at(at);
      return {
        id,
        number,
        payload,
        milestone: milestone || null,
        position: milestone ? positions.get(number)! : null,
        reason: milestone && reason !== NO_REASON ? reason : null,
        record: cone.recordAt(at),
        bytes: bytes[at]!,
      };
    });
  });
  const order = ({ milestone, position, number }: StoredBlock): [number, number] =>
    milestone === null ? [Number.POSITIVE_INFINITY, number] : [milestone, position!];
  return stored.sort((a, b) => {
    const [[x, y], [z, w]] = [order(a), order(b)];
    return x === z ? y - w : x - z;
  });
}

/** The block with this hex ID (with or without 0x) where it is stored. */
export async function storedBlock(db: Database, id: string): Promise<StoredBlock | undefined> {
  const digits = id.replace(/^0x/, '');
  return (await storedBlocks(db)).find((block) => block.id === digits);
}

/** What the index of IDs says: the milestone of each ID that is not forgotten. */
export async function indexedIds(db: Database): Promise<Map<string, number>> {
  const tables = [0, 1, 2, 3, 4].map((table) => `SELECT id, milestone FROM id_${table}`);
  const { results } = await db
    .prepare(tables.join(' UNION ALL '))
    .all<{ id: string; milestone: number }>();
  return new Map(results.map(({ id, milestone }) => [id, milestone]));
}

/** Hex IDs of all blocks that the ledger knows, those of which it has only the ID among them. */
export async function knownBlockIds(db: Database): Promise<Set<string>> {
  const ids = [...(await indexedIds(db)).keys()].filter(({ length }) => length === 64);
  return new Set([...ids, ...(await storedBlocks(db)).map(({ id }) => id)]);
}

/** Hex IDs of the outputs that unreferenced blocks wait for. */
export async function awaitedOutputs(db: Database): Promise<string[]> {
  const { results } = await db
    .prepare('SELECT unresolved FROM pack WHERE live = 1')
    .all<{ unresolved: string }>();
  return results.flatMap(({ unresolved }) => JSON.parse(unresolved) as string[]);
}
