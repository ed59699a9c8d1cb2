/**
 * A final ledger of made-up outputs in a database in memory, with its trees, and the answers to
 * questions about it as a client gets them.
 */
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { buildFinalLedger } from '../../../src/modules/final/build-final-ledger.ts';
import type { Layout } from '../../../src/modules/final/final-tables.ts';
import { proveFinal, readFinalLedger } from '../../../src/modules/final/prove-final.ts';
import {
  type FinalTreeName,
  finalLedgerToJson,
  finalProofToJson,
} from '../../../src/stardust/proof/final-ledger.ts';
import { MADE_INDEX, madeSnapshot } from '../cli/made-snapshot.ts';
import { asFile } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import type { Random } from '../network/random.ts';

/** Pages of 32 leaves. */
export const SMALL: Layout = { groupLeaves: 2, rangeGroups: 2, pageRanges: 8 };

export interface MadeLedger {
  db: SqliteDatabase;
  /** Hex digits of the keys, in order. */
  keys: Record<FinalTreeName, string[]>;
  /** The final root. */
  root: Uint8Array;
  /** What the root commits to, as JSON. */
  ledger: unknown;
  /** The answer about a key of hex digits, as parsed JSON. */
  ask(tree: FinalTreeName, key: string): Promise<Record<string, unknown>>;
}

/** @param ofOne how many outputs belong to one address ({@link madeSnapshot}) */
export async function madeFinalLedger(
  outputs: number,
  sha256?: string,
  ofOne = 0,
): Promise<MadeLedger> {
  const db = await openMemory();
  await loadSnapshot(db, asFile(madeSnapshot(outputs, ofOne)), undefined, { sha256 });
  await buildWhole(db, MADE_INDEX);
  const found = await readFinalLedger(db, MADE_INDEX);
  if (!found.ok) throw new Error('the trees are not built');
  const keysOf = async (table: string) =>
    (await db.prepare(`SELECT id FROM ${table} ORDER BY id`).all<{ id: string }>()).results.map(
      ({ id }) => id,
    );
  return {
    db,
    keys: { outputs: await keysOf('output'), nfts: await keysOf('nft') },
    root: found.root,
    ledger: finalLedgerToJson(found.ledger),
    async ask(tree, key) {
      const answer = await proveFinal(db, MADE_INDEX, tree, key, SMALL);
      if (!answer.ok) throw new Error('there is no final ledger');
      return JSON.parse(JSON.stringify(finalProofToJson(answer.ledger, answer.proof)));
    },
  };
}

/** Builds the trees page by page, as several passes do. Returns the number of calls. */
export async function buildWhole(db: Database, finalMilestone: number): Promise<number> {
  for (let calls = 1; ; calls++)
    if (await buildFinalLedger(db, finalMilestone, 1, SMALL)) return calls;
}

/** A key that no record has: next to one that is there, or anywhere. */
export function absentKey(keys: readonly string[], length: number, random: Random): string {
  for (;;) {
    const near = keys[random.below(keys.length)];
    const digit = () => random.below(16).toString(16);
    const key =
      near === undefined || random.chance(0.3)
        ? Array.from({ length: 2 * length }, digit).join('')
        : near.slice(0, -1) + digit();
    if (!keys.includes(key)) return key;
  }
}
