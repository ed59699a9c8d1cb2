/**
 * The text format of Prometheus, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricFamily {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: readonly Sample[];
}

export interface Sample {
  /** Suffix in a histogram: `_bucket`, `_sum` or `_count`. */
  suffix?: string;
  labels?: Readonly<Record<string, string>>;
  value: number;
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Leaves out families without samples. Throws a RangeError for a wrong name, a defect of the code.
 */
export function encodeMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(encodeFamily)
    .join('');
}

function encodeFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = [
    `# HELP ${name} ${escapeBackslash(help)}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => encodeSample(name, sample)),
  ];
  return `${lines.join('\n')}\n`;
}

function encodeSample(family: string, { suffix = '', labels = {}, value }: Sample): string {
  const name = checked(family + suffix, METRIC_NAME);
  const pairs = Object.entries(labels).map(
    ([label, text]) =>
      `${checked(label, LABEL_NAME)}="${escapeBackslash(text).replaceAll('"', '\\"')}"`,
  );
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${encodeValue(value)}`;
}

function checked(name: string, pattern: RegExp): string {
  if (!pattern.test(name)) throw new RangeError(`no name of a metric or label: ${name}`);
  return name;
}

/** A line feed would end the line. */
function escapeBackslash(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function encodeValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

/** @param value undefined where it is not known: {@link encodeMetrics} leaves the family out then */
export function gauge(
  name: string,
  help: string,
  value: number | undefined,
  labels: Readonly<Record<string, string>> = {},
): MetricFamily {
  return { name, help, type: 'gauge', samples: value === undefined ? [] : [{ labels, value }] };
}

export function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: 'counter', samples };
}
