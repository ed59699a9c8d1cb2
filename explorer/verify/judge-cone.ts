/**
 * Judges the past cone of a milestone or of a proposal, for the page that draws it.
 */
import { proveWalk } from '../../src/stardust/provenance/blocks.ts';
import {
  compareCone,
  comparePayloads,
  proveApplied,
  proveCone,
  proveHash,
  proveOrder,
} from '../../src/stardust/provenance/cone.ts';
import { notChecked, provedValue, refute, tell } from '../../src/stardust/provenance/proved.ts';
import type {
  BlockFacts,
  Finding,
  PastCone,
  Proved,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import type { ExplanationJson } from '../node/shapes.ts';
import { askCone } from './judge.ts';

/** What a cone is held against. */
export interface ConeClaim {
  /** Of the milestone or the proposal, in their order. */
  parents: readonly string[];
  /** The milestone; undefined for a proposal, whose roots nobody has signed. */
  signed: Finding<SignedMilestone> | undefined;
}

export interface JudgedCone {
  findings: readonly Finding<string>[];
  /** What was decided about each block; undefined if that was not proved. */
  cone?: Proved<PastCone>;
  /** The parents of each block within the cone, for drawing it; undefined if they were not read. */
  drawn?: readonly { blockId: string; parents: readonly string[] }[];
}

/** Cones of more blocks are not read by a page: a graph of them is neither quick nor readable. */
const MAX_READ = 150;

/**
 * Yields what is known so far, first by the roots, and then by the bytes of the blocks.
 *
 * @param onRead called after each block with how many were read
 */
export async function* judgeCone(
  { blocks, inclusionMerkleRoot, appliedMerkleRoot }: ExplanationJson,
  { parents, signed }: ConeClaim,
  onRead: (count: number) => void,
): AsyncGenerator<JudgedCone, void> {
  const ids = blocks.map(({ blockId }) => blockId);
  const states = new Map(blocks.map((block) => [block.blockId, block.ledgerInclusionState]));
  const isApplied = (blockId: string) => states.get(blockId) === 'included';
  const order =
    signed?.standing === 'proved'
      ? proveOrder(signed.proof, ids)
      : notChecked('the blocks and their order, as nothing shows which root was signed');
  const outcome =
    order.standing === 'proved'
      ? proveApplied(order.proof, isApplied)
      : notChecked('which transactions were applied, as their milestone’s blocks are not known');
  const roots: Finding<string>[] =
    signed === undefined
      ? [
          put(
            proveHash(ids, inclusionMerkleRoot),
            () => 'Their IDs, in this order, hash to the inclusion root computed by the node.',
          ),
          put(
            proveHash(ids.filter(isApplied), appliedMerkleRoot),
            (value) =>
              `The ${value.blockIds.length === 1 ? 'one that it counts as applied hashes' : `${value.blockIds.length} that it counts as applied hash`} to the applied root computed by the node.`,
          ),
        ]
      : [
          put(order, () => 'Their IDs, in this order, hash to the inclusion root that was signed.'),
          put(
            outcome,
            ({ applied }) =>
              `The ${applied.size === 1 ? 'applied one hashes' : `${applied.size} applied ones hash`} to the applied root that was signed.`,
          ),
        ];
  if (states.size < ids.length)
    return yield { findings: [refute('the node names a block of this cone twice'), ...roots] };
  if (ids.length === 0) return yield { findings: roots };
  if (ids.length > MAX_READ) {
    const many = `the bytes of ${ids.length} blocks, and so what each of them carries: a page reads up to ${MAX_READ}, and npx stardust-edge verify reads all`;
    return yield { findings: [notChecked(many), ...roots] };
  }
  yield { findings: roots };
  const { all, each } = await askCone(ids, onRead);
  const isHeld = signed === undefined || signed.standing === 'proved';
  const walk =
    all.standing === 'proved' && isHeld
      ? proveWalk(parents, all.proof, ids)
      : notChecked(
          isHeld
            ? 'the order, as not every block is what it should be'
            : 'the order, as nothing shows where it begins',
        );
  const cone =
    outcome.standing === 'proved' && all.standing === 'proved' && walk.standing === 'proved'
      ? proveCone(outcome.proof, all.proof)
      : undefined;
  const compared =
    cone?.standing === 'proved'
      ? compareCone(cone.proof, blocks)
      : (cone ?? (all.standing === 'proved' ? comparePayloads(all.proof, blocks) : undefined));
  const bytes = put(
    all,
    (set) =>
      `${set.size === 1 ? 'The block' : `Each of ${set.size} blocks`} has the hash that is its ID.`,
  );
  yield {
    findings: [
      // what nobody signed is no block of a milestone
      isHeld || bytes.standing !== 'proved'
        ? bytes
        : notChecked('the blocks of this milestone, as nothing shows that it was signed'),
      put(walk, () => 'The walk from the parents meets them in this order.'),
      ...roots,
      ...(compared === undefined || compared.standing === 'proved' ? [] : [compared]),
    ],
    ...(cone?.standing === 'proved' && { cone: cone.proof }),
    drawn: edgesOf(ids, each),
  };
}

function edgesOf(ids: readonly string[], found: readonly Finding<BlockFacts>[]) {
  const parents = new Map(
    found.flatMap((each) => {
      if (each.standing !== 'proved') return [];
      const facts = provedValue(each.proof);
      return [[facts.blockId, facts.parents] as const];
    }),
  );
  const known = new Set(ids);
  return ids.map((blockId) => ({
    blockId,
    parents: parents.get(blockId)?.filter((parent) => known.has(parent)) ?? [],
  }));
}

function put<T>(finding: Finding<T>, words: (value: T) => string): Finding<string> {
  return finding.standing === 'proved'
    ? { standing: 'proved', proof: tell(finding.proof, words) }
    : finding;
}
