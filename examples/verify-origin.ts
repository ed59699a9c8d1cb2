/** Proves from one node, which is not trusted, where an NFT came from. */
import { toHex } from '@stardust-edge/protocol/bytes';
import type { MilestoneKeys } from '@stardust-edge/protocol/milestone';
import { nftIdOf, OutputType, type Owner, outputId, ownerAt } from '@stardust-edge/protocol/output';
import { verifyInclusion } from '@stardust-edge/protocol/proof';

/**
 * @param node URL of an edge node, which is not trusted
 * @param nftId 0x and 64 hex digits
 * @param keys `{keys: [{publicKey, first, last}], threshold}`: who may sign milestones, and how many
 *   must. From a source that you trust, never from the node
 * @param time Unix seconds
 */
export async function verifyOrigin(
  node: string,
  nftId: string,
  keys: MilestoneKeys,
  time: number,
): Promise<Owner & { since: number }> {
  const get = async (path: string) => {
    const response = await fetch(new URL(path, node));
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  };
  // the node names the output that holds the NFT, and the block that created it …
  const [id] = (await get(`/api/indexer/v1/outputs/nft/${nftId}`)).items;
  const { blockId } = await get(`/api/core/v2/outputs/${id}/metadata`);
  // … and proves that a signed milestone applied that block's transaction
  const file = await get(`/api/edge/v1/blocks/${blockId}/proof`);
  const { block, milestone, applied } = await verifyInclusion(file, keys);
  if (!applied || !block.transaction) throw new Error('no transaction was applied');
  const { value, id: transactionId } = block.transaction;
  const output = value.essence.outputs.find(
    (each, i) =>
      each.type === OutputType.Nft &&
      toHex(nftIdOf(each, outputId(transactionId, i))) === nftId.toLowerCase(),
  );
  if (output?.type !== OutputType.Nft)
    throw new Error('the transaction did not create this NFT output');
  return { ...ownerAt(output, time), since: milestone.index };
}
