/**
 * Milestones at a glance: the blocks of one, a mark each, and how many blocks and transactions those
 * have that the page has seen.
 */
import { Mark, type MarkKind } from '../cone/kinds.tsx';
import { plural } from '../format.ts';
import type { Summary } from './summaries.ts';

/** Blocks of a milestone in white-flag order. */
export function Strip({ kinds }: { kinds: readonly MarkKind[] }) {
  return (
    <div class="strip" aria-hidden="true">
      {kinds.map((kind, place) => (
        <svg key={place} viewBox="-12 -12 24 24" class={`block ${kind}`} aria-hidden="true">
          <Mark kind={kind} />
        </svg>
      ))}
    </div>
  );
}

/** Of the chart, in its own units. */
const [BAR, HEIGHT] = [10, 40];

/** Blocks and applied transactions of each milestone that the page has read, the oldest first. */
export function Activity({
  summaries,
  rate,
}: {
  summaries: ReadonlyMap<number, Summary>;
  /** Blocks a second, as the node says. */
  rate: number;
}) {
  const bars = [...summaries]
    .sort(([a], [b]) => a - b)
    .flatMap(([index, each]) => (each.state === 'known' ? [{ index, ...each.summary }] : []));
  const most = Math.max(1, ...bars.map(({ blocks }) => blocks));
  const bar = (place: number, count: number) => {
    const height = (HEIGHT * count) / most;
    return { x: place * BAR + 1, y: HEIGHT - height, width: BAR - 2, height };
  };
  const applied = bars.reduce((sum, each) => sum + each.applied, 0);
  const blocks = bars.reduce((sum, each) => sum + each.blocks, 0);
  return (
    <figure class="activity">
      <svg viewBox={`0 0 ${Math.max(1, bars.length) * BAR} ${HEIGHT}`} aria-hidden="true">
        {bars.map(({ index, blocks, applied }, place) => (
          <g key={index}>
            <rect class="blocks" {...bar(place, blocks)} />
            <rect class="applied" {...bar(place, applied)} />
          </g>
        ))}
      </svg>
      <figcaption class="hint">
        {plural(blocks, 'block')}, of which {plural(applied, 'applied transaction')}, in the{' '}
        {plural(bars.length, 'milestone')} that this page has read
        {rate > 0 &&
          `; ${rate.toLocaleString('en', { maximumFractionDigits: 1 })} blocks a second in the newest`}
      </figcaption>
    </figure>
  );
}
