/**
 * A request that the visitor wrote: what is sent, and the command that sends the same.
 */
import type { ApiOperation, ApiParameter } from './description.ts';

/** What the visitor filled in, by {@link keyOf}. */
export type Values = Readonly<Record<string, string>>;

export interface ApiRequest {
  method: ApiOperation['method'];
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export const RAW_TYPE = 'application/vnd.iota.serializer-v1';

/** Two parameters in different places may have one name. */
export function keyOf({ in: place, name }: ApiParameter): string {
  return `${place} ${name}`;
}

/** Of the ledger that is served, by name of the parameter; undefined where it has none. */
export type RequestExamples = Readonly<Record<string, string | undefined>>;

/** Examples, as text; a list with commas. Those of the description are of the sample. */
export function firstValues({ parameters }: ApiOperation, examples: RequestExamples = {}): Values {
  const of = ({ name, in: place, example }: ApiParameter) =>
    example !== undefined && place !== 'header' && Object.hasOwn(examples, name)
      ? examples[name]
      : example;
  return Object.fromEntries(parameters.map((each) => [keyOf(each), textOf(of(each))] as const));
}

function textOf(example: unknown): string {
  return example === undefined ? '' : String(example);
}

/** The example of a body, as JSON; undefined if the operation takes none. */
export function firstBody(
  { body, path }: ApiOperation,
  examples: RequestExamples = {},
): string | undefined {
  const content = body['application/json'];
  if (path.endsWith('/whiteflag') && examples.body !== undefined) return examples.body;
  return content && JSON.stringify(content.example ?? {}, undefined, 2);
}

/** @param body the JSON, and undefined where there is none */
export function buildRequest(
  { method, path, parameters }: ApiOperation,
  values: Values,
  body: string | undefined,
  isRaw: boolean,
): ApiRequest {
  const given = parameters
    .map((each) => ({ ...each, value: (values[keyOf(each)] ?? '').trim() }))
    .filter(({ value }) => value !== '');
  let filled = path;
  for (const { in: place, name, value } of given)
    if (place === 'path') filled = filled.replace(`{${name}}`, () => encode(value));
  const query = given
    .filter((each) => each.in === 'query')
    .map(({ name, value }) => `${encode(name)}=${encode(value)}`);
  const headers = given.filter((each) => each.in === 'header');
  return {
    method,
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    headers: {
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      ...(isRaw && { Accept: RAW_TYPE }),
    },
    body,
  };
}

/** IDs that are separated by commas stay readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%2C', ',');
}

/** For a shell. */
export function formatCurl({ path, headers, body }: ApiRequest, origin: string): string {
  const words = [
    quote(origin + path),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H ${quote('Content-Type: application/json')}`, `--data-binary ${quote(body)}`]),
  ];
  return `curl ${words.join(' ')}`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
