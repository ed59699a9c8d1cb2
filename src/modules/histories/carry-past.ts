/**
 * Pruning's work for HISTORY `all`: outputs that go into nft_past before milestones are deleted
 * (docs/storage.md#histories-of-nfts). The batch that deletes them writes the rows, so each output
 * that held an NFT and was spent is in one of both places, wherever the work is cut off.
 */
import { type Database, forEachPiece } from '../../ledger/core/database.ts';
import { failUnless } from '../../ledger/core/fence.ts';
import { isNftSql } from '../../ledger/core/output-bytes.ts';
import { many, readAlone, readQuery } from '../../ledger/core/read-batch.ts';
import { moveFingerprints } from '../../ledger/core/row-sum.ts';
import { moveHead } from '../../ledger/core/write-head.ts';
import { findLedgerOutputs } from '../../ledger/intake/known-outputs.ts';
import type { Carry } from '../../ledger/ledger-part.ts';
import {
  PARTS,
  readSpentOutput,
  type SpentRow,
  spentSql,
} from '../../ledger/packs/milestone-part.ts';
import { splitIntoParts } from '../../ledger/packs/pack-columns.ts';
import { PAST_TABLE } from '../../ledger/write/prune.ts';
import { type Burn, damagedNft, insertPast, type PastRow, writePastRow } from './held-outputs.ts';

/** Characters of spent outputs that a step searches, or those of one milestone. */
const MAX_SEARCHED = 4_000_000;

/** Transactions of one statement, each of which may lead it to another milestone. */
const BURNS_AT_ONCE = 200;

/** Throws a LedgerDamaged if an output that held an NFT is not what was written. */
export const carryPast: Carry = async (db, head, first, target, most) => {
  const { lengths, last } = await readLengths(db, first, Math.min(target, first + most));
  const history = head.history || first + 1;
  if (last === first && head.history !== 0) return { last, history, fence: [], inserts: [] };
  const { fingerprints } = head.integrity;
  const integrity = { ...head.integrity, fingerprints: { [PAST_TABLE]: 0, ...fingerprints } };
  const mover = moveFingerprints(integrity);
  const inserts: D1PreparedStatement[] = [];
  const limits = { most: lengths.length, length: MAX_SEARCHED };
  for (const parts of splitIntoParts(lengths, ({ length }) => length, limits)) {
    // texts at once: the rows of 100,000 NFTs, which one milestone may spend, would take 90 MB more
    const rows = await readRows(db, parts[0]!.key, parts.at(-1)!.key);
    for (const { key, sum } of rows) mover.move(PAST_TABLE, key, sum);
    inserts.push(...insertPast(db, rows));
  }
  return {
    last,
    history,
    fence: [
      // who keeps no histories prunes without moving the head
      db.prepare(failUnless('(SELECT min(idx) FROM milestone) = ?1')).bind(first),
      moveHead(db, head, { history, integrity: mover.moved() }),
    ],
    inserts,
  };
};

const SELECT_LENGTHS = `
  SELECT key, octet_length(spent) + (
    SELECT coalesce(sum(octet_length(r.bytes)), 0)
    FROM json_each(spent) s CROSS JOIN output_rest r ON r.key = ${spentSql.rest('s.value')}) AS length
  FROM milestone_part
  WHERE key >= ?1 AND key < ?2 ORDER BY key`;

interface PartLength {
  key: number;
  /** Characters. */
  length: number;
}

/** Parts of the milestones after `first` that a step takes, and the last of these milestones. */
async function readLengths(
  db: Database,
  first: number,
  target: number,
): Promise<{ lengths: PartLength[]; last: number }> {
  if (target <= first) return { lengths: [], last: first };
  const statement = db.prepare(SELECT_LENGTHS).bind((first + 1) * PARTS, (target + 1) * PARTS);
  const all = await readAlone(
    many(statement, (row) => ({ key: row.integer('key'), length: row.integer('length') })),
  );
  let searched = 0;
  const excess = all.find(({ key, length }) => {
    searched += length;
    return searched > MAX_SEARCHED && milestoneOfPart(key) > first + 1;
  });
  const last = excess === undefined ? target : milestoneOfPart(excess.key) - 1;
  return { lengths: all.filter(({ key }) => milestoneOfPart(key) <= last), last };
}

const milestoneOfPart = (part: number): number => Math.floor(part / PARTS);

/** Outputs of NFTs in these parts, in the order in which they were spent. */
const SELECT_SPENT_NFTS = `
  SELECT p.key AS part, s.key AS place, ${spentSql.whole('s.value')} AS spent
  FROM milestone_part p CROSS JOIN json_each(p.spent) s
  WHERE p.key >= ?1 AND p.key <= ?2 AND ${isNftSql(spentSql.start('s.value'))} ORDER BY p.key, s.key`;

async function readRows(db: Database, from: number, to: number): Promise<PastRow[]> {
  const statement = db.prepare(SELECT_SPENT_NFTS).bind(from, to);
  const all = await readAlone(
    many(statement, (row) => {
      const spent: SpentRow = JSON.parse(row.text('spent'));
      const { chain, transaction: spender } = readSpentOutput(spent);
      if (chain === null) throw damagedNft();
      const [part, place] = [row.integer('part'), row.integer('place')];
      return { nftId: chain, part, place, milestone: milestoneOfPart(part), spender, spent };
    }),
  );
  const burns = await readBurns(db, all);
  return all.map((each) =>
    writePastRow(each.nftId, each.part, each.place, each.spent, burns.get(each.spent)),
  );
}

interface SpentNft {
  nftId: string;
  milestone: number;
  spender: string;
  spent: SpentRow;
}

/** ?1 NFTs, each with a milestone and a transaction: of those that it burned and did not make. */
const SELECT_BURNED = `
  SELECT n.id FROM json_each(?1) j CROSS JOIN nft n ON n.id = j.value ->> 0
  WHERE n.output IS NULL AND n.changed = j.value ->> 1 AND NOT EXISTS (SELECT 1 FROM output o
    WHERE o.id BETWEEN j.value ->> 2 AND (j.value ->> 2) || 'g' AND o.chain = n.id)`;

/** Reads what burned NFTs, by the output that held each last: a transaction makes a first one. */
async function readBurns(
  db: Database,
  all: readonly SpentNft[],
): Promise<Map<SpentRow, Omit<Burn, 'transactionId'>>> {
  const last = new Map(all.map((each) => [each.nftId, each]));
  const candidates = [...last.values()].map((each) => [each.nftId, each.milestone, each.spender]);
  const burned = await readQuery(
    db,
    many(forEachPiece(db, SELECT_BURNED, candidates), (row) => last.get(row.text('id'))!),
  );
  const made = new Map<string, readonly [milestone: number, Omit<Burn, 'transactionId'>]>();
  const firsts = [...new Set(burned.map(({ spender }) => `${spender}0000`))];
  for (const some of splitIntoParts(firsts, () => 0, { most: BURNS_AT_ONCE })) {
    // without their contents: of all parts these are more than there is room for
    for (const { id, created, block, createdTime } of await readQuery(
      db,
      findLedgerOutputs(db, some),
    ))
      if (created !== undefined && block !== undefined && createdTime !== undefined)
        made.set(id, [created, { blockId: block, timestamp: createdTime }]);
  }
  const burns = new Map<SpentRow, Omit<Burn, 'transactionId'>>();
  for (const { milestone, spender, spent } of burned) {
    const [created, burn] = made.get(`${spender}0000`) ?? [];
    if (created !== milestone || burn === undefined) throw damagedNft();
    burns.set(spent, burn);
  }
  return burns;
}
