/**
 * Milestones as rows, the newest first: when, and how many blocks of which kind.
 */
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { plural } from '../format.ts';
import { To } from '../parts/parts.tsx';
import { Strip } from './strip.tsx';
import type { Summary } from './summaries.ts';

export function MilestoneRows({
  indexes,
  summaries,
}: {
  indexes: readonly number[];
  summaries: ReadonlyMap<number, Summary>;
}) {
  return (
    <ol class="milestones">
      {indexes.map((index) => (
        <li key={index}>
          <To view={{ name: 'milestone', milestone: String(index) }}>{index}</To>{' '}
          <span class="hint">
            <MilestoneWords summary={summaries.get(index)} />
          </span>
          <Strip kinds={marksOf(summaries.get(index))} />
        </li>
      ))}
    </ol>
  );
}

const marksOf = (summary: Summary | undefined) =>
  summary?.state === 'known' ? summary.summary.marks : [];

function MilestoneWords({ summary }: { summary: Summary | undefined }) {
  switch (summary?.state) {
    case undefined:
      return <>…</>;
    case 'missing':
      return <>its blocks are not here</>;
    case 'failed':
      return <>{summary.error.message}</>;
    case 'known': {
      const { timestamp, blocks, applied, conflicts } = summary.summary;
      return (
        <>
          {formatTime(timestamp)} UTC · {plural(blocks, 'block')}
          {applied > 0 && ` · ${plural(applied, 'transaction')} applied`}
          {conflicts > 0 && ` · ${plural(conflicts, 'conflict')}`}
        </>
      );
    }
  }
}
