/**
 * Judges a block, or the block of a transaction, for its page.
 */
import { proveApplied, proveOrder } from '../../src/stardust/provenance/cone.ts';
import { levelsOf, provePath } from '../../src/stardust/provenance/inclusion.ts';
import { notChecked, provedValue } from '../../src/stardust/provenance/proved.ts';
import type {
  BlockFacts,
  Finding,
  Inclusion,
  Level,
  MilestoneOutcome,
  Proved,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import { askExplanation, askProof } from '../node/ledger.ts';
import type { BlockMetadata } from '../node/shapes.ts';
import type { KeyChoice } from './describe-keys.ts';
import { readSigned } from './judge.ts';

/** How a block stands to the milestone that references it. */
export interface JudgedPath {
  signed: Finding<SignedMilestone>;
  inclusion: Finding<Inclusion>;
  /** Undefined where nobody says that its transaction was applied. */
  applied: Finding<Inclusion> | undefined;
  /** In the milestone's order, and what became of the transaction, where they were proved. */
  place: number | undefined;
  state: BlockMetadata['ledgerInclusionState'];
  /** Where it was proved that the milestone did not apply the block's transaction. */
  failed: Proved<MilestoneOutcome> | undefined;
  /** Of the path to the inclusion root; undefined where there is none. */
  levels: { leaf: string; levels: readonly Level[] } | undefined;
}

/** @param index of the milestone that references the block, as the node says */
export async function judgePath(
  block: Proved<BlockFacts>,
  index: number,
  choice: KeyChoice,
  networkName: string,
): Promise<JudgedPath> {
  const { blockId, payload } = provedValue(block);
  const [signed, path, said] = await Promise.all([
    readSigned(index, choice, networkName),
    askProof(blockId).catch((error: Error) => error),
    // without it the path is checked all the same
    askExplanation(index).catch(() => undefined),
  ]);
  const blocks = said?.said.blocks ?? [];
  const counted = new Set(
    blocks.filter((each) => each.ledgerInclusionState === 'included').map((each) => each.blockId),
  );
  const ids = blocks.map((each) => each.blockId);
  const order = signed.standing === 'proved' ? proofOf(proveOrder(signed.proof, ids)) : undefined;
  const place = order && provedValue(order).blockIds.indexOf(blockId);
  const outcome = order && proofOf(proveApplied(order, (id) => counted.has(id)));
  if (path instanceof Error) {
    const inclusion = notChecked(`the Merkle path: ${path.message}`);
    const none = { applied: undefined, failed: undefined, levels: undefined, state: undefined };
    return { signed, place, inclusion, ...none };
  }
  const judge = (json: unknown, root: 'inclusionMerkleRoot' | 'appliedMerkleRoot') =>
    signed.standing === 'proved'
      ? provePath(signed.proof, block, json, root)
      : notChecked('where the Merkle path leads, as nothing shows which root was signed');
  const inclusion = judge(path.proof, 'inclusionMerkleRoot');
  const isFailed =
    payload === 'transaction' &&
    inclusion.standing === 'proved' &&
    outcome !== undefined &&
    !provedValue(outcome).applied.has(blockId);
  const applied =
    path.appliedProof === undefined ? undefined : judge(path.appliedProof, 'appliedMerkleRoot');
  const state =
    payload !== 'transaction'
      ? 'noTransaction'
      : applied?.standing === 'proved'
        ? 'included'
        : isFailed
          ? 'conflicting'
          : undefined;
  return {
    signed,
    place,
    state,
    inclusion,
    failed: isFailed ? outcome : undefined,
    applied,
    levels: levelsOf(path.proof, blockId, order),
  };
}

function proofOf<T>(finding: Finding<T>): Proved<T> | undefined {
  return finding.standing === 'proved' ? finding.proof : undefined;
}
