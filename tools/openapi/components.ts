/**
 * Schemas as the document has them: what is named becomes a component, which the document refers to.
 */
import { type JsonSchema as Converted, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import {
  COMPONENT,
  type Component,
  type JsonSchema,
  type Schema,
} from '../../src/http/openapi/json-schema.ts';

export type Described = Record<string, unknown>;

/** Components by name, with what the document says of them. */
export type Components = Map<string, { component: Component; described: Described }>;

/** The schemas by name, in the order of the names. */
export function listComponents(components: Components): Record<string, Described> {
  const sorted = [...components].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, { described }]) => [name, described]));
}

/** Describes the JSON that a schema of valibot reads, before its transformations. */
export function describeSchema(schema: Schema, components: Components): Described {
  if (isValibot(schema)) {
    const { $schema: _, ...described } = toJsonSchema(schema, {
      target: 'draft-2020-12',
      typeMode: 'input',
      overrideSchema: ({ jsonSchema }) => joinNull(jsonSchema),
    });
    return described;
  }
  const component = schema[COMPONENT];
  const described = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, describeValue(value, components)]),
  );
  if (component === undefined) return described;
  const { name } = component;
  const known = components.get(name);
  if (known === undefined) {
    // a schema that refers to itself finds its name taken
    const own: Described = {};
    components.set(name, { component, described: own });
    Object.assign(own, describeSchema(component.schema(), components));
  } else if (known.component !== component) {
    throw new Error(`two components have the name ${name}`);
  }
  return { $ref: `#/components/schemas/${name}`, ...described };
}

/**
 * A plain type or null as one schema with two types. Generators of clients fail with a union of
 * patterns, and take a field with a default for one that must be there.
 */
function joinNull({ anyOf, default: _, ...described }: Converted): Converted | undefined {
  const [plain, none] = anyOf ?? [];
  if (typeof plain !== 'object' || typeof plain.type !== 'string') return undefined;
  if (typeof none !== 'object' || none.type !== 'null') return undefined;
  return { ...described, ...plain, type: [plain.type, 'null'] };
}

function describeValue(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((each) => describeValue(each, components));
  return typeof value === 'object' && value !== null
    ? describeSchema(value as JsonSchema, components)
    : value;
}

function isValibot(schema: Schema): schema is v.GenericSchema {
  return '~standard' in schema;
}
