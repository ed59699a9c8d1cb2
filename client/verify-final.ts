/**
 * Checks what an edge node says of a final ledger (docs/final-ledger.md), against a final root that
 * the reader chose. It runs in Node, and in browsers as a part of the explorer. It only asks: what
 * the answers prove is judged by src/stardust/provenance/.
 */
import * as v from 'valibot';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import {
  type FinalRecord,
  type Proved,
  provedValue,
  proveFinalLedger,
  proveFinalRecord,
  tell,
  treeOfId,
} from '../src/stardust/provenance/final.ts';
import { type NodeClient, requestJson, requireProved } from './node-client.ts';
import { describeRecord } from './words/holding.ts';

const PATH = '/api/edge/v1/final';

/** What a node proves of an ID. @param id 0x… of an output or an NFT */
async function proveRecord(
  node: NodeClient,
  root: Uint8Array,
  id: string,
): Promise<Proved<FinalRecord>> {
  const tree = treeOfId(id);
  if (tree === undefined) throw new Error(`${id} is neither an output ID nor an NFT ID`);
  const answer = await requestJson(node, `${PATH}/${tree}/${id}`, v.unknown());
  return requireProved(proveFinalRecord(answer, tree, fromHex(id), root));
}

/**
 * Yields what was proved, each as a sentence. Throws a NotVerified for the first answer that
 * proves nothing, and an Error where the node does not answer.
 *
 * @param root the final root that the reader trusts: 32 bytes
 * @param ids of outputs and NFTs, 0x…
 */
export async function* proveFinalRecords(
  node: NodeClient,
  root: Uint8Array,
  ids: readonly string[],
): AsyncGenerator<Proved<string>, void> {
  const ledger = proveFinalLedger(await requestJson(node, PATH, v.unknown()), root);
  yield tell(requireProved(ledger), ({ outputs, nfts, networkName, milestoneIndex }) => {
    const what = `${outputs.count} outputs and ${nfts.count} NFTs of ${networkName}`;
    return `The final root commits to ${what} at milestone ${milestoneIndex}.`;
  });
  for (const id of ids) {
    const record = await proveRecord(node, root, id);
    yield* describeRecord(record);
    const value = provedValue(record);
    if (value.tree !== 'nfts' || !value.present) continue;
    yield* describeRecord(await proveRecord(node, root, value.outputId));
  }
}
