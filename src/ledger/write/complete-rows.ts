/**
 * Completing packs: blocks that were stored before anything kept output_detail lack the rows of
 * what they create (docs/storage.md#lists-of-every-kind). They are made before a milestone that
 * creates such outputs is applied.
 */

import { decodeOutput } from '../../stardust/wire/ids.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { readOutputBytes } from '../core/output-bytes.ts';
import type { OutputRow } from '../core/packs.ts';
import { first, readAlone, readQuery, write } from '../core/read-batch.ts';
import { packedListRow } from '../output-list/list-rows.ts';

const SELECT_PACK = `
  SELECT p.outputs, c.outputs AS contents, c.details
  FROM pack p JOIN pack_content c ON c.key = p.key WHERE p.key = ?1`;

/** Blocks may be appended or dropped meanwhile. */
const UPDATE_DETAILS = 'UPDATE pack_content SET details = ?2 WHERE key = ?1 AND details = ?3';

/** Throws a LedgerMoved where a pack changes meanwhile. @param packs their keys */
export async function completeRows(db: Database, packs: readonly number[]): Promise<void> {
  for (const key of new Set(packs)) {
    const pack = first(db.prepare(SELECT_PACK).bind(key), (row) => ({
      outputs: JSON.parse(row.text('outputs')) as OutputRow[][],
      contents: JSON.parse(row.text('contents')) as (string | null)[][],
      details: row.text('details'),
    }));
    const found = await readAlone(pack);
    if (found === undefined) throw new LedgerDamaged('rows of the table pack_content');
    const { outputs, contents, details } = found;
    const rows = contents.map((created, at) =>
      created.map((content, i) => {
        if (content === null) return null;
        const id = outputs[at]![i]![1];
        return packedListRow(decodeOutput(readOutputBytes(content, id)), id);
      }),
    );
    const update = db.prepare(UPDATE_DETAILS).bind(key, JSON.stringify(rows), details);
    const [changed] = await readQuery(db, write([update]));
    if (changed !== 1) throw new LedgerMoved(`pack ${key} changed while it was read`);
  }
}
