/**
 * Pieces of the OpenAPI description: schemas, parameters, errors.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import * as responses from './responses.ts';

type Schema = v.GenericSchema;
export type Described = Record<string, unknown>;

export const ERRORS = {
  400: 'invalid data provided',
  401: 'unauthorized',
  403: 'not available for public use',
  404: 'could not find data',
  429: 'too many requests',
  500: 'internal server error',
} as const;

/** Describes the JSON that the schema reads, before its transformations. */
export function schemaOf(schema: Schema): Described {
  const { $schema: _, ...described } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
  });
  return described;
}

export function json(schema: Schema): Described {
  return { 'application/json': { schema: schemaOf(schema) } };
}

export const ledgerIndexHeader = {
  'X-Ledger-Index': {
    description: 'The ledger index at which the answer is true.',
    schema: { type: 'integer' },
  },
  'X-Final-Milestone': {
    description: 'The same, where the network ended there.',
    schema: { type: 'integer' },
  },
};

export function describeErrorResponse(status: string, description: string): Described {
  return {
    description,
    headers: {
      'X-Error-Detail': { description: 'The reason, for people.', schema: { type: 'string' } },
      ...(status === '401' && {
        'WWW-Authenticate': { description: 'What lets in.', schema: { type: 'string' } },
      }),
      ...(status === '429' && {
        'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
      }),
    },
    content: json(responses.ErrorBody),
  };
}

export function errors(...statuses: (keyof typeof ERRORS)[]): Described {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]),
  );
}

export function parameter(
  where: 'path' | 'header',
  name: string,
  schema: Schema,
  description: string,
): Described {
  return { name, in: where, required: where === 'path', description, schema: schemaOf(schema) };
}
