/**
 * Judges the past cone of a milestone by its two signed roots (B.13): its blocks, their order, and
 * which transactions were applied. Reasons of conflicts are in neither: a node's word.
 */
import { fromHex, toHex } from '../encoding/bytes.ts';
import { merkleRoot } from '../proof/merkle.ts';
import type { BlockSet, PayloadKind } from './blocks.ts';
import type { SignedMilestone } from './milestone.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

export interface Hashed {
  blockIds: readonly string[];
  root: string;
}

/** Whether these IDs, in this order, hash to a root that nobody needs to have signed. */
export function proveHash(blockIds: readonly string[], root: string): Finding<Hashed> {
  const found = rootOf(blockIds);
  return found === root
    ? prove({ blockIds, root })
    : refute(`the IDs hash to ${found}, and not to ${root}`);
}

/** All blocks of a milestone, in white-flag order. */
export interface Order {
  milestone: SignedMilestone;
  blockIds: readonly string[];
}

/** Judges whether the milestone references these blocks, in this order: the inclusion root. */
export function proveOrder(
  signed: Proved<SignedMilestone>,
  blockIds: readonly string[],
): Finding<Order> {
  const milestone = provedValue(signed);
  const root = rootOf(blockIds);
  return root === milestone.inclusionMerkleRoot
    ? prove({ milestone, blockIds })
    : refute(
        `the blocks do not lead to the signed inclusion root: their IDs hash to ${root}, and signed is ${milestone.inclusionMerkleRoot}`,
      );
}

/** Blocks of a milestone whose transaction was applied. All others have none. */
export interface MilestoneOutcome extends Order {
  applied: ReadonlySet<string>;
}

/** Blocks of which one may be named, and IDs that are hashed for that: each try hashes all applied. */
const MAX_TRIED = 300;
const MAX_HASHED = 100_000;

/**
 * Judges whether these blocks of the order are the applied ones, by the applied root. If it is
 * another one, a single block that explains it is named.
 */
export function proveApplied(
  order: Proved<Order>,
  isApplied: (blockId: string) => boolean,
): Finding<MilestoneOutcome> {
  const { milestone, blockIds } = provedValue(order);
  const applied = blockIds.filter(isApplied);
  const root = rootOf(applied);
  if (root === milestone.appliedMerkleRoot)
    return prove({ milestone, blockIds, applied: new Set(applied) });
  const reason = `the applied ones do not lead to the signed applied root: they hash to ${root}, and signed is ${milestone.appliedMerkleRoot}`;
  const tries = Math.min(MAX_TRIED, Math.floor(MAX_HASHED / (applied.length + 1)));
  const liar = blockIds.slice(0, tries).find((liar) => {
    const other = blockIds.filter((each) => isApplied(each) !== (each === liar));
    return rootOf(other) === milestone.appliedMerkleRoot;
  });
  return liar === undefined
    ? refute(reason)
    : refute(
        `block ${blockIds.indexOf(liar)} was ${isApplied(liar) ? 'not applied, and the node says that it was' : 'applied, and the node says that it was not'}: only so do the roots agree. As it says, ${reason}`,
        [liar],
      );
}

export type BlockState = 'applied' | 'conflict' | 'noTransaction';

export interface ConeBlock {
  blockId: string;
  /** Place in the white-flag order, from 0. */
  place: number;
  payload: PayloadKind;
  state: BlockState;
  parents: readonly string[];
}

export interface PastCone {
  milestone: SignedMilestone;
  blocks: readonly ConeBlock[];
}

/** Proves a milestone's decision about each of its blocks, by both roots and all blocks' bytes. */
export function proveCone(
  outcome: Proved<MilestoneOutcome>,
  blocks: Proved<BlockSet>,
): Finding<PastCone> {
  const { milestone, blockIds, applied } = provedValue(outcome);
  const set = provedValue(blocks);
  const cone: ConeBlock[] = [];
  for (const [place, blockId] of blockIds.entries()) {
    const block = set.get(blockId);
    if (block === undefined) return refute(`the bytes of block ${blockId} are missing`, [blockId]);
    const isApplied = applied.has(blockId);
    if (isApplied && block.payload !== 'transaction')
      return refute(`block ${place} counts as applied, and carries no transaction`, [blockId]);
    const state =
      block.payload !== 'transaction' ? 'noTransaction' : isApplied ? 'applied' : 'conflict';
    cone.push({ blockId, place, payload: block.payload, state, parents: block.parents });
  }
  return prove({ milestone, blocks: cone });
}

/** A node's word about a block of a cone. */
export interface SaidBlock {
  blockId: string;
  whiteFlagIndex: number;
  payload: string;
  ledgerInclusionState: string;
}

const STATES: Readonly<Record<BlockState, string>> = {
  applied: 'included',
  conflict: 'conflicting',
  noTransaction: 'noTransaction',
};

/** Whether a node says of each block what was proved of it. */
export function compareCone(
  proved: Proved<PastCone>,
  said: readonly SaidBlock[],
): Finding<PastCone> {
  const cone = provedValue(proved);
  const faults = cone.blocks.flatMap((block) => {
    const words = said[block.place];
    if (words?.payload !== block.payload)
      return [{ block, reason: `carries ${words?.payload}, and its bytes carry ${block.payload}` }];
    if (words.ledgerInclusionState !== STATES[block.state])
      return [
        { block, reason: `is ${words.ledgerInclusionState}, and it is ${STATES[block.state]}` },
      ];
    if (words.whiteFlagIndex !== block.place)
      return [
        { block, reason: `is at place ${words.whiteFlagIndex}, and it is at ${block.place}` },
      ];
    return [];
  });
  const [first] = faults;
  return first === undefined
    ? prove(cone)
    : refute(
        `the node says that block ${first.block.place} ${first.reason}`,
        faults.map(({ block }) => block.blockId),
      );
}

/**
 * Judges whether a node says of each block what its bytes carry, where nobody has signed what
 * became of it: only a transaction can be applied, or be in conflict.
 */
export function comparePayloads(
  proved: Proved<BlockSet>,
  said: readonly SaidBlock[],
): Finding<BlockSet> {
  const blocks = provedValue(proved);
  const wrong = said.filter(({ blockId, payload, ledgerInclusionState: state }) => {
    const own = blocks.get(blockId)?.payload;
    return payload !== own || (state === 'noTransaction') === (own === 'transaction');
  });
  const [first] = wrong;
  return first === undefined
    ? prove(blocks)
    : refute(
        `the node says that block ${first.whiteFlagIndex} carries ${first.payload} and is ${first.ledgerInclusionState}, and its bytes carry ${blocks.get(first.blockId)?.payload}`,
        wrong.map(({ blockId }) => blockId),
      );
}

const rootOf = (blockIds: readonly string[]): string => toHex(merkleRoot(blockIds.map(fromHex)));
