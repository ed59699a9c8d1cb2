/**
 * Growth curves as SVG that is readable on light and on dark ground. Both axes are logarithmic:
 * what grows alike is parallel.
 */
export interface Point {
  /** Blocks of the cone. */
  count: number;
  ms: number;
}

const WIDTH = 720;
const HEIGHT = 420;
const LEFT = 64;
const RIGHT = 150;
const TOP = 24;
const BOTTOM = 52;

const COLOURS = ['#d9730d', '#0b7285'];

const X = { from: 100, to: 50_000, ticks: [100, 1000, 10_000, 50_000] };
const Y = { from: 1, to: 1000, ticks: [1, 10, 100, 1000] };

function x(count: number): number {
  const share = Math.log(count / X.from) / Math.log(X.to / X.from);
  return LEFT + share * (WIDTH - LEFT - RIGHT);
}

function y(ms: number): number {
  const share = Math.log(ms / Y.from) / Math.log(Y.to / Y.from);
  return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

/** A curve for each name, and n log n through the first one's point with 10,000 blocks. */
export function drawGrowth(curves: Readonly<Record<string, readonly Point[]>>): string {
  const entries = Object.entries(curves);
  const lines = [
    ...X.ticks.flatMap((count) => [
      line(x(count), TOP, x(count), HEIGHT - BOTTOM, 'grid'),
      text(x(count), HEIGHT - BOTTOM + 20, count.toLocaleString('en'), 'middle'),
    ]),
    ...Y.ticks.flatMap((ms) => [
      line(LEFT, y(ms), WIDTH - RIGHT, y(ms), 'grid'),
      text(LEFT - 8, y(ms) + 4, ms.toLocaleString('en'), 'end'),
    ]),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, 'blocks of the cone', 'middle'),
    text(LEFT - 48, TOP - 8, 'ms, over HTTP', 'start'),
    ...drawGuide(entries[0]![1]),
    ...entries.flatMap(([name, points], i) =>
      drawCurve(name, points, COLOURS[i % COLOURS.length]!),
    ),
  ];
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const look = 'font-family="sans-serif" font-size="13" fill="#777"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${look}>
<style>
.grid { stroke: #777; stroke-opacity: 0.25 }
.guide { stroke: #777; stroke-dasharray: 4 4; fill: none }
</style>
${lines.join('\n')}
</svg>
`;
}

/** What n log n would be. */
function drawGuide(points: readonly Point[]): string[] {
  const known = points.find(({ count }) => count === 10_000);
  if (known === undefined) return [];
  const at = (count: number): Point => ({
    count,
    ms: (known.ms * count * Math.log(count)) / (known.count * Math.log(known.count)),
  });
  const guide = [1000, 3000, 10_000, 30_000, 50_000].map(at);
  const last = guide.at(-1)!;
  return [
    path(guide, 'class="guide"'),
    text(x(last.count) + 10, y(last.ms) + 18, 'n log n', 'start'),
  ];
}

function drawCurve(name: string, points: readonly Point[], colour: string): string[] {
  const last = points.at(-1)!;
  const dots = points.map(
    ({ count, ms }) =>
      `<circle cx="${x(count).toFixed(1)}" cy="${y(ms).toFixed(1)}" r="3" fill="${colour}"/>`,
  );
  const place = `x="${(x(last.count) + 10).toFixed(1)}" y="${(y(last.ms) - 2).toFixed(1)}"`;
  const label = `<text ${place} fill="${colour}">${name}: ${last.ms.toFixed(0)} ms</text>`;
  return [path(points, `stroke="${colour}" stroke-width="2" fill="none"`), ...dots, label];
}

function path(points: readonly Point[], style: string): string {
  const steps = points.map(({ count, ms }) => `${x(count).toFixed(1)} ${y(ms).toFixed(1)}`);
  return `<path d="M${steps.join(' L')}" ${style}/>`;
}

function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  const from = `x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}"`;
  const to = `x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}"`;
  return `<line ${from} ${to} class="${kind}"/>`;
}

function text(
  left: number,
  top: number,
  content: string,
  anchor: 'start' | 'middle' | 'end',
): string {
  const place = `x="${left.toFixed(1)}" y="${top.toFixed(1)}"`;
  return `<text ${place} text-anchor="${anchor}">${content}</text>`;
}
