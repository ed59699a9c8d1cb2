/**
 * The fields of a schema, as people read them: one row each, and one list for each schema that has a
 * name.
 */
import { type ApiSchema, nameOf, type Schemas } from './description.ts';

export interface FormField {
  /** Such as `changes[].owner`; empty: the whole. */
  path: string;
  type: string;
  isOptional: boolean;
  description: string;
}

/** Fields within fields that have no name of their own, at most. */
const MAX_DEPTH = 6;

/** The type of a value, in a few words; another schema by its name. */
export function describeType(schema: ApiSchema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return choices.map(describeType).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.map((each) => JSON.stringify(each)).join(' or ');
  if (schema.type === 'array') return `list of ${describeType(schema.items ?? {})}`;
  return `${schema.type ?? 'any'}${describeRange(schema)}`;
}

function describeRange({ minimum, maximum, pattern }: ApiSchema): string {
  if (pattern !== undefined) return `, ${pattern}`;
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return `, ${minimum} or more`;
  return minimum === undefined ? `, at most ${maximum}` : `, ${minimum} to ${maximum}`;
}

export function fieldsOf(schema: ApiSchema, path = '', depth = 0): FormField[] {
  const inner = schema.type === 'array' ? schema.items : schema;
  const place = schema.type === 'array' ? `${path}[]` : path;
  if (inner?.properties === undefined || depth === MAX_DEPTH) {
    const { description = '' } = schema;
    const whole = { path: '', type: describeType(schema), isOptional: false, description };
    return depth > 0 ? [] : [whole];
  }
  return Object.entries(inner.properties).flatMap(([name, each]) => {
    const at = place === '' ? name : `${place}.${name}`;
    const field = {
      path: at,
      type: describeType(each),
      isOptional: !inner.required?.includes(name),
      description: each.description ?? '',
    };
    return [field, ...fieldsOf(each, at, depth + 1)];
  });
}

/** The schemas that a schema leads to by name, each once, the nearest first. */
export function namedSchemas(
  schema: ApiSchema,
  schemas: Schemas,
): [name: string, schema: ApiSchema][] {
  const found = new Map<string, ApiSchema>();
  const waiting = [schema];
  for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
    const name = each.$ref === undefined ? undefined : nameOf(each.$ref);
    const target = name !== undefined && Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (name !== undefined && target !== undefined && !found.has(name)) {
      found.set(name, target);
      waiting.push(target);
    }
    const { properties = {}, items, oneOf = [], anyOf = [] } = each;
    waiting.push(...Object.values(properties), ...(items ? [items] : []), ...oneOf, ...anyOf);
  }
  return [...found];
}
