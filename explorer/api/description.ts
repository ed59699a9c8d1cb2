/**
 * The description of the node's API (OpenAPI 3.1), as far as the page shows it. It comes from the
 * node, so whatever it says is text.
 */
import * as v from 'valibot';
import { askJson, NodeError } from '../node/ask.ts';

/** JSON Schema, or a reference to a named one. */
export interface ApiSchema {
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
  items?: ApiSchema | undefined;
  oneOf?: readonly ApiSchema[] | undefined;
  anyOf?: readonly ApiSchema[] | undefined;
}

export type Schemas = Readonly<Record<string, ApiSchema>>;

const text = v.string();
const [someText, someNumber, someList] = [
  v.optional(text),
  v.optional(v.number()),
  v.optional(v.array(v.unknown())),
];
const schema: v.GenericSchema<unknown, ApiSchema> = v.lazy(() =>
  v.object({
    $ref: someText,
    // a type, or several as words: `["string", "null"]`
    type: v.optional(
      v.union([
        text,
        v.pipe(
          v.array(text),
          v.transform((types) => types.join(' or ')),
        ),
      ]),
    ),
    description: someText,
    pattern: someText,
    enum: someList,
    const: v.optional(v.unknown()),
    minimum: someNumber,
    maximum: someNumber,
    required: someList,
    properties: v.optional(schemas),
    items: v.optional(schema),
    oneOf: v.optional(v.array(schema)),
    anyOf: v.optional(v.array(schema)),
  }),
);
const schemas = v.record(text, schema);

/** By type. */
const content = v.optional(
  v.record(text, v.object({ schema: v.optional(schema), example: v.optional(v.unknown()) })),
  {},
);

const parameter = v.object({
  in: v.picklist(['path', 'query', 'header']),
  name: text,
  description: v.optional(text, ''),
  required: v.optional(v.boolean(), false),
  schema,
  example: v.optional(v.unknown()),
});
export type ApiParameter = v.InferOutput<typeof parameter>;

const answer = v.object({ description: text, content });

const operation = v.object({
  operationId: text,
  tags: v.array(text),
  summary: text,
  description: v.optional(text, ''),
  parameters: v.optional(v.array(parameter), []),
  requestBody: v.optional(v.object({ content }), {}),
  responses: v.record(text, v.union([v.object({ $ref: text }), answer])),
});

const document = v.object({
  info: v.object({ version: text }),
  tags: v.array(v.object({ name: text, description: text })),
  paths: v.record(text, v.record(v.picklist(['get', 'post']), operation)),
  components: v.object({ schemas, responses: v.record(text, answer) }),
});

/** Throws a NodeError where the node does not describe itself. */
export async function readDescription() {
  const { info, tags, paths, components } = await askJson('/openapi.json', document);
  const shared = (name: string) => {
    const found = Object.hasOwn(components.responses, name) && components.responses[name];
    if (found) return found;
    throw new NodeError(0, `The node's answer is not what its contract says: ${name}.`);
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { requestBody, responses, ...others }]) => ({
      ...others,
      method: method.toUpperCase() as 'GET' | 'POST',
      path,
      /** What a POST takes. */
      body: requestBody.content,
      answers: Object.entries(responses).map(([status, response]) => ({
        status,
        ...('$ref' in response ? shared(nameOf(response.$ref)) : response),
      })),
    })),
  );
  return {
    version: info.version,
    groups: tags.map(({ name, description }) => ({
      name,
      description,
      operations: operations.filter((each) => each.tags.includes(name)),
    })),
    schemas: components.schemas,
  };
}

export type Description = Awaited<ReturnType<typeof readDescription>>;
export type ApiOperation = Description['groups'][number]['operations'][number];

/** What a 200 has, by its type. */
export function contentOf({ answers }: ApiOperation): v.InferOutput<typeof content> {
  return answers.find(({ status }) => status === '200')?.content ?? {};
}

/** The last part of a reference: `#/components/schemas/Hash`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
