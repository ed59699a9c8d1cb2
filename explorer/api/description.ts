/**
 * The description of the node's API (OpenAPI 3.1), as far as the page shows it. It comes from the
 * node, so whatever it says is text.
 */
import * as v from 'valibot';
import { askJson } from '../node/ask.ts';

/** JSON Schema, or a reference to a named one. */
export interface Schema {
  $ref?: string | undefined;
  type?: string | undefined;
  description?: string | undefined;
  pattern?: string | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  minimum?: number | undefined;
  maximum?: number | undefined;
  required?: string[] | undefined;
  properties?: Record<string, Schema> | undefined;
  items?: Schema | undefined;
  oneOf?: Schema[] | undefined;
  anyOf?: Schema[] | undefined;
}

const schema: v.GenericSchema<Schema> = v.object({
  $ref: v.optional(v.string()),
  type: v.optional(v.string()),
  description: v.optional(v.string()),
  pattern: v.optional(v.string()),
  enum: v.optional(v.array(v.unknown())),
  const: v.optional(v.unknown()),
  minimum: v.optional(v.number()),
  maximum: v.optional(v.number()),
  required: v.optional(v.array(v.string())),
  properties: v.optional(
    v.record(
      v.string(),
      v.lazy(() => schema),
    ),
  ),
  items: v.optional(v.lazy(() => schema)),
  oneOf: v.optional(v.array(v.lazy(() => schema))),
  anyOf: v.optional(v.array(v.lazy(() => schema))),
});

const content = v.record(
  v.string(),
  v.object({ schema: v.optional(schema), example: v.optional(v.unknown()) }),
);

const parameter = v.object({
  in: v.picklist(['path', 'query', 'header']),
  name: v.string(),
  description: v.optional(v.string(), ''),
  required: v.optional(v.boolean(), false),
  schema,
  example: v.optional(v.unknown()),
});
export type Parameter = v.InferOutput<typeof parameter>;

const response = v.object({
  $ref: v.optional(v.string()),
  description: v.optional(v.string()),
  content: v.optional(content),
});

const operation = v.object({
  operationId: v.string(),
  tags: v.array(v.string()),
  summary: v.string(),
  description: v.optional(v.string()),
  parameters: v.optional(v.array(parameter), []),
  requestBody: v.optional(v.object({ content })),
  responses: v.record(v.string(), response),
});

const document = v.object({
  info: v.object({ version: v.string() }),
  tags: v.array(v.object({ name: v.string(), description: v.string() })),
  paths: v.record(
    v.string(),
    v.object({ get: v.optional(operation), post: v.optional(operation) }),
  ),
  components: v.object({
    schemas: v.record(v.string(), schema),
    responses: v.record(v.string(), response),
  }),
});

/** One operation, with what the document says of it elsewhere. */
export interface Operation extends v.InferOutput<typeof operation> {
  method: 'GET' | 'POST';
  path: string;
  /** What each status means. */
  answers: { status: string; description: string }[];
}

export interface Description {
  version: string;
  groups: { name: string; description: string; operations: Operation[] }[];
  schemas: Record<string, Schema>;
}

/** Throws a NodeError where the node does not describe itself. */
export async function readDescription(): Promise<Description> {
  return describe(await askJson('/openapi.json', document));
}

function describe({ info, tags, paths, components }: v.InferOutput<typeof document>): Description {
  const operations = Object.entries(paths).flatMap(([path, { get, post }]) => [
    ...(get ? [{ ...get, method: 'GET' as const, path }] : []),
    ...(post ? [{ ...post, method: 'POST' as const, path }] : []),
  ]);
  const all = operations.map((each) => ({
    ...each,
    answers: Object.entries(each.responses).map(([status, { $ref, description }]) => ({
      status,
      description: description ?? components.responses[nameOf($ref ?? '')]?.description ?? '',
    })),
  }));
  return {
    version: info.version,
    groups: tags.map((tag) => ({
      ...tag,
      operations: all.filter((each) => each.tags.includes(tag.name)),
    })),
    schemas: components.schemas,
  };
}

/** The last part of a reference: `#/components/schemas/Hash`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
