/**
 * Builders of JSON Schema 2020-12 (https://json-schema.org/draft/2020-12), which OpenAPI 3.1 uses.
 * The Worker's bundle leaves out what only descriptions use: package.json declares that no module
 * has side effects, and a call in a file of routes is annotated as pure.
 */
import type * as v from 'valibot';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly [COMPONENT]?: Component;
}

/** JSON Schema, or the schema of valibot that checks a request. */
export type Schema = JsonSchema | v.GenericSchema;

export interface Component {
  name: string;
  schema(): Schema;
}

/** Marks a schema that the document refers to by name. */
export const COMPONENT = Symbol('component');

/** A component. A schema that refers to itself is given as a function. */
export function named(name: string, schema: Schema | (() => Schema)): JsonSchema {
  return { [COMPONENT]: { name, schema: typeof schema === 'function' ? schema : () => schema } };
}

export function described(description: string, schema: JsonSchema): JsonSchema {
  return { ...schema, description };
}

export function objectOf(
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const names = Object.keys(required);
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length > 0 && { required: names }),
    additionalProperties: false,
  };
}

/** A component that is an object. */
export function namedObject(name: string, ...fields: Parameters<typeof objectOf>): JsonSchema {
  return named(name, objectOf(...fields));
}

/** A component that is an object, whose field `type` is always this number. */
export function namedKind(
  name: string,
  type: number,
  ...[required, optional]: Parameters<typeof objectOf>
): JsonSchema {
  return namedObject(name, { type: { type: 'integer', const: type }, ...required }, optional);
}

export function arrayOf(
  items: JsonSchema,
  length: { minItems?: number; maxItems?: number } = {},
): JsonSchema {
  return { type: 'array', items, ...length };
}

export function oneOf(...schemas: JsonSchema[]): JsonSchema {
  return { oneOf: schemas };
}

export function orNull(schema: JsonSchema): JsonSchema {
  return oneOf(schema, { type: 'null' });
}

export function choiceOf(...values: string[]): JsonSchema {
  return { type: 'string', enum: values };
}

/** 0x and the hex digits of so many bytes, in lower case. */
export function hexOf(bytes: number): JsonSchema {
  return { type: 'string', pattern: `^0x[0-9a-f]{${2 * bytes}}$` };
}

/** A component that is a text of this pattern. */
function namedText(name: string, pattern: string, description: string): JsonSchema {
  return named(name, { type: 'string', pattern, description });
}

export const textSchema: JsonSchema = { type: 'string' };

export const flagSchema: JsonSchema = { type: 'boolean' };

export const numberSchema: JsonSchema = { type: 'number', minimum: 0 };

export const uint8Schema: JsonSchema = { type: 'integer', minimum: 0, maximum: 0xff };

export const uint16Schema: JsonSchema = { type: 'integer', minimum: 0, maximum: 0xffff };

export const uint32Schema: JsonSchema = { type: 'integer', minimum: 0, maximum: 0xffff_ffff };

export const uint64Schema = namedText(
  'Uint64',
  '^(0|[1-9][0-9]{0,19})$',
  'An integer from 0 to 2^64 - 1 as decimal text.',
);

export const uint256Schema = namedText(
  'Uint256',
  '^0x(0|[1-9a-f][0-9a-f]{0,63})$',
  'An integer from 0 to 2^256 - 1 as hex text, without leading zeros.',
);

export const bytesSchema = namedText('Bytes', '^0x([0-9a-f]{2})*$', 'Bytes as hex text.');

export const base64Schema = namedText('Base64', '^[0-9A-Za-z+/]*={0,2}$', 'Bytes in base64.');

export const hashSchema = namedText(
  'Hash',
  '^0x[0-9a-f]{64}$',
  '32 bytes as hex text: a hash, or the ID of a block, transaction, milestone or NFT.',
);

export const outputIdSchema = named(
  'OutputId',
  described('Transaction ID and output index (uint16, little-endian) as hex text.', hexOf(34)),
);

export const milestoneIndexSchema = named('MilestoneIndex', uint32Schema);

export const unixTimeSchema = named('UnixTime', described('Unix seconds.', uint32Schema));

export const bech32Schema = namedText(
  'Bech32Address',
  '^([!-~]+1[02-9ac-hj-np-z]{59}([02-9ac-hj-np-z]{2})?|0x[0-9a-f]{66})$',
  'An address in bech32 (TIP-31), with the prefix of the network; hex if no address can have that.',
);

export const listCursorSchema = namedText(
  'Cursor',
  '^[0-9a-f]{76}\\.[0-9]+$',
  'Where a page begins, and how many items it has.',
);

/** A milestone option that announces protocol parameters. */
export const protocolParametersOptionSchema = namedKind('ProtocolParamsMilestoneOption', 1, {
  targetMilestoneIndex: milestoneIndexSchema,
  protocolVersion: uint8Schema,
  params: {
    type: 'string',
    pattern: '^(0x([0-9a-f]{2})+)?$',
    description: 'Bytes as hex text; the empty text if there are none.',
  },
});
