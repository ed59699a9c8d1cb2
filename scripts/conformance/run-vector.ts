/**
 * One vector against the product: its kind is told from its fields (data/README.md).
 */
import { Refusal } from '../../src/stardust/bytes.ts';
import type { ProtocolParameters } from '../../src/stardust/parameters.ts';
import { runLeaves } from './leaves.ts';
import { asLine, BadVector, type Line } from './line.ts';
import { runParsing } from './parsing.ts';
import { productWhiteFlag } from './product-white-flag.ts';
import { runProof } from './proof.ts';
import { runSemantics } from './semantics.ts';
import { runSignature } from './signature.ts';
import { runWhiteFlag } from './white-flag.ts';

/** Says what differs, or returns undefined. Throws {@link BadVector} or a Refusal where the vector is not readable. */
type Run = (
  line: Line,
  parameters: ProtocolParameters,
) => string | undefined | Promise<string | undefined>;

/** The fields that a kind of vector has and no other, and what to do with it. */
const KINDS: readonly { fields: readonly string[]; run: Run }[] = [
  { fields: ['leaves'], run: runLeaves },
  { fields: ['publicKey'], run: runSignature },
  { fields: ['block', 'valid'], run: runParsing },
  { fields: ['transaction', 'conflict'], run: runSemantics },
  { fields: ['whiteFlagOrder'], run: (line) => runWhiteFlag(line, productWhiteFlag) },
  { fields: ['proof'], run: runProof },
];

export interface Outcome {
  /** As the vector is called, if it has a name. */
  name: string | undefined;
  /** What is wrong; absent when the vector passes. */
  failure?: string;
}

/** Runs the vector that is this JSON. Never throws: what cannot be read fails, with a sentence. */
export async function runVector(json: string, parameters: ProtocolParameters): Promise<Outcome> {
  let name: string | undefined;
  try {
    const line = asLine(JSON.parse(json));
    name = nameOf(line);
    const kind = KINDS.find(({ fields }) => fields.every((field) => Object.hasOwn(line, field)));
    if (kind === undefined) throw new BadVector('no kind of vector has these fields');
    const failure = await kind.run(line, parameters);
    return { name, ...(failure === undefined ? {} : { failure }) };
  } catch (error) {
    return { name, failure: inWords(error) };
  }
}

function nameOf({ name, leaves, request }: Line): string | undefined {
  if (typeof name === 'string') return name;
  if (typeof leaves === 'number') return `${leaves} leaves`;
  const index = (request as Line | undefined)?.index;
  return typeof index === 'number' ? `milestone ${index}` : undefined;
}

function inWords(error: unknown): string {
  if (error instanceof SyntaxError) return `not JSON: ${error.message}`;
  if (error instanceof BadVector) return `unusable vector: ${error.message}`;
  if (error instanceof Refusal) return `refused: ${error.message}`;
  return `failed with an error: ${error instanceof Error ? error.message : String(error)}`;
}
