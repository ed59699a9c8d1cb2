/** A ledger in D1 or SQLite, as far as the index sees it. */
import type { Database } from '../../../src/ledger/core/database.ts';
import { insertHead, insertMilestone } from '../../../src/ledger/core/write-head.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import type { IndexLedger, NftRow } from '../../../src/nft-index/ports.ts';
import { sealRows } from '../ledger/seal-rows.ts';
import { testHead, testMilestone } from '../ledger/test-head.ts';

export interface TestLedger {
  index: IndexLedger;
  /** Replaces whatever there was. */
  import(generation: string, start: number, nfts: readonly NftRow[]): Promise<void>;
  /** The next milestone. */
  apply(changes: readonly NftRow[]): Promise<void>;
  /** One step of pruning that keeps no milestone but the ledger's. */
  prune(): Promise<void>;
  removeLedger(): Promise<void>;
  removeState(): Promise<void>;
}

export const nftId = (name: string) => name.padEnd(64, name);
export const outputId = (name: string) => name.padEnd(68, name);

/** ?1 JSON of the rows. Their milestone is the ledger's index. */
const UPSERT_NFTS = `
  INSERT INTO nft (id, output, changed)
  SELECT j.value ->> 'nft', j.value ->> 'output', h.ledger FROM json_each(?1) j, head h WHERE true
  ON CONFLICT (id) DO UPDATE SET output = excluded.output, changed = excluded.changed`;

/** Of those that are not burned. */
const PLACE_OUTPUTS = `
  INSERT OR REPLACE INTO output (id, chain, bytes, block, created, created_time, sum)
  SELECT j.value ->> 'output', j.value ->> 'nft', '', '', 0, 0, 0 FROM json_each(?1) j
  WHERE j.value ->> 'output' IS NOT NULL`;

const LOG_CHANGES = `
  INSERT INTO nft_change (milestone, part, nfts)
  SELECT h.ledger, (SELECT count(*) FROM nft_change c WHERE c.milestone = h.ledger),
    json_group_array(j.value ->> 'nft')
  FROM head h CROSS JOIN json_each(?1) j GROUP BY h.ledger`;

/** Rows in the JSON of one parameter. */
const PIECE = 5_000;

export function openTestLedger(db: Database): TestLedger {
  const forPieces = (sql: string, rows: readonly NftRow[]) =>
    Array.from({ length: Math.ceil(rows.length / PIECE) }, (_, i) =>
      db.prepare(sql).bind(JSON.stringify(rows.slice(i * PIECE, (i + 1) * PIECE))),
    );
  return {
    index: openIndexLedger(db),
    async import(generation, start, nfts) {
      const cleared = ['head', 'milestone', 'nft', 'nft_change', 'output'].map((table) =>
        db.prepare(`DELETE FROM ${table}`),
      );
      await db.batch([
        ...cleared,
        insertHead(db, testHead(generation, start)),
        insertMilestone(db, testMilestone(start, 0)),
        ...forPieces(UPSERT_NFTS, nfts),
        ...forPieces(PLACE_OUTPUTS, nfts),
      ]);
    },
    async apply(changes) {
      const move = db.prepare('UPDATE head SET ledger = ledger + 1');
      await db.batch([
        move,
        db
          .prepare('UPDATE milestone SET idx = idx + 1, nft_changes = nft_changes + ?1')
          .bind(changes.length),
        ...forPieces(UPSERT_NFTS, changes),
        ...forPieces(PLACE_OUTPUTS, changes),
        ...forPieces(LOG_CHANGES, changes),
      ]);
      await sealRows(db, 'head', 'milestone');
    },
    async prune() {
      await prune(db, 0);
    },
    async removeLedger() {
      await db.prepare('DELETE FROM head').run();
    },
    async removeState() {
      await db.prepare('DELETE FROM nft_index').run();
    },
  };
}

/** Makes the publisher's row what the migrations made it. */
export async function resetState(db: Database): Promise<void> {
  await db.prepare("INSERT OR REPLACE INTO nft_index VALUES (1, '', '', '{}', 0)").run();
  await sealRows(db, 'nft_index');
}
