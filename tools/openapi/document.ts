/**
 * The OpenAPI 3.1 document of all routes (https://spec.openapis.org/oas/v3.1.0), from what each file
 * of routes says about them (src/http/openapi/operation.ts).
 */

import { MESSAGES } from '../../src/http/errors.ts';
import { type Operation, type Parameter, TAGS } from '../../src/http/openapi/operation.ts';
import { MilestoneIndex } from '../../src/http/request.ts';
import type { Route } from '../../src/http/route.ts';
import { describeCoreRoutes, listRoutes } from '../../src/http/routes.ts';
import { describeModules, MODULES } from '../../src/modules/list.ts';
import { type Components, type Described, describeSchema, listComponents } from './components.ts';

/** The answers to the example requests, by operation ID. */
export type Examples = Readonly<Record<string, unknown>>;

/** The requests that the examples answer, by operation ID. */
export function listExampleRequests(): Map<string, { path: string; body: unknown }> {
  const operations: Readonly<Record<string, Operation>> = {
    ...describeCoreRoutes(),
    ...describeModules(),
  };
  return new Map(
    Object.entries(operations).flatMap(([operationId, { example: path, exampleBody: body }]) =>
      path === undefined ? [] : [[operationId, { path, body }]],
    ),
  );
}

const RAW_TYPE = 'application/vnd.iota.serializer-v1';

const DESCRIPTION = [
  'Reads of an IOTA Stardust ledger.',
  'HEAD is answered as GET. OPTIONS is a preflight on every path.',
  'A method that a path does not have is 405, an unknown path 404.',
  'PROTECTED_ROUTES of a deployment says which routes need a password or a token.',
].join(' ');

/** Request headers of routes whose answers are true at one ledger index. */
const TAGGED_PARAMETERS: readonly Parameter[] = [
  {
    in: 'header',
    name: 'X-Min-Ledger-Index',
    description: 'Asks for an answer at this ledger index or later.',
    schema: MilestoneIndex,
  },
  {
    in: 'header',
    name: 'If-None-Match',
    description: 'ETags of answers that the client has.',
    schema: { type: 'string' },
  },
];

const HEADERS = {
  'X-Ledger-Index': ['The ledger index at which the answer is true.', 'integer'],
  'X-Final-Milestone': ['The same, if the network ended there.', 'integer'],
  ETag: ['A weak tag of the answer.', 'string'],
  'X-Error-Detail': ['The reason, for people.', 'string'],
  'WWW-Authenticate': ['What lets in.', 'string'],
  'Retry-After': ['Seconds.', 'integer'],
  Vary: ['Headers of the request by which one URL has several answers.', 'string'],
  'X-Content-Type-Options': ['Always `nosniff`.', 'string'],
} as const;

type HeaderName = keyof typeof HEADERS;

/** Of every answer. */
const COMMON_HEADERS: readonly HeaderName[] = ['X-Content-Type-Options'];

const LEDGER_HEADERS: readonly HeaderName[] = ['X-Ledger-Index', 'X-Final-Milestone'];

export function buildDocument(version: string, examples: Examples): Described {
  const components: Components = new Map();
  const operations: Readonly<Record<string, Operation>> = {
    ...describeCoreRoutes(),
    ...describeModules(),
  };
  const paths: Record<string, Record<string, Described>> = {};
  for (const [operationId, route] of Object.entries(listRoutes(MODULES))) {
    const operation = operations[operationId];
    if (operation === undefined)
      throw new Error(`${operationId} has no description: src/modules/list.ts, describeModules`);
    if (operation.example !== undefined && !Object.hasOwn(examples, operationId))
      throw new Error(`${operationId} has an example without its answer: --examples-from URL`);
    const path = route.path.replace(/:(\w+)\+?/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: {
        operationId,
        ...describeOperation(route, operation, examples[operationId], components),
      },
    };
  }
  const described = JSON.stringify(paths);
  const used = Object.keys(MESSAGES).filter((status) =>
    described.includes(`"#/components/responses/${status}"`),
  );
  const responses = Object.fromEntries(
    used.map((status) => [status, describeError(Number(status))]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stardust edge node',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{}, { basic: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: {
        Error: {
          type: 'object',
          properties: {
            error: {
              type: 'object',
              properties: {
                code: { type: 'integer', description: 'The status.' },
                message: { type: 'string', description: 'One for each status.' },
              },
              required: ['code', 'message'],
              additionalProperties: false,
            },
          },
          required: ['error'],
          additionalProperties: false,
        },
        ...listComponents(components),
      },
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, [description, type]]) => [
          name,
          { description, schema: { type } },
        ]),
      ),
      responses,
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

