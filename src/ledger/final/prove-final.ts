/**
 * Proofs that an output or an NFT is or is not in a final ledger (docs/final-ledger.md), from the
 * stored levels of the trees and one or two ranges of leaves.
 */
import {
  auditPath,
  type FinalEntry,
  type FinalLedger,
  type FinalProof,
  type FinalTreeName,
  finalProofToJson,
  verifyFinalProof,
} from '../../stardust/proof/final-ledger.ts';
import { leafHash } from '../../stardust/proof/merkle.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { unlessMoved } from '../core/fence.ts';
import { first, many, type Row, readAlone, readBatch, readQuery } from '../core/read-batch.ts';
import {
  type FinalPage,
  LAYOUT,
  type Layout,
  LEAVES,
  type Leaf,
  type LeafRange,
  readRanges,
  selectFinal,
  selectPages,
} from './final-tables.ts';

/** Why there is no final ledger to answer from. */
export interface NoFinalLedger {
  ok: false;
  /** Undefined where nothing was imported. */
  ledgerIndex: number | undefined;
  /** Whether the ledger is at its final milestone, and the trees are being built. */
  isBuilding: boolean;
}

export interface FinalStatus {
  ok: true;
  ledger: FinalLedger;
  /** The final root. */
  root: Uint8Array;
  /** Of the file that the ledger was imported from; empty where it is not known. */
  snapshotSha256: string;
}

export interface FinalAnswer {
  ok: true;
  ledger: FinalLedger;
  proof: FinalProof;
}

export async function readFinalLedger(
  db: Database,
  finalMilestone: number,
): Promise<FinalStatus | NoFinalLedger> {
  const { ledgerIndex, state } = await readQuery(db, selectFinal(db, finalMilestone));
  return state?.built === undefined
    ? { ok: false, ledgerIndex, isBuilding: state !== undefined }
    : { ok: true, ...state.built, snapshotSha256: state.head.snapshot };
}

/** The ranges of page ?3 of a tree. */
const SELECT_RANGES = `
  SELECT page, ranges FROM final_page WHERE milestone = ?1 AND tree = ?2 AND page = ?3`;

/** The same of the page with the key ?3, or the place where it would be. */
const SELECT_RANGES_OF = `
  SELECT page, ranges FROM final_page WHERE milestone = ?1 AND tree = ?2 AND first <= ?3
  ORDER BY page DESC LIMIT 1`;

/**
 * Proves that the ledger has or lacks the record with this key, an output ID or an NFT ID. Throws a
 * LedgerDamaged unless the proof leads to the stored root, a LedgerMoved where an import replaced the
 * ledger meanwhile.
 *
 * @param key lower-case hex digits
 */
export async function proveFinal(
  db: Database,
  finalMilestone: number,
  tree: FinalTreeName,
  key: string,
  layout: Layout = LAYOUT,
): Promise<FinalAnswer | NoFinalLedger> {
  const known = new Map<number, LeafRange[]>();
  const noteRanges = (row: Row) =>
    known.set(row.integer('page'), readRanges(row.text('ranges'), tree));
  const { found, pages } = await readBatch(db, {
    found: selectFinal(db, finalMilestone),
    pages: selectPages(db, finalMilestone, tree),
    ranges: first(db.prepare(SELECT_RANGES_OF).bind(finalMilestone, tree, key), noteRanges),
  });
  const { ledgerIndex, state } = found;
  if (state?.built === undefined)
    return { ok: false, ledgerIndex, isBuilding: state !== undefined };
  const readRangesOf = async (page: number): Promise<LeafRange[]> => {
    const missing = db.prepare(SELECT_RANGES).bind(finalMilestone, tree, page);
    if (!known.has(page)) await readAlone(first(missing, noteRanges));
    return known.get(page) ?? refuse(tree);
  };
  const { ledger, root } = state.built;
  // an import may come between two reads
  return unlessMoved(db, state.head, finalMilestone, async () => {
    const proof = await prove({ db, tree, pages, layout, readRangesOf }, key, ledger[tree].count);
    const id = Uint8Array.fromHex(key);
    const verdict = verifyFinalProof(finalProofToJson(ledger, proof), tree, id, root);
    return verdict.ok ? { ok: true, ledger, proof } : refuse(tree);
  });
}

/** A stored tree. */
interface StoredTree {
  db: Database;
  tree: FinalTreeName;
  pages: readonly FinalPage[];
  layout: Layout;
  readRangesOf(page: number): Promise<LeafRange[]>;
}

async function prove(stored: StoredTree, key: string, count: number): Promise<FinalProof> {
  const { pages, layout } = stored;
  const page = pages.findLastIndex((each) => each.first <= key);
  if (page < 0) {
    const after = count > 0 ? await entryAt(stored, 0) : undefined;
    return { present: false, before: undefined, after };
  }
  const range = (await stored.readRangesOf(page)).findLastIndex((each) => each.first <= key);
  const leaves = await readLeaves(stored, page, range);
  const index = leaves.findLastIndex((each) => each.key <= key);
  const position = (page * layout.pageRanges + range) * layout.rangeLeaves + index;
  const entry = await entryAt(stored, position, leaves);
  if (leaves[index]?.key === key) return { present: true, entry };
  const isInRange = index + 1 < leaves.length;
  const after =
    position + 1 < count
      ? await entryAt(stored, position + 1, isInRange ? leaves : undefined)
      : undefined;
  return { present: false, before: entry, after };
}

/** A leaf with its hash (B.13). */
type HashedLeaf = Leaf & { hash: Uint8Array };

/** @param known the leaves of its range, for who has them */
async function entryAt(
  stored: StoredTree,
  position: number,
  known?: readonly HashedLeaf[],
): Promise<FinalEntry> {
  const { rangeLeaves, pageRanges } = stored.layout;
  const index = position % rangeLeaves;
  const place = Math.floor(position / rangeLeaves);
  const [page, range] = [Math.floor(place / pageRanges), place % pageRanges];
  const ranges = await stored.readRangesOf(page);
  const leaves = known ?? (await readLeaves(stored, page, range));
  const { record } = leaves[index] ?? refuse(stored.tree);
  const rootOf = ({ root }: { root: Uint8Array }) => root;
  const path = [
    ...auditPath(
      leaves.map(({ hash }) => hash),
      index,
    ),
    ...auditPath(ranges.map(rootOf), range),
    ...auditPath(stored.pages.map(rootOf), page),
  ];
  return { position, record, path };
}

async function readLeaves(
  { db, tree, layout, readRangesOf }: StoredTree,
  page: number,
  range: number,
): Promise<HashedLeaf[]> {
  const { first: from } = (await readRangesOf(page))[range] ?? refuse(tree);
  const statement = db.prepare(LEAVES[tree].from).bind(from, layout.rangeLeaves);
  return readAlone(
    many(statement, (row) => {
      const leaf = LEAVES[tree].parse(row);
      return { ...leaf, hash: leafHash(leaf.record) };
    }),
  );
}

function refuse(tree: FinalTreeName): never {
  throw new LedgerDamaged(`rows of the tree over final ${tree}`);
}
