/**
 * The description of the node's API (OpenAPI 3.1), as far as the page shows it. It comes from the
 * node, so whatever it says is text.
 *
 * It is read by functions of its own: what they would take of valibot would be loaded with every
 * page.
 */
import * as v from 'valibot';
import { askJson, NodeError } from '../node/ask.ts';

/** JSON Schema, or a reference to a named one. */
export interface Schema {
  $ref?: string | undefined;
  type?: string | undefined;
  description?: string | undefined;
  pattern?: string | undefined;
  enum?: readonly unknown[] | undefined;
  const?: unknown;
  minimum?: number | undefined;
  maximum?: number | undefined;
  required?: readonly unknown[] | undefined;
  properties?: Schemas | undefined;
  items?: Schema | undefined;
  oneOf?: readonly Schema[] | undefined;
  anyOf?: readonly Schema[] | undefined;
}

export type Schemas = Readonly<Record<string, Schema>>;

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  description: string;
  required: boolean;
  schema: Schema;
  example: unknown;
}

/** By type. */
type Content = Readonly<Record<string, { schema: Schema | undefined; example: unknown }>>;

interface Answer {
  status: string;
  description: string;
  content: Content;
}

export interface Operation {
  operationId: string;
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  /** What a POST takes. */
  body: Content;
  answers: readonly Answer[];
}

interface Group {
  name: string;
  description: string;
  operations: readonly Operation[];
}

export interface Description {
  version: string;
  groups: readonly Group[];
  schemas: Schemas;
}

/** Throws a NodeError where the node does not describe itself. */
export async function readDescription(): Promise<Description> {
  const { info, tags, paths, components } = await askJson('/openapi.json', v.looseObject({}));
  const { schemas, responses } = asObject(components);
  const shared = asObject(responses);
  const operations = Object.entries(asObject(paths)).flatMap(([path, item]) =>
    Object.entries(asObject(item)).map(([method, operation]) => ({
      tags: asList(asObject(operation).tags),
      operation: readOperation(asObject(operation), path, method, shared),
    })),
  );
  return {
    version: asText(asObject(info).version),
    groups: asList(tags).map((tag) => {
      const name = asText(asObject(tag).name);
      const own = operations.filter((each) => each.tags.includes(name));
      return {
        name,
        description: asText(asObject(tag).description),
        operations: own.map(({ operation }) => operation),
      };
    }),
    schemas: readSchemas(schemas),
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

function readOperation(
  {
    operationId,
    summary,
    description = '',
    parameters = [],
    requestBody = {},
    responses,
  }: JsonObject,
  path: string,
  method: string,
  shared: JsonObject,
): Operation {
  return {
    operationId: asText(operationId),
    method: method === 'get' ? 'GET' : method === 'post' ? 'POST' : refuse(),
    path,
    summary: asText(summary),
    description: asText(description),
    parameters: asList(parameters).map(readParameter),
    body: readContent(asObject(requestBody).content),
    answers: Object.entries(asObject(responses)).map(([status, response]) => {
      const { $ref } = asObject(response);
      const { description, content } = asObject(
        $ref === undefined ? response : shared[nameOf(asText($ref))],
      );
      return { status, description: asText(description), content: readContent(content) };
    }),
  };
}

function readParameter(json: unknown): Parameter {
  const { in: place, name, description = '', required, schema, example } = asObject(json);
  if (place !== 'path' && place !== 'query' && place !== 'header') return refuse();
  return {
    in: place,
    name: asText(name),
    description: asText(description),
    required: required === true,
    schema: readSchema(schema),
    example,
  };
}

function readContent(json: unknown = {}): Content {
  return mapObject(json, (each) => {
    const { schema, example } = asObject(each);
    return { schema: schema === undefined ? undefined : readSchema(schema), example };
  });
}

function readSchemas(json: unknown): Schemas {
  return mapObject(json, readSchema);
}

function readSchema(json: unknown): Schema {
  const schema = asObject(json);
  const { properties, items, oneOf, anyOf } = schema;
  return {
    $ref: optional(schema.$ref, asText),
    type: optional(schema.type, readType),
    description: optional(schema.description, asText),
    pattern: optional(schema.pattern, asText),
    enum: optional(schema.enum, asList),
    const: schema.const,
    minimum: optional(schema.minimum, asNumber),
    maximum: optional(schema.maximum, asNumber),
    required: optional(schema.required, asList),
    properties: optional(properties, readSchemas),
    items: optional(items, readSchema),
    oneOf: optional(oneOf, asList)?.map(readSchema),
    anyOf: optional(anyOf, asList)?.map(readSchema),
  };
}

/** A type, or several as words: `["string", "null"]`. */
function readType(json: unknown): string {
  return Array.isArray(json) ? json.map(asText).join(' or ') : asText(json);
}

function mapObject<T>(json: unknown, read: (value: unknown) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(asObject(json)).map(([name, value]) => [name, read(value)]),
  );
}

function optional<T>(json: unknown, read: (json: unknown) => T): T | undefined {
  return json === undefined ? undefined : read(json);
}

function asObject(json: unknown): JsonObject {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? (json as JsonObject) : refuse();
}

function asList(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : refuse();
}

function asText(json: unknown): string {
  return typeof json === 'string' ? json : refuse();
}

function asNumber(json: unknown): number {
  return typeof json === 'number' ? json : refuse();
}

function refuse(): never {
  throw new NodeError(0, "The node's answer is not what its contract says: its own description.");
}

/** What a 200 has, by its type. */
export function contentOf({ answers }: Operation): Content {
  return answers.find(({ status }) => status === '200')?.content ?? {};
}

/** The last part of a reference: `#/components/schemas/Hash`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
