/**
 * How the time of a white-flag request grows with its cone; drawn as docs/performance-growth.svg.
 */
import { writeFileSync } from 'node:fs';
import type { Bench, BenchCase } from '../case.ts';
import { coneLedger } from '../tools/cone-ledger.ts';
import { drawGrowth, type Point } from '../tools/picture.ts';
import { Questioner } from '../tools/questions.ts';
import { withEdge } from '../tools/servers.ts';

const COUNTS = [100, 300, 1000, 3000, 10_000, 30_000, 50_000];
const KINDS = ['notes', 'transfers'] as const;

async function measure(
  { worker: folder }: Bench,
  kind: (typeof KINDS)[number],
  count: number,
): Promise<Point> {
  const { persistTo, question } = await coneLedger({ kind, count });
  return withEdge({ folder, persistTo }, async (edge) => {
    const questioner = new Questioner(edge.url);
    const ms = await questioner.measure(question);
    questioner.close();
    return { count, ms };
  });
}

/** How much more the last point takes than n log n allows, by the point with so many blocks. */
function overNLogN(points: readonly Point[], from: number): number {
  const expected = ({ count }: Point) => count * Math.log2(count);
  const first = points.find(({ count }) => count === from)!;
  const last = points.at(-1)!;
  return last.ms / first.ms / (expected(last) / expected(first));
}

export const growthCases: readonly BenchCase[] = [
  {
    name: 'growth',
    about:
      'Cones of 100 to 50,000 blocks, and by how much their times grow, compared with n log n.',
    run: async (bench) => {
      const curves: Record<string, Point[]> = {};
      for (const kind of KINDS) {
        const points: Point[] = [];
        for (const count of COUNTS) {
          const point = await measure(bench, kind, count);
          points.push(point);
          bench.report({
            name: `growth: ${count.toLocaleString('en')} ${kind}`,
            value: point.ms,
            unit: 'ms',
          });
        }
        for (const from of [100, 1000, 10_000]) {
          const name = `growth: ${kind} from ${from.toLocaleString('en')} to 50,000, of n log n`;
          bench.report({
            name,
            value: overNLogN(points, from),
            unit: 'times',
            target: { most: 1 },
          });
        }
        curves[kind] = points;
      }
      if (bench.picture !== undefined) writeFileSync(bench.picture, drawGrowth(curves));
    },
  },
];
