/**
 * Builds the trees over a final ledger (docs/final-ledger.md), page by page. Each page is one
 * fenced write, so a build that is cut off goes on behind the last page.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import { type Database, forEachPiece } from '../../ledger/core/database.ts';
import { failUnless, runFenced, SAME_LEDGER } from '../../ledger/core/fence.ts';
import { many, readAlone, readQuery, write } from '../../ledger/core/read-batch.ts';
import { type Cell, rowSum } from '../../ledger/core/row-sum.ts';
import { lookTwice, notingDamage } from '../../ledger/core/write-head.ts';
import { concatBytes, toHexDigits } from '../../stardust/encoding/bytes.ts';
import {
  type FinalTree,
  type FinalTreeName,
  finalRoot,
} from '../../stardust/proof/final-ledger.ts';
import { leafHash, merkleRootOfLeaves } from '../../stardust/proof/merkle.ts';
import {
  type FinalPage,
  type FinalState,
  LAYOUT,
  type Layout,
  LEAVES,
  type Subtree,
  selectFinal,
  selectPages,
  writeSubtrees,
} from './final-tables.ts';

/**
 * Pages of one call: at 65,536 outputs each some 5 s of CPU, of 30 s that the platform allows, and
 * 256 of its 1,000 queries. The same pass may fill the index of lists.
 */
const MOST_PAGES = 4;

/** Leaves that one query reads: 1 MB as a rule, 45 MB if every output is as long as a block. */
const LEAVES_AT_ONCE = 1024;

/** SQL: the tree ?3 has ?4 pages; another builder may have added some. */
const SAME_PAGES = '(SELECT count(*) FROM final_page WHERE milestone = ?2 AND tree = ?3) = ?4';

/** SQL: no builder stored the root. */
const NO_ROOT = 'NOT EXISTS (SELECT 1 FROM final_root WHERE milestone = ?2)';

/** SQL: the trees have ?3 leaves; another builder may have deleted some. */
const SAME_LEAVES = '(SELECT coalesce(sum(leaves), 0) FROM final_page WHERE milestone = ?2) = ?3';

const INSERT_PAGE = `
  INSERT INTO final_page (milestone, tree, page, first, last, leaves, amount, nfts, root, sum, ranges)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`;

const INSERT_ROOT = `
  INSERT OR REPLACE INTO final_root
    (one, milestone, outputs, output_root, nfts, nft_root, root)
  VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)`;

/** The ranges ?1 of a page: JSON of [first key, groups]. */
const INSERT_RANGES = `
  INSERT INTO final_range (milestone, tree, first, groups)
  SELECT ?2, ?3, value ->> 0, value ->> 1 FROM json_each(?1)`;

/** Deletes rows of a milestone that was taken for the final one before, and of the tree ?2. */
const DELETE_OTHERS = ['final_page', 'final_range'].map(
  (table) => `DELETE FROM ${table} WHERE milestone <> ?1 OR tree = ?2`,
);

/**
 * Builds what is missing, up to a number of pages. Returns true if the trees are whole, or the
 * ledger is not at its final milestone. Throws a LedgerMoved if the ledger was replaced or somebody
 * else builds too, and a LedgerDamaged, noted in the head, if outputs or NFTs are missing: the root
 * would be wrong.
 */
export async function buildFinalLedger(
  db: Database,
  finalMilestone: number | undefined,
  mostPages: number = MOST_PAGES,
  layout: Layout = LAYOUT,
): Promise<boolean> {
  if (finalMilestone === undefined) return true;
  const { state } = await readQuery(db, selectFinal(db, finalMilestone));
  if (state === undefined || state.built !== undefined) return true;
  const budget = { pages: mostPages };
  const { head, supply } = state;
  const build = async () => {
    const outputs = await buildTree(db, state, 'outputs', budget, layout);
    if (outputs === undefined) return false;
    const nfts = await buildTree(db, state, 'nfts', budget, layout);
    if (nfts === undefined) return false;
    // E.5, in uint64, as receipts are
    const held = BigInt.asUintN(64, outputs.amount + head.treasury.amount);
    if (held !== supply) throw new LedgerDamaged(`rows of the table output (${held} of ${supply})`);
    if (outputs.nfts !== nfts.count)
      throw new LedgerDamaged(`rows of the table nft (${nfts.count}, of ${outputs.nfts} outputs)`);
    await storeRoot(db, state, { outputs, nfts });
    return true;
  };
  return notingDamage(db, head, () => lookTwice(build));
}

/** A tree, with the base tokens on its outputs, and how many of them are NFTs. */
type BuiltTree = FinalTree & Pick<FinalPage, 'amount' | 'nfts'>;

