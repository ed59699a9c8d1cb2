/**
 * Puts proposals where the reference can answer them: before the milestone with their index. The
 * past cone of the parents is the same wherever they are asked about. The reference answers about
 * the next milestone alone, so proposals about blocks that came later cannot be put to it.
 */
import type { Line } from './network-file.ts';

type Proposal = Extract<Line, { type: 'proposal' }>;

/** @param lines of one network */
export function placeProposals(lines: readonly Line[]): Line[] {
  const proposals = Map.groupBy(
    lines.filter((line): line is Proposal => line.type === 'proposal'),
    ({ request }) => request.index,
  );
  const known = new Set([`0x${'00'.repeat(32)}`]);
  const placed: Line[] = [];
  for (const line of lines) {
    if (line.type === 'proposal') continue;
    if (line.type === 'milestone') {
      const asked = proposals.get(line.index) ?? [];
      placed.push(...asked.filter(({ request }) => request.parents.every((id) => known.has(id))));
    }
    if (line.type === 'block') known.add(line.id);
    placed.push(line);
  }
  return placed;
}
