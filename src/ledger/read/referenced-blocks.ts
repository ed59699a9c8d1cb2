/**
 * The blocks that a milestone references, in white-flag order: its parts name them by number, and
 * the packs that hold them say the rest.
 */

import { fromBase64 } from '../../stardust/encoding/bytes.ts';
import { requireChecksum } from '../core/checksum.ts';
import { selectIds } from '../core/id-index.ts';
import {
  type BlockRow,
  isPartOf,
  NO_REASON,
  readChecksums,
  readNumbers,
  Statuses,
} from '../core/packs.ts';

export interface ReferencedBlock {
  /** Hex. */
  id: string;
  /** Payload type (docs/protocol.md, A.1), 0 for none. */
  payload: number;
  /** Of a transaction: 0 where it was applied. Undefined for the other blocks. */
  reason: number | undefined;
  /** The key of its pack, and its place there. */
  pack: number;
  at: number;
}

/** SQL of the index of the milestone that references the block ?1; NULL where none does. */
export const FIND_MILESTONE = `(SELECT f.milestone FROM (${selectIds('json_array(?1)')}) f LIMIT 1)`;

/** SQL that selects the parts of a milestone: `blocks`. `milestone`: SQL of its index. */
export function selectParts(milestone: string): string {
  return `
    SELECT m.blocks FROM milestone_part m WHERE ${isPartOf('m.key', milestone)} ORDER BY m.key`;
}

/** SQL of the keys of the packs that hold its blocks. */
function selectKeys(milestone: string): string {
  return `
    SELECT k.value FROM milestone_part m CROSS JOIN json_each(m.packs) k
    WHERE ${isPartOf('m.key', milestone)}`;
}

/** SQL that selects the packs which hold its blocks: `key`, `statuses`, `sums`, `blocks`. */
export function selectPacksOf(milestone: string): string {
  return `
    SELECT p.key, p.statuses, p.sums, p.blocks FROM pack p
    WHERE p.key IN (${selectKeys(milestone)})`;
}

/** SQL that selects the bytes of all blocks of those packs: `key`, `bytes`. */
export function selectBytesOf(milestone: string): string {
  return `SELECT p.key, p.bytes FROM pack p WHERE p.key IN (${selectKeys(milestone)})`;
}

/** The bytes of the block ?1 that a milestone references; packs that do not name it are skipped. */
export const SELECT_BYTES = `
  SELECT p.bytes ->> ('$[' || b.key || ']') AS bytes
  FROM pack p CROSS JOIN json_each(p.blocks) b
  WHERE p.key IN (${selectKeys(FIND_MILESTONE)}) AND instr(p.blocks, '"' || ?1 || '"') > 0
    AND b.value ->> 1 = ?1`;

/**
 * In white-flag order; empty where the milestone has no parts. Throws an Error where a part names a
 * block that is in no pack.
 *
 * @param parts rows of selectParts
 * @param packs rows of selectPacksOf
 */
export function orderedBlocks(
  parts: readonly Record<string, unknown>[],
  packs: readonly Record<string, unknown>[],
): ReferencedBlock[] {
  const byNumber = new Map<number, ReferencedBlock>();
  for (const row of packs) {
    const pack = Number(row.key);
    const bytes = fromBase64(String(row.statuses));
    requireChecksum(bytes, readChecksums(String(row.sums)).statuses, `statuses of pack ${pack}`);
    const statuses = new Statuses(bytes);
    for (const [at, [number, id, payload]] of readBlockRows(row.blocks).entries()) {
      const { reason } = statuses.at(at);
      const known = reason === NO_REASON ? undefined : reason;
      byNumber.set(number, { id, payload, reason: known, pack, at });
    }
  }
  return parts.flatMap(({ blocks }) =>
    readNumbers(String(blocks)).map((number) => {
      const block = byNumber.get(number);
      if (block === undefined) throw new Error(`block number ${number} is in no pack`);
      return block;
    }),
  );
}

export function readBlockRows(text: unknown): BlockRow[] {
  return JSON.parse(String(text));
}
