/**
 * The blocks that stand in D1, in packs or open, one by one: as tests look at them.
 */
import type { Database } from '../../../src/ledger/database.ts';
import { readPackedBlocks } from '../../../src/ledger/packs.ts';
import { readCone } from '../../../src/stardust/white-flag/cone.ts';

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
  const packs = (await db.prepare('SELECT * FROM pack ORDER BY key').all()).results;
  const open = (await db.prepare('SELECT * FROM open ORDER BY key').all()).results;
  const positions = new Map<number, number>();
  const referenced = packs.flatMap((pack) => {
    const { key, records, blocks, bytes } = pack as Record<string, string>;
    const milestone = Math.floor(Number(key) / 4096);
    const list = JSON.parse(bytes!) as string[];
    const cone = readCone([Uint8Array.fromBase64(records!)]);
    return readPackedBlocks(blocks!).map(({ id, payload, reason }, at): StoredBlock => {
      const position = positions.get(milestone) ?? 0;
      positions.set(milestone, position + 1);
      const number = cone.numberAt(at);
      const record = cone.recordAt(at);
      const facts = { id, payload, milestone, position, reason: reason ?? null };
      return { ...facts, number, record, bytes: list[at]! };
    });
  });
  const left = open.flatMap((pack) => {
    const { records, blocks, bytes } = pack as Record<string, string>;
    const list = JSON.parse(bytes!) as string[];
    const cone = readCone([Uint8Array.fromBase64(records!)]);
    return readOpenRows(blocks!).map(([number, id, payload], at): StoredBlock => {
      const record = cone.recordAt(at);
      const facts = { id, number, payload, milestone: null, position: null, reason: null };
      return { ...facts, record, bytes: list[at]! };
    });
  });
  return [...referenced, ...left];
}

/** Number, hex ID and payload type of each block of an open pack. */
function readOpenRows(blocks: string): [number, string, number][] {
  return JSON.parse(blocks);
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
  const packs = (await db.prepare('SELECT blocks FROM pack').all<{ blocks: string }>()).results;
  const open = (await db.prepare('SELECT blocks FROM open').all<{ blocks: string }>()).results;
  return new Set([
    ...ids,
    ...packs.flatMap(({ blocks }) => readPackedBlocks(blocks).map(({ id }) => id)),
    ...open.flatMap(({ blocks }) => readOpenRows(blocks).map(([, id]) => id)),
  ]);
}

/** Hex IDs of the outputs that open blocks wait for. */
export async function awaitedOutputs(db: Database): Promise<string[]> {
  const { results } = await db.prepare('SELECT waiting FROM open').all<{ waiting: string }>();
  return results.flatMap(({ waiting }) => JSON.parse(waiting) as string[]);
}
