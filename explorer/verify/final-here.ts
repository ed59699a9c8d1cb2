/**
 * What the node proves of an output or an NFT to a final root that the visitor chose.
 */
import * as v from 'valibot';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import {
  type FinalRecord,
  proveFinalRecord,
  treeOfId,
} from '../../src/stardust/provenance/final.ts';
import { type Finding, provedValue } from '../../src/stardust/provenance/proved.ts';
import { askJson } from '../node/ask.ts';

/** @param root 0x and 64 hex digits */
export function parseRoot(root: string): Uint8Array {
  if (!/^0x[0-9a-fA-F]{64}$/.test(root)) throw new Error('The root must be 0x and 64 hex digits');
  return fromHex(root);
}

/** An output that the final root commits to, whole: that of an NFT, or the one with the ID. */
export async function finalOutputHere(root: string, id: string): Promise<Finding<FinalRecord>> {
  const tree = treeOfId(id);
  if (tree === undefined) throw new Error(`${id} is neither an output ID nor an NFT ID`);
  const answer = await askJson(`/api/edge/v1/final/${tree}/${id}`, v.unknown());
  const record = proveFinalRecord(answer, tree, fromHex(id), parseRoot(root));
  if (record.standing !== 'proved') return record;
  const value = provedValue(record.proof);
  return value.tree === 'nfts' && value.present ? finalOutputHere(root, value.outputId) : record;
}