function describeOperation(
  route: Route,
  operation: Operation,
  example: unknown,
  components: Components,
): Described {
  const { tag, summary, description, body, answer, statuses = {} } = operation;
  const isTagged = answer.ledgerIndex === 'tagged';
  const { errors = isTagged ? [400, 404] : [] } = operation;
  const parameters = [...(operation.parameters ?? []), ...(isTagged ? TAGGED_PARAMETERS : [])];
  const exampleValues = operation.example ? parametersOf(route, operation.example) : undefined;
  return {
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(parameters.length > 0 && {
      parameters: parameters.map((each) =>
        describeParameter(each, exampleValues?.get(each.name), components),
      ),
    }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: describeSchema(body, components),
            ...(operation.exampleBody !== undefined && { example: operation.exampleBody }),
          },
        },
      },
    }),
    responses: {
      200: describeAnswer(operation, example, components),
      ...(isTagged && {
        304: {
          description: 'Nothing changed since the answer with this ETag.',
          headers: refer('headers', [...COMMON_HEADERS, ...LEDGER_HEADERS, 'ETag', 'Vary']),
        },
      }),
      ...refer('responses', errorsOf(errors)),
      ...Object.fromEntries(
        Object.entries(statuses).map(([status, description]) => [
          status,
          {
            description,
            headers: {
              ...refer('headers', [...COMMON_HEADERS, ...LEDGER_HEADERS, 'X-Error-Detail']),
              ...describeHeaders(operation.answer),
            },
          },
        ]),
      ),
    },
  };
}

function describeAnswer(
  { answer }: Operation,
  example: unknown,
  components: Components,
): Described {
  const { description, schema, type, raw, ledgerIndex } = answer;
  const names: HeaderName[] = [
    ...COMMON_HEADERS,
    ...(ledgerIndex ? LEDGER_HEADERS : []),
    ...(ledgerIndex === 'tagged' ? (['ETag'] as const) : []),
    // the front of `npm run serve` compresses, whatever the route
    'Vary',
  ];
  const content = {
    ...(schema && {
      'application/json': {
        schema: describeSchema(schema, components),
        ...(example !== undefined && { example }),
      },
    }),
    ...(raw && { [RAW_TYPE]: { schema: { type: 'string', format: 'binary' } } }),
    ...(type && { [type]: { schema: { type: 'string' } } }),
  };
  return {
    description: raw ? `${description} Its bytes if Accept begins with their type.` : description,
    headers: { ...refer('headers', names), ...describeHeaders(answer) },
    ...(Object.keys(content).length > 0 && { content }),
  };
}

/** Those that only this operation has. */
function describeHeaders({ headers = {} }: Operation['answer']): Described {
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [
      name,
      { description: text, schema: { type: 'string' } },
    ]),
  );
}

/** Statuses in ascending order. 503 is also of the front of `serve`, while workerd is away. */
function errorsOf(errors: readonly number[]): string[] {
  const all = new Set([...errors, 401, 403, 429, 500, 503]);
  return [...all].sort((a, b) => a - b).map(String);
}

function describeError(status: number): Described {
  const names: HeaderName[] = [...COMMON_HEADERS, 'X-Error-Detail'];
  if (status === 401) names.push('WWW-Authenticate');
  // where what is wrong was found in the ledger
  if ([400, 404, 500].includes(status)) names.push(...LEDGER_HEADERS);
  if (status === 429 || status === 503) names.push('Retry-After');
  const message = MESSAGES[status as keyof typeof MESSAGES];
  return {
    description: message,
    headers: refer('headers', names),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: { error: { code: status, message } },
      },
    },
  };
}

function describeParameter(
  { schema, ...parameter }: Parameter,
  example: string | undefined,
  components: Components,
): Described {
  const described = describeSchema(schema, components);
  return {
    ...parameter,
    ...(parameter.explode === false && { style: 'form' }),
    schema: described,
    ...(example !== undefined && { example: parseExample(example, described) }),
  };
}

/** A parameter's value of a URL as its schema has it. */
function parseExample(text: string, { type }: Described): unknown {
  if (type === 'integer') return Number(text);
  return type === 'array' ? text.split(',') : text;
}

/** The values of the parameters that an example request has, by their names. */
function parametersOf({ path }: Route, example: string): Map<string, string> {
  const { pathname, searchParams } = new URL(example, 'http://edge.example');
  const pattern = path.replace(/:(\w+)\+?/g, '(?<$1>[^/]+)');
  const groups = new RegExp(`^${pattern}$`).exec(pathname)?.groups;
  if (groups === undefined && path !== pathname)
    throw new Error(`${example} is no request to ${path}`);
  return new Map([...Object.entries(groups ?? {}), ...searchParams]);
}

/** References to components, by their names. */
function refer(kind: 'headers' | 'responses', names: readonly string[]): Described {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]));
}
