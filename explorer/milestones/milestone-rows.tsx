/**
 * Milestones as rows, the newest first: when, and how many blocks of which kind.
 */
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { plural } from '../format.ts';
import { To } from '../parts/parts.tsx';
import { countKinds, Strip } from './strip.tsx';
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
          <MilestoneStrip summary={summaries.get(index)} />
        </li>
      ))}
    </ol>
  );
}

/** As many as a row has room for. */
const MAX_MARKS = 24;

function MilestoneStrip({ summary }: { summary: Summary | undefined }) {
  const kinds = summary?.state === 'known' ? summary.summary.kinds : [];
  return <Strip kinds={kinds} most={MAX_MARKS} />;
}

function MilestoneWords({ summary }: { summary: Summary | undefined }) {
  switch (summary?.state) {
    case undefined:
      return <>…</>;
    case 'missing':
      return <>its blocks are not here</>;
    case 'failed':
      return <>{summary.error.message}</>;
    case 'known': {
      const { timestamp, kinds } = summary.summary;
      const { applied, conflict } = countKinds(kinds);
      return (
        <>
          {formatTime(timestamp)} UTC · {plural(kinds.length, 'block')}
          {applied > 0 && ` · ${plural(applied, 'transaction')} applied`}
          {conflict > 0 && ` · ${plural(conflict, 'conflict')}`}
        </>
      );
    }
  }
}
