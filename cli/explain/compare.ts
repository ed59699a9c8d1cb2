/**
 * Two explanations side by side: the first block in which they differ, and the rule. Both are what
 * nodes say. Whether the blocks of each lead to its own roots is judged by
 * src/stardust/provenance/, and that no key was looked at is said.
 */

import { printable } from '../../client/printable.ts';
import { proveHash } from '../../src/stardust/provenance/provenance.ts';
import type { ComparedBlock, Explanation } from './answer.ts';

export interface Comparison {
  /** Whether roots, order and verdicts are the same. */
  same: boolean;
  /** For people. */
  lines: string[];
}

export function compareExplanations(ours: Explanation, theirs: Explanation): Comparison {
  const found = findDifference(ours, theirs);
  const faults = [...faultsOf('Ours', ours), ...faultsOf('Theirs', theirs)];
  return { same: found.same, lines: [...found.lines, ...faults, NOTHING_PROVED] };
}

const NOTHING_PROVED =
  'Not checked: who signed. Both answers are what the nodes say; stardust-edge verify checks one against keys.';

/** A sentence for each root of an answer to which its own blocks do not lead. */
function faultsOf(whose: string, { blocks, isPart, ...roots }: Explanation): string[] {
  // of a HORNET, the blocks that only it has are not known
  if (isPart) return [];
  const known = blocks.filter((block) => block !== undefined);
  const applied = known.filter(({ ledgerInclusionState }) => ledgerInclusionState === 'included');
  const trees = { inclusionMerkleRoot: known, appliedMerkleRoot: applied };
  return (['inclusionMerkleRoot', 'appliedMerkleRoot'] as const).flatMap((root) => {
    const ids = trees[root].map(({ blockId }) => blockId);
    const finding = proveHash(ids, roots[root]);
    if (finding.standing === 'proved') return [];
    return [`${whose} contradicts itself, ${root} (B.13): ${finding.reason}.`];
  });
}

function findDifference(ours: Explanation, theirs: Explanation): Comparison {
  if (ours.index !== theirs.index) {
    const line = `These are two milestones: ours ${ours.index}, theirs ${theirs.index}.`;
    return { same: false, lines: [line] };
  }
  const differing = ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const;
  const rootLines = differing.map((root) =>
    ours[root] === theirs[root]
      ? `${root}: ${ours[root]}, both`
      : `${root}: ours ${ours[root]}, theirs ${theirs[root]}`,
  );
  const sameRoots = differing.every((root) => ours[root] === theirs[root]);
  const place = firstDifference(ours.blocks, theirs.blocks);
  if (place !== undefined) {
    const lines = describeDifference(place, ours.blocks, theirs.blocks);
    return { same: false, lines: [...rootLines, ...lines] };
  }
  const verdict = sameRoots
    ? `The same ${ours.blocks.length} blocks in the same order with the same verdicts.`
    : theirs.isPart
      ? `Our ${ours.blocks.length} blocks are the first of theirs, with the same verdicts. The roots differ: theirs has more blocks (E.1), or one of them hashes wrongly (B.13).`
      : 'The same blocks, order and verdicts, and other roots: one of them hashes wrongly (B.13).';
  return { same: sameRoots, lines: [...rootLines, verdict] };
}

type Blocks = Explanation['blocks'];

function firstDifference(ours: Blocks, theirs: Blocks): number | undefined {
  const length = Math.max(ours.length, theirs.length);
  const places = Array.from({ length }, (_, place) => place);
  return places.find((place) => {
    const [a, b] = [ours[place], theirs[place]];
    return (
      a?.blockId !== b?.blockId ||
      a?.ledgerInclusionState !== b?.ledgerInclusionState ||
      a?.conflictReason !== b?.conflictReason
    );
  });
}

function describeDifference(place: number, allOurs: Blocks, allTheirs: Blocks): string[] {
  const first = `The first difference is at place ${place} of the white-flag order.`;
  const [ours, theirs] = [allOurs[place], allTheirs[place]];
  if (ours === undefined)
    return [first, `Only theirs has a block there: ${theirs!.blockId} (E.1).`];
  if (theirs === undefined && place < allTheirs.length)
    return [
      first,
      `Ours has ${ours.blockId} there, theirs none, or a block that ours does not reference (E.1).`,
    ];
  if (theirs === undefined)
    return [
      first,
      `Only ours has a block there: ${ours.blockId} (E.1).`,
      ...describe('Ours', ours),
    ];
  if (ours.blockId !== theirs.blockId) {
    return [
      first,
      `The order differs (E.1): ours has ${ours.blockId}, theirs ${theirs.blockId}.`,
      'Other parents, another cone, or a block that one of them takes for referenced before.',
    ];
  }
  return [
    first,
    `Block ${ours.blockId}: the verdicts differ.`,
    ...describe('Ours', ours),
    ...describe('Theirs', theirs),
  ];
}

function describe(whose: string, judged: ComparedBlock): string[] {
  const { ledgerInclusionState, conflictReason, explanation, decidingInput, decidingOutput } =
    judged;
  const reason = conflictReason === undefined ? '' : `, reason ${conflictReason}`;
  const words = explanation === undefined ? '' : `: ${printable(explanation)}`;
  const rule = judged.rule === undefined ? '' : ` (${printable(judged.rule)})`;
  const lines = [`${whose}: ${ledgerInclusionState}${reason}${words}${rule}.`];
  if (decidingInput !== undefined) {
    const { input, outputId, spentBy } = decidingInput;
    const by = spentBy === undefined ? '' : `, which block ${printable(spentBy)} spent before`;
    lines.push(`  Input ${input} decided: output ${printable(outputId)}${by}.`);
  }
  if (decidingOutput !== undefined)
    lines.push(`  Output ${decidingOutput.output} decided: ${printable(decidingOutput.outputId)}.`);
  return lines;
}
