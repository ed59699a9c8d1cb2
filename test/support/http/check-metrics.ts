/**
 * A strict reading of the text format of Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats/), and `promtool check metrics`
 * where that is installed (Debian: prometheus).
 */
import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { hasTool } from '../tools.ts';

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<label>[a-zA-Z_]\w*)="(?<text>(?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

/** By name and labels, as they are spelled: `name{label="text"}`. */
export type Samples = Map<string, number>;

/** The samples; throws, or fails the test, where the text is not of the format. */
export function checkMetrics(text: string): Samples {
  const samples: Samples = new Map();
  const families = new Set<string>();
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  let family: { name: string; type: string } | undefined;
  for (const [i, line] of lines.entries()) {
    if (line.startsWith('# HELP ')) {
      const name = line.split(' ')[2]!;
      expect(line).toMatch(/^# HELP \S+ \S.*$/);
      expect(families, 'a family comes in one piece').not.toContain(name);
      families.add(name);
      const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(lines[i + 1] ?? '');
      expect(type?.[1]).toBe(name);
      family = { name, type: type![2]! };
      continue;
    }
    if (line.startsWith('# TYPE ')) continue;
    const { name, labels = '', value } = SAMPLE.exec(line)!.groups!;
    const suffix = family?.type === 'histogram' ? '_(?:bucket|sum|count)' : '';
    expect(name).toMatch(new RegExp(`^${family?.name}${suffix}$`));
    expect(family?.type === 'counter').toBe(name!.endsWith('_total'));
    expect([...labels.matchAll(LABEL)].map(([pair]) => pair).join('')).toBe(labels);
    const number = Number(value!.replace('+Inf', 'Infinity'));
    expect(number).not.toBeNaN();
    const series = labels === '' ? name! : `${name}{${labels}}`;
    expect(samples.has(series), `${series} twice`).toBe(false);
    samples.set(series, number);
  }
  checkHistograms(samples);
  if (hasTool('promtool')) execFileSync('promtool', ['check', 'metrics'], { input: text });
  return samples;
}

/** Each bucket has what those before it have, and the last one everything. */
function checkHistograms(samples: Samples): void {
  let below = 0;
  for (const [series, value] of samples) {
    const bucket = /^(.*)_bucket\{(?:(.*),)?le="([^"]*)"\}$/.exec(series);
    if (bucket === null) continue;
    const [, name, labels, le] = bucket;
    expect(value).toBeGreaterThanOrEqual(below);
    below = le === '+Inf' ? 0 : value;
    if (le === '+Inf') expect(samples.get(`${name}_count{${labels}}`)).toBe(value);
  }
}
