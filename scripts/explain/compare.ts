/**
 * Two explanations side by side: the first block in which they differ, and the rule.
 */
import type { ComparedBlock, Explanation } from './answer.ts';

export interface Comparison {
  /** Whether roots, order and verdicts are the same. */
  same: boolean;
  /** For people. */
  lines: string[];
}

export function compareExplanations(ours: Explanation, theirs: Explanation): Comparison {
  const differing = ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const;
  const rootLines = differing.map((root) =>
    ours[root] === theirs[root]
      ? `${root}: ${ours[root]}, both`
      : `${root}: ours ${ours[root]}, theirs ${theirs[root]}`,
  );
  const sameRoots = differing.every((root) => ours[root] === theirs[root]);
  const place = firstDifference(ours.blocks, theirs.blocks);
  if (place !== undefined) {
    const lines = describeDifference(place, ours.blocks[place], theirs.blocks[place]);
    return { same: false, lines: [...rootLines, ...lines] };
  }
  const verdict = sameRoots
    ? `The same ${ours.blocks.length} blocks in the same order with the same verdicts.`
    : 'The same blocks, order and verdicts, and other roots: one of them hashes wrongly (B.13).';
  return { same: sameRoots, lines: [...rootLines, verdict] };
}

function firstDifference(
  ours: readonly ComparedBlock[],
  theirs: readonly ComparedBlock[],
): number | undefined {
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

function describeDifference(
  place: number,
  ours: ComparedBlock | undefined,
  theirs: ComparedBlock | undefined,
): string[] {
  const first = `The first difference is at place ${place} of the white-flag order.`;
  if (ours === undefined)
    return [first, `Only theirs has a block there: ${theirs!.blockId} (E.1).`];
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
  const words = explanation === undefined ? '' : `: ${explanation}`;
  const rule = judged.rule === undefined ? '' : ` (${judged.rule})`;
  const lines = [`${whose}: ${ledgerInclusionState}${reason}${words}${rule}.`];
  if (decidingInput !== undefined) {
    const { input, outputId, spentBy } = decidingInput;
    const by = spentBy === undefined ? '' : `, which block ${spentBy} spent before`;
    lines.push(`  Input ${input} decided: output ${outputId}${by}.`);
  }
  if (decidingOutput !== undefined)
    lines.push(`  Output ${decidingOutput.output} decided: ${decidingOutput.outputId}.`);
  return lines;
}
