/**
 * The milestones that the node keeps, page by page, back from the newest.
 */
import { MilestoneRows } from '../milestones/milestone-rows.tsx';
import { useSummaries } from '../milestones/summaries.ts';
import { indexesFrom } from '../node/ledger.ts';
import { type Info, saysEnded } from '../node/shapes.ts';
import { Head, To } from '../parts/parts.tsx';
import type { View } from '../route.ts';

/** Each row is a request. */
const ROWS = 20;

/** @param from the index of the first row; by default the newest */
export function MilestonesView({ from, info }: { from?: number; info: Info }) {
  const { confirmedMilestone, pruningIndex } = info.status;
  const newest = confirmedMilestone.index;
  const first = Math.min(from ?? newest, newest);
  const indexes = indexesFrom(first, ROWS, pruningIndex);
  const summaries = useSummaries(indexes);
  const last = indexes.at(-1);
  const view = (index: number): View => ({ name: 'milestones', from: index });
  return (
    <article class="page">
      <Head kind="Milestones" api="/api/core/v2/info">
        {last === undefined ? 'None' : `${first} to ${last}`}
      </Head>
      {last === undefined ? (
        <p class="reason" data-standing="said">
          This node keeps no milestone {from !== undefined && `up to ${from}`}, it says
          {saysEnded(info) && ': the network ended, and this node has its ledger and not its past'}.
        </p>
      ) : (
        <section class="said" data-standing="said">
          <p class="said-label">This node says. Not checked here: open a milestone to check it.</p>
          <MilestoneRows indexes={indexes} summaries={summaries} />
          <nav class="pager" aria-label="Pages">
            {first < newest && (
              <To view={first + ROWS >= newest ? { name: 'milestones' } : view(first + ROWS)}>
                ← Newer
              </To>
            )}
            {last > pruningIndex + 1 ? (
              <To view={view(last - 1)}>Older →</To>
            ) : (
              <span class="hint">This node keeps none that is older.</span>
            )}
          </nav>
        </section>
      )}
    </article>
  );
}
