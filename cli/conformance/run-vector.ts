/**
 * Runs one vector. Its fields show its kind; test/vectors/README.md describes the kinds.
 */

import { verifySignature } from '../../src/platform/verify-signature.ts';
import type { ProtocolParameters } from '../../src/stardust/block.ts';
import { asObject, type JsonObject } from '../../src/stardust/encoding/json-object.ts';
import { StardustError } from '../../src/stardust/error.ts';
import type { VerifySignature } from '../../src/stardust/milestone.ts';
import { errorMessage } from '../lib/process/command-line.ts';
import { libraryWhiteFlag } from './library-white-flag.ts';
import { runParsing } from './parsing.ts';
import { productWhiteFlag } from './product-white-flag.ts';
import { runLeaves, runProof, runSignature } from './proofs.ts';
import { runSemantics } from './semantics.ts';
import { runWhiteFlag } from './white-flag.ts';

/**
 * Returns a sentence that says what differs, or undefined. Throws a StardustError if the vector
 * cannot be read.
 */
type Run = (
  vector: JsonObject,
  parameters: ProtocolParameters,
  verify: VerifySignature,
) => string | undefined | Promise<string | undefined>;

/** Each kind of vector has fields that no other kind has. */
const KINDS: readonly { fields: readonly string[]; run: Run }[] = [
  { fields: ['leaves'], run: runLeaves },
  { fields: ['publicKey'], run: runSignature },
  { fields: ['block', 'valid'], run: runParsing },
  { fields: ['transaction', 'conflict'], run: runSemantics },
  { fields: ['whiteFlagOrder'], run: runBothWhiteFlags },
  { fields: ['proof'], run: (vector, _parameters, verify) => runProof(vector, verify) },
];

/** The node's white flag, and that of the library. */
async function runBothWhiteFlags(vector: JsonObject): Promise<string | undefined> {
  const failure = await runWhiteFlag(vector, productWhiteFlag);
  return failure ?? runWhiteFlag(vector, libraryWhiteFlag);
}

export interface Outcome {
  /** The vector's name, if it has one. */
  name: string | undefined;
  /** What is wrong; absent when the vector passes. */
  failure?: string;
}

/**
 * Runs a vector given as JSON. Never throws: a vector that cannot be read fails with a sentence.
 *
 * @param verify decides about the signatures of proofs
 */
export async function runVector(
  json: string,
  parameters: ProtocolParameters,
  verify: VerifySignature = verifySignature,
): Promise<Outcome> {
  let name: string | undefined;
  try {
    const vector = asObject(JSON.parse(json));
    name = nameOf(vector);
    const kind = KINDS.find(({ fields }) => fields.every((field) => Object.hasOwn(vector, field)));
    if (kind === undefined) throw new StardustError('TIP-25', 'no kind of vector has these fields');
    const failure = await kind.run(vector, parameters, verify);
    return { name, ...(failure === undefined ? {} : { failure }) };
  } catch (error) {
    return { name, failure: inWords(error) };
  }
}

function nameOf({ name, leaves, request }: JsonObject): string | undefined {
  if (typeof name === 'string') return name;
  if (typeof leaves === 'number') return `${leaves} leaves`;
  const index = (request as JsonObject | undefined)?.index;
  return typeof index === 'number' ? `milestone ${index}` : undefined;
}

function inWords(error: unknown): string {
  if (error instanceof SyntaxError) return `not JSON: ${error.message}`;
  if (error instanceof StardustError)
    return `${error.rule === 'TIP-25' ? 'unusable vector' : 'refused'}: ${error.reason}`;
  return `failed with an error: ${errorMessage(error)}`;
}
