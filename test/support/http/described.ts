/**
 * Answers against src/http/openapi/openapi.json: status, headers of the node's own, content type and
 * every field, none besides.
 * An interpreter of JSON Schema does it, as workerd compiles no code.
 */
import { type Schema, Validator } from '@cfworker/json-schema';
import { expect } from 'vitest';
import openapi from '../../../src/http/openapi/openapi.json';
import type { Fetch } from './contract.ts';

interface DescribedResponse {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: Schema }>;
}

interface DescribedPath {
  pattern: RegExp;
  /** Responses by status, by method. */
  methods: Record<string, { responses: Record<string, DescribedResponse> }>;
}

const ERROR: DescribedResponse = {
  headers: { 'X-Error-Detail': {}, 'X-Content-Type-Options': {} },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

/** Paths without parameters are first. */
const paths: DescribedPath[] = Object.entries(openapi.paths)
  .sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
  .map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    methods: methods as DescribedPath['methods'],
  }));

const validators = new Map<Schema, Validator>();

/** Passes requests on, and holds every answer against the description. */
export function checkingDescription(fetch: Fetch): Fetch {
  return async (path, init) => {
    const response = await fetch(path, init);
    await checkDescribed(init?.method ?? 'GET', path, response.clone());
    return response;
  };
}

/** The body of the response is read. */
export async function checkDescribed(
  method: string,
  path: string,
  response: Response,
): Promise<void> {
  if (method === 'OPTIONS') return;
  const what = `${method} ${path} is ${response.status}`;
  const described = findResponse(method, path, response.status);
  const { content, headers = {} } = described;
  const named = Object.keys(headers).map((name) => name.toLowerCase());
  const own = [...response.headers.keys()].filter((name) => name.startsWith('x-'));
  expect(named, what).toEqual(expect.arrayContaining(own));
  if (content === undefined) {
    expect(await response.text(), what).toBe('');
    return;
  }
  const [type] = (response.headers.get('content-type') ?? '').split(';');
  const types = Object.keys(content);
  if (types.includes('*/*')) return;
  expect(types, what).toContain(type);
  if (type !== 'application/json' || method === 'HEAD') return;
  const { schema } = content[type]!;
  const { valid, errors } = validatorOf(schema).validate(await response.json());
  if (!valid) expect.fail(`${what}, not as openapi.json describes it: ${JSON.stringify(errors)}`);
}

/** Throws an Error where the status is not described. */
function findResponse(method: string, path: string, status: number): DescribedResponse {
  const { pathname } = new URL(`http://edge.example${path}`);
  const methods = paths.find(({ pattern }) => pattern.test(pathname))?.methods;
  const operation = methods?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  // the document says once that other methods are 405 and other paths 404
  if (operation === undefined && status >= 400) return ERROR;
  const response = operation?.responses[status];
  if (response === undefined) throw new Error(`${method} ${path} has no description of ${status}`);
  const name = response.$ref?.replace('#/components/responses/', '');
  return name === undefined ? response : (openapi.components.responses as never)[name];
}

function validatorOf(schema: Schema): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = new Validator({ ...schema, components: openapi.components }, '2020-12');
    validators.set(schema, validator);
  }
  return validator;
}
