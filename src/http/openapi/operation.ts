/**
 * Description of a route for openapi.json, besides its method, path and limit. Each file of routes
 * has a function that returns it, for tools/openapi.ts: the Worker's bundle leaves it out.
 */
import type { RouteTable } from '../route.ts';
import type { JsonSchema, Schema } from './json-schema.ts';

/** The groups of routes, and what they are. */
export const TAGS = {
  core: 'The core API of Stardust nodes (TIP-25).',
  indexer: 'The NFTs of the indexer API (TIP-26).',
  edge: 'What only this node has: NFTs with their outputs, and explanations.',
  proof: 'Proofs that a milestone references a block (TIP-4), or what a final ledger has.',
  node: 'The node itself.',
};

export interface Operation {
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  parameters?: readonly Parameter[];
  body?: Schema;
  answer: DescribedAnswer;
  /** Errors besides 401, 403, 429, 500 and 503. Absent: 400 and 404 if the answer is `tagged`. */
  errors?: readonly (400 | 404 | 426)[];
  /** More statuses without a body. */
  statuses?: Readonly<Record<number, string>>;
  /** Path of a request to a node with the sample. Its answer and parameters become the examples. */
  example?: string;
  exampleBody?: unknown;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  description: string;
  schema: Schema;
  required?: boolean;
  /** An array whose values are separated by commas. */
  explode?: false;
}

export interface DescribedAnswer {
  description: string;
  /** Schema of the JSON; undefined if the body is not JSON, or empty. */
  schema?: JsonSchema;
  type?: string;
  /** Whether a request may accept the bytes in place of the JSON. */
  raw?: true;
  /**
   * `named`: the answer has X-Ledger-Index. `tagged`: it also has an ETag, and the request may have
   * X-Min-Ledger-Index and If-None-Match.
   */
  ledgerIndex?: 'named' | 'tagged';
  /** More headers: what each says. */
  headers?: Readonly<Record<string, string>>;
}

export type Operations<Table extends RouteTable> = Readonly<Record<keyof Table, Operation>>;

export function inPath(name: string, schema: Schema, description: string): Parameter {
  return { in: 'path', name, description, schema, required: true };
}

export function inQuery(name: string, schema: Schema, description: string): Parameter {
  return { in: 'query', name, description, schema };
}

/** The parameters of a list that comes page by page, the largest page by default. */
export function inPages(items: string, most: number, cursor: Schema): Parameter[] {
  const pageSize = { type: 'integer', minimum: 1, maximum: most };
  return [
    inQuery('pageSize', pageSize, `The most ${items} of a page. Default: ${most}.`),
    inQuery('cursor', cursor, "Another page's cursor. Its page size counts, not `pageSize`."),
  ];
}

/** A read of the core API by an ID or an index. Its answer has X-Ledger-Index, if nothing more. */
export function coreRead(
  summary: string,
  path: string,
  parameter: Parameter,
  answer: DescribedAnswer,
): Operation {
  return {
    tag: 'core',
    summary: `${summary} (TIP-25)`,
    parameters: [parameter],
    answer: { ledgerIndex: 'named', ...answer },
    errors: [400, 404],
    example: path,
  };
}
