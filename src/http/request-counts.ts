/**
 * Counts requests and their times in this isolate's memory, where it answers all requests (`npm run
 * serve`). Labels are declared routes and statuses, never paths: a bounded number.
 */
import { counter, type MetricFamily, type Sample } from './routes/node/prometheus.ts';

export type RequestCounts = ReturnType<typeof createRequestCounts>;

/** Upper bounds of the buckets, seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface Times {
  /** Count of each bucket; last, those above all bounds. */
  counts: number[];
  sum: number;
}

export function createRequestCounts() {
  const requests = new Map<string, Map<number, number>>();
  const times = new Map<string, Times>();
  return {
    /** @param route as declared, or `none` */
    count(route: string, status: number, ms: number) {
      const statuses = requests.get(route) ?? new Map<number, number>();
      requests.set(route, statuses);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const seconds = ms / 1000;
      const own = times.get(route) ?? { counts: new Array(BOUNDS.length + 1).fill(0), sum: 0 };
      times.set(route, own);
      const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
      own.counts[bucket === -1 ? BOUNDS.length : bucket]!++;
      own.sum += seconds;
    },
    families: (): MetricFamily[] => [
      counter(
        'stardust_requests_total',
        'Requests answered, by route as declared and by status.',
        Array.from(requests, ([route, statuses]) =>
          Array.from(statuses, ([status, value]) => ({
            labels: { route, status: String(status) },
            value,
          })),
        ).flat(),
      ),
      {
        name: 'stardust_request_seconds',
        help: 'Time from a request to its answer.',
        type: 'histogram',
        samples: Array.from(times, ([route, own]) => samplesOf(route, own)).flat(),
      },
    ],
  };
}

function samplesOf(route: string, { counts, sum }: Times): Sample[] {
  let below = 0;
  const buckets = counts.map((count, i) => {
    below += count;
    const le = i < BOUNDS.length ? String(BOUNDS[i]) : '+Inf';
    return { suffix: '_bucket', labels: { route, le }, value: below };
  });
  return [
    ...buckets,
    { suffix: '_sum', labels: { route }, value: sum },
    { suffix: '_count', labels: { route }, value: below },
  ];
}
