/**
 * Proofs that an output or an NFT is or is not in a final ledger (docs/final-ledger.md), from the
 * stored levels of the trees and one or two groups of leaves.
 */
import type { Database } from '../../ledger/core/database.ts';
import { unlessMoved } from '../../ledger/core/fence.ts';
import { readBatch, readQuery } from '../../ledger/core/read-batch.ts';
import {
  type FinalLedger,
  type FinalProof,
  type FinalTreeName,
  finalProofToJson,
  verifyFinalProof,
} from '../../stardust/proof/final-ledger.ts';
import { LAYOUT, type Layout, selectFinal, selectPages } from './final-tables.ts';
import {
  damagedTree,
  entryAt,
  findPositions,
  keyAt,
  openStoredTree,
  readEntryAt,
  type StoredTree,
  selectUpperLevels,
} from './stored-tree.ts';

/** Reason why there is no final ledger to answer from. */
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
  root: Uint8Array;
  /** Hash of the file that the ledger was imported from; empty if it is not known. */
  snapshotSha256: string;
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

/**
 * Proves that the ledger has or lacks the record with this key, an output ID or an NFT ID. Throws a
 * LedgerDamaged unless the proof leads to the stored root, a LedgerMoved after an import.
 *
 * @param key lower-case hex digits
 */
export async function proveFinal(
  db: Database,
  finalMilestone: number,
  tree: FinalTreeName,
  key: string,
  layout: Layout = LAYOUT,
): Promise<{ ok: true; ledger: FinalLedger; proof: FinalProof } | NoFinalLedger> {
  const { found, pages, upper } = await readBatch(db, {
    found: selectFinal(db, finalMilestone),
    pages: selectPages(db, finalMilestone, tree),
    upper: selectUpperLevels(db, finalMilestone, tree, key),
  });
  const { ledgerIndex, state } = found;
  if (state?.built === undefined)
    return { ok: false, ledgerIndex, isBuilding: state !== undefined };
  const stored = { ...openStoredTree({ db, finalMilestone, tree, layout }, pages), ...upper };
  const { ledger, root } = state.built;
  // an import may come between two reads
  return unlessMoved(db, state.head, finalMilestone, async () => {
    const proof = await prove(stored, key, ledger[tree].count);
    const id = Uint8Array.fromHex(key);
    const verdict = verifyFinalProof(finalProofToJson(ledger, proof), tree, id, root);
    return verdict.ok ? { ok: true, ledger, proof } : damagedTree(tree);
  });
}

async function prove(stored: StoredTree, key: string, count: number): Promise<FinalProof> {
  const [position = -1] = await findPositions(stored, [key]);
  if (position >= 0 && keyAt(stored, position) === key)
    return { present: true, entry: entryAt(stored, position) };
  const before = position < 0 ? undefined : entryAt(stored, position);
  const after = position + 1 < count ? await readEntryAt(stored, position + 1) : undefined;
  return { present: false, before, after };
}
