/**
 * The white flag of this code, for vectors: blocks are prepared as if they came from a network, and
 * their records go into the computation.
 */
import type { Numbering } from '../../src/ledger/intake/known-outputs.ts';
import { type ContentSource, prepareBlocks } from '../../src/ledger/intake/prepare-blocks.ts';
import { readCone } from '../../src/ledger/packs/record-cone.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { fromHex, toHex, toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import {
  computeRoots,
  LedgerState,
  NOT_A_TRANSACTION,
  walkCone,
} from '../../src/stardust/white-flag.ts';
import type { ComputeWhiteFlag, WhiteFlagCase } from './white-flag.ts';

/** All contents are in the numbering. */
const NO_STORE: ContentSource = { lengthOf: () => 0, read: async () => new Map() };

export const productWhiteFlag: ComputeWhiteFlag = async (given) => {
  const numbering = numberKnown(given);
  const rules = { ...signedMilestones(given), parameters: [] };
  const recorded = await prepareBlocks([...given.blocks.values()], numbering, rules, NO_STORE);
  const cone = readCone(recorded.map(({ record }) => record));
  const states = ledgerStates(given, numbering);
  // E.3 (a)
  const first = given.index === given.genesisMilestoneIndex + 1;
  const computed = walkCone(cone, states, {
    parents: given.parents.map((id) => numbering.blocks.get(id.slice(2))!.number),
    timestamp: given.timestamp,
    previousMilestoneId: first ? undefined : fromHex(given.previousMilestoneId),
  });
  if (computed.undecided.length > 0)
    throw new Error('a verdict is undecided: an output is neither in the ledger nor created');
  const { inclusionMerkleRoot, appliedMerkleRoot } = computeRoots(cone, computed);
  const byNumber = new Map(recorded.map((block) => [block.number, block]));
  const order = [...computed.order].map((position, i) => {
    const { id } = byNumber.get(cone.numberAt(position))!;
    const isTransaction = computed.reasons[i] !== NOT_A_TRANSACTION;
    return {
      blockId: `0x${id}`,
      isTransaction,
      conflictReason: isTransaction ? computed.reasons[i]! : 0,
    };
  });
  return {
    order,
    inclusionMerkleRoot: toHex(inclusionMerkleRoot),
    appliedMerkleRoot: toHex(appliedMerkleRoot),
    metPreviousMilestone: computed.metPreviousMilestone,
  };
};

/**
 * Numbers, from 1 on as in a store, of what the network has before the blocks come: solid entry
 * points and the ledger's outputs.
 */
function numberKnown({ blocks, parents, unspent, spent }: WhiteFlagCase): Numbering {
  const numbering: Numbering = {
    blocks: new Map(),
    outputs: new Map(),
    nextBlock: 1,
    nextOutput: 1,
  };
  const named = [
    ...parents,
    ...[...blocks.values()].flatMap(({ block }) => block.parents.map(toHex)),
  ];
  for (const id of named) {
    const key = id.slice(2);
    if (!blocks.has(id) && !numbering.blocks.has(key))
      numbering.blocks.set(key, { number: numbering.nextBlock++, milestone: 0 });
  }
  for (const [id, bytes] of unspent)
    numbering.outputs.set(id.slice(2), { number: numbering.nextOutput++, bytes });
  for (const id of spent) {
    const key = id.slice(2);
    if (!numbering.outputs.has(key)) numbering.outputs.set(key, { number: numbering.nextOutput++ });
  }
  return numbering;
}

function ledgerStates(
  { unspent, spent }: WhiteFlagCase,
  { outputs }: Numbering,
): Map<number, number> {
  const numberOf = (id: string) => outputs.get(id.slice(2))!.number;
  return new Map([
    ...[...spent].map((id) => [numberOf(id), LedgerState.Spent] as const),
    ...[...unspent.keys()].map((id) => [numberOf(id), LedgerState.Unspent] as const),
  ]);
}

/** Rules by which every milestone in the past cone counts as signed, whatever keys it names. */
export function signedMilestones({ blocks }: WhiteFlagCase) {
  const milestones = [...blocks.values()].flatMap(({ milestone }) => milestone ?? []);
  const keys = milestones.flatMap(({ value }) =>
    value.signatures.map(({ publicKey }) => ({ publicKey, first: 0, last: 0 })),
  );
  const ids = new Set(milestones.map(({ id }) => toHexDigits(id)));
  const verifyAll: typeof verifySignature = async (publicKey, message, signature) =>
    ids.has(toHexDigits(message)) || verifySignature(publicKey, message, signature);
  return { keys: { keys, threshold: 1 }, verify: verifyAll };
}
