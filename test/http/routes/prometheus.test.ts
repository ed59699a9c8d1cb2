import { describe, expect, it } from 'vitest';
import { createRequestCounts } from '../../../src/http/request-counts.ts';
import { encodeMetrics, type MetricFamily } from '../../../src/http/routes/node/prometheus.ts';
import { checkMetrics } from '../../support/http/check-metrics.ts';

const family = (parts: Partial<MetricFamily>): MetricFamily => ({
  name: 'made_up',
  help: 'What it is.',
  type: 'gauge',
  samples: [{ value: 1 }],
  ...parts,
});

describe('the text of metrics', () => {
  it('has help and type before the samples', () => {
    const samples = [
      { labels: { route: '/a', status: '200' }, value: 3 },
      { labels: { route: '/b', status: '404' }, value: 0.5 },
    ];
    expect(encodeMetrics([family({}), family({ name: 'c', samples })])).toBe(
      `# HELP made_up What it is.
# TYPE made_up gauge
made_up 1
# HELP c What it is.
# TYPE c gauge
c{route="/a",status="200"} 3
c{route="/b",status="404"} 0.5
`,
    );
  });

  it('leaves out a family without samples', () => {
    expect(encodeMetrics([family({ samples: [] })])).toBe('');
  });

  it('escapes what would end a label or a line', () => {
    const samples = [{ labels: { a: 'x"y\\z\n' }, value: 1 }];
    const text = encodeMetrics([family({ help: 'a\\b\nc "d"', samples })]);
    expect(text).toBe(
      '# HELP made_up a\\\\b\\nc "d"\n# TYPE made_up gauge\nmade_up{a="x\\"y\\\\z\\n"} 1\n',
    );
    checkMetrics(text);
  });

  it.each<[number, string]>([
    [0, '0'],
    [-1.5, '-1.5'],
    [1e21, '1e+21'],
    [1e-7, '1e-7'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ])('writes %d as Go reads it', (value, text) => {
    expect(encodeMetrics([family({ samples: [{ value }] })])).toMatch(`\nmade_up ${text}\n`);
  });

  it.each([
    family({ name: 'a-b' }),
    family({ name: '1a' }),
    family({ samples: [{ labels: { 'a:b': '' }, value: 1 }] }),
  ])('refuses a name that is none', (wrong) => {
    expect(() => encodeMetrics([wrong])).toThrow(RangeError);
  });
});

describe('counts of requests', () => {
  it('are by route and status, and times by route in buckets', () => {
    const counts = createRequestCounts();
    expect(encodeMetrics(counts.families())).toBe('');
    for (const ms of [0, 1, 1.01, 7, 5000, 5001]) counts.count('/a/:id', 200, ms);
    counts.count('/a/:id', 404, 7);
    counts.count('none', 404, 1);
    const samples = checkMetrics(encodeMetrics(counts.families()));
    expect(Object.fromEntries(samples)).toMatchObject({
      'stardust_requests_total{route="/a/:id",status="200"}': 6,
      'stardust_requests_total{route="/a/:id",status="404"}': 1,
      'stardust_requests_total{route="none",status="404"}': 1,
      'stardust_request_seconds_bucket{route="/a/:id",le="0.001"}': 2,
      'stardust_request_seconds_bucket{route="/a/:id",le="0.0025"}': 3,
      'stardust_request_seconds_bucket{route="/a/:id",le="0.01"}': 5,
      'stardust_request_seconds_bucket{route="/a/:id",le="5"}': 6,
      'stardust_request_seconds_bucket{route="/a/:id",le="+Inf"}': 7,
      'stardust_request_seconds_count{route="/a/:id"}': 7,
      'stardust_request_seconds_bucket{route="none",le="0.001"}': 1,
    });
    expect(samples.get('stardust_request_seconds_sum{route="/a/:id"}')).toBeCloseTo(10.01701);
  });
});
