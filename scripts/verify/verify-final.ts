/**
 * Checks what an edge node says of a final ledger (docs/final-ledger.md), against a final root that
 * the caller trusts. It runs in Node, and in browsers as a part of the explorer.
 */
import * as v from 'valibot';
import { equalBytes, fromHex, Refusal, toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  type FinalLedger,
  type FinalTreeName,
  finalLedgerFromJson,
  finalRoot,
  KEY_BYTES,
  verifyFinalProof,
} from '../../src/stardust/proof/final-ledger.ts';
import { type NodeClient, requestJson } from '../lib/node-client.ts';
import { NotVerified } from './verify-node.ts';

const PATH = '/api/edge/v1/final';

const NAMES: Readonly<Record<FinalTreeName, string>> = { outputs: 'Output', nfts: 'NFT' };

/** The tree that a 0x… ID belongs to; undefined if it is neither an output ID nor an NFT ID. */
export function treeOfId(id: string): FinalTreeName | undefined {
  if (!/^0x[0-9a-fA-F]*$/.test(id)) return undefined;
  return (['outputs', 'nfts'] as const).find((tree) => id.length === 2 + 2 * KEY_BYTES[tree]);
}

/**
 * Yields what was proven, each as a sentence. Throws a {@link NotVerified} for the first answer that
 * proves nothing, and an Error where the node does not answer.
 *
 * @param root the final root that the caller trusts: 32 bytes
 * @param ids of outputs and NFTs, 0x…
 */
export async function* verifyFinal(
  node: NodeClient,
  root: Uint8Array,
  ids: readonly string[],
): AsyncGenerator<string, void> {
  const ledger = parseLedger(await requestJson(node, PATH, v.unknown()));
  if (!equalBytes(finalRoot(ledger), root))
    throw new NotVerified(`the node has the final root ${toHex(finalRoot(ledger))}`);
  const { outputs, nfts, networkName, milestoneIndex } = ledger;
  const what = `${outputs.count} outputs and ${nfts.count} NFTs of ${networkName}`;
  yield `The final root commits to ${what} at milestone ${milestoneIndex}.`;
  for (const id of ids) {
    const tree = treeOfId(id);
    if (tree === undefined) throw new Error(`${id} is neither an output ID nor an NFT ID`);
    const answer = await requestJson(node, `${PATH}/${tree}/${id}`, v.unknown());
    const verdict = verifyFinalProof(answer, tree, fromHex(id), root);
    const name = `${NAMES[tree]} ${id}`;
    if (!verdict.ok) throw new NotVerified(`${name}: ${verdict.reason}`);
    if (!verdict.present) yield `${name} is not in the ledger.`;
    else if (tree === 'outputs') yield `${name} is in the ledger, unspent.`;
    else
      yield `${name} is in the ledger, in output ${toHex(verdict.record.subarray(KEY_BYTES.nfts))}.`;
  }
}

function parseLedger(json: unknown): FinalLedger {
  try {
    return finalLedgerFromJson(json);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new NotVerified(`what the final root commits to: ${error.message}`);
  }
}
