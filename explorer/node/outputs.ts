/**
 * Outputs as the protocol has them, of what the node answers: one that no transaction could have
 * created is an error, and shown nowhere.
 */
import * as v from 'valibot';
import { readTokenClaim, type TokenClaim } from '../../client/words/amounts.ts';
import { startWorkers } from '../../src/platform/concurrency.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../src/stardust/error.ts';
import { outputFromJson } from '../../src/stardust/json/rest-json.ts';
import { encodeOutput } from '../../src/stardust/output.ts';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { foundryId, outputId } from '../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../src/stardust/wire/output.ts';
import { askJson, NodeError } from './ask.ts';
import { askOutput, requireSame } from './ledger.ts';
import { type OutputAnswer, type OutputMetadata, unspentOutputs } from './shapes.ts';

export interface LedgerOutputJson {
  metadata: OutputMetadata;
  output: Output;
  /** As the node writes it. */
  json: unknown;
}

/** @param id 0x…, 34 bytes */
export async function readLedgerOutput(id: string): Promise<Said<LedgerOutputJson>> {
  return { said: requireOutput(id, (await askOutput(id)).said) };
}

/**
 * Outputs by their IDs, up to 100, in order. Undefined if one of them is spent: the ledger has moved
 * on since the IDs were listed.
 */
export async function readUnspent(
  ids: readonly string[],
): Promise<readonly LedgerOutputJson[] | undefined> {
  const { outputs } = await askJson(`/api/edge/v1/outputs?ids=${ids.join()}`, unspentOutputs);
  if (outputs.length !== ids.length)
    throw new NodeError(0, `The node was asked for ${ids.length} outputs, and answers others.`);
  const found = outputs.map((each, place) => each && requireOutput(ids[place]!, each));
  return found.every((each) => each !== null) ? found : undefined;
}

function requireOutput(id: string, { metadata, output: json }: OutputAnswer): LedgerOutputJson {
  const { transactionId, outputIndex } = metadata;
  if (outputIndex > 0xffff) throw new NodeError(0, 'The node answers an output at no place.');
  requireSame('output', id, toHex(outputId(fromHex(transactionId), outputIndex)));
  return { metadata, output: parseOutput(json), json };
}

function parseOutput(json: unknown): Output {
  try {
    const output = outputFromJson(json);
    encodeOutput(output);
    return output;
  } catch (error) {
    if (!(error instanceof StardustError)) throw error;
    throw new NodeError(0, `The node's answer is no output: ${error.reason}.`, error);
  }
}

/** Outputs by their IDs, in their order; why one did not come, in its place. Never rejects. */
export async function readLedgerOutputs(
  ids: readonly string[],
): Promise<readonly (Said<LedgerOutputJson> | Error)[]> {
  const found: (Said<LedgerOutputJson> | Error)[] = [];
  const read = async ([place, id]: [number, string]) => {
    found[place] = await readLedgerOutput(id).catch((error: Error) => error);
  };
  await Promise.all(startWorkers(ids.entries(), read));
  return found;
}

const found = v.object({ items: v.array(v.string()) });

/**
 * What the foundry of a token claims; undefined where it claims nothing, or the node does not find it.
 *
 * @param token 0x…, its ID is that of the foundry
 */
export async function findTokenClaim(token: string): Promise<TokenClaim | undefined> {
  const path = `/api/indexer/v1/outputs/foundry/${encodeURIComponent(token)}`;
  const [id] = (await askJson(path, found)).items;
  if (id === undefined) return undefined;
  const { output } = (await readLedgerOutput(id)).said;
  return output.type === OutputType.Foundry && toHex(foundryId(output)) === token
    ? readTokenClaim(output)
    : undefined;
}