/** Undefined if the budget is spent before the tree is whole. */
async function buildTree(
  db: Database,
  state: FinalState,
  tree: FinalTreeName,
  budget: { pages: number },
  layout: Layout,
): Promise<BuiltTree | undefined> {
  const { generation, ledger } = state.head;
  const pages = await readAlone(selectPages(db, ledger, tree)).catch(async (error: unknown) => {
    if (!(error instanceof LedgerDamaged)) throw error;
    // they follow from the ledger, which may be whole, and are built again
    await runFenced(db, {
      deleted: write([
        db.prepare(failUnless(`${SAME_LEDGER} AND ${NO_ROOT}`)).bind(generation, ledger),
        ...DELETE_OTHERS.map((sql) => db.prepare(sql).bind(ledger, tree)),
      ]),
    });
    return [] as FinalPage[];
  });
  const isFull = (page: FinalPage) => page.leaves === pageLeaves(layout);
  while (pages.every(isFull)) {
    if (budget.pages === 0) return undefined;
    const page = await buildPage(db, state, tree, pages, layout);
    if (page === undefined) break;
    budget.pages--;
    pages.push(page);
  }
  return {
    count: pages.reduce((sum, { leaves }) => sum + leaves, 0),
    amount: pages.reduce((sum, { amount }) => sum + amount, 0n),
    nfts: pages.reduce((sum, { nfts }) => sum + nfts, 0),
    root: rootOver(pages.map(({ root }) => root)),
  };
}

/** Stores the page behind these; undefined if no leaves are left. */
async function buildPage(
  db: Database,
  { head: { generation, ledger } }: FinalState,
  tree: FinalTreeName,
  pages: readonly FinalPage[],
  layout: Layout,
): Promise<FinalPage | undefined> {
  const ranges: Subtree[] = [];
  const rows: [first: string, groups: string][] = [];
  let groups: Subtree[] = [];
  let hashes: Uint8Array[] = [];
  let [first, last] = ['', pages.at(-1)?.last ?? ''];
  let [leaves, amount, nfts] = [0, 0n, 0];
  const endGroup = () => {
    if (hashes.length > 0) groups.push({ first, root: rootOver(hashes) });
    hashes = [];
  };
  const endRange = () => {
    if (groups.length > 0) {
      const range = { first: groups[0]!.first, root: rootOver(groups.map(({ root }) => root)) };
      ranges.push(range);
      rows.push([range.first, writeSubtrees(groups)]);
    }
    groups = [];
  };
  const most = pageLeaves(layout);
  for (let read = 1; read > 0 && leaves < most; leaves += read) {
    const limit = Math.min(LEAVES_AT_ONCE, most - leaves);
    const statement = db.prepare(LEAVES[tree].behind).bind(last, limit);
    const found = await readAlone(many(statement, LEAVES[tree].parse));
    read = found.length;
    for (const { key, record, ...output } of found) {
      if (hashes.length === 0) first = key;
      hashes.push(leafHash(record));
      if (hashes.length === layout.groupLeaves) endGroup();
      if (groups.length === layout.rangeGroups) endRange();
      last = key;
      amount += output.amount;
      if (output.isNftOutput) nfts++;
    }
  }
  endGroup();
  endRange();
  if (ranges.length === 0) return undefined;
  const root = rootOver(ranges.map((range) => range.root));
  const page = { first: ranges[0]!.first, last, leaves, amount, nfts, root };
  const cells: Cell[] = [
    ...[ledger, tree, pages.length, page.first],
    ...[last, leaves, String(amount), nfts, toHexDigits(root)],
  ];
  await runFenced(db, {
    page: write([
      db
        .prepare(failUnless(`${SAME_LEDGER} AND ${SAME_PAGES}`))
        .bind(generation, ledger, tree, pages.length),
      ...DELETE_OTHERS.map((sql) => db.prepare(sql).bind(ledger, null)),
      db.prepare(INSERT_PAGE).bind(...cells, rowSum(cells), writeSubtrees(ranges)),
      ...forEachPiece(db, INSERT_RANGES, rows, ledger, tree),
    ]),
  });
  return page;
}

function pageLeaves({ groupLeaves, rangeGroups, pageRanges }: Layout): number {
  return groupLeaves * rangeGroups * pageRanges;
}

/** Hashes nodes of one level (B.13). */
const rootOver = (hashes: readonly Uint8Array[]): Uint8Array =>
  merkleRootOfLeaves(concatBytes(...hashes), hashes.length);

async function storeRoot(
  db: Database,
  { head: { generation, ledger }, parameters: { networkName }, milestoneId }: FinalState,
  trees: Readonly<Record<FinalTreeName, FinalTree>>,
): Promise<void> {
  const root = finalRoot({ networkName, milestoneIndex: ledger, milestoneId, ...trees });
  const { outputs, nfts } = trees;
  const cells: Cell[] = [
    ...[ledger, outputs.count, toHexDigits(outputs.root)],
    ...[nfts.count, toHexDigits(nfts.root), toHexDigits(root)],
  ];
  await runFenced(db, {
    root: write([
      db
        .prepare(failUnless(`${SAME_LEDGER} AND ${SAME_LEAVES}`))
        .bind(generation, ledger, outputs.count + nfts.count),
      db.prepare(INSERT_ROOT).bind(...cells),
    ]),
  });
}
