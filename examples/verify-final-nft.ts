/** Proves where an NFT was when its network ended, or that it was nowhere. */
import { fromHex, toHex } from '@stardust-edge/protocol/bytes';
import { verifyFinal } from '@stardust-edge/protocol/final';
import { decodeOutput, type Owner, ownerAt } from '@stardust-edge/protocol/output';

/**
 * @param root the final root: 0x and 64 hex digits, from a source that you trust
 * @returns undefined if it is proven that the last ledger does not have the NFT
 */
export async function verifyFinalNft(
  node: string,
  nftId: string,
  root: string,
  time: number,
): Promise<Owner | undefined> {
  const get = async (path: string) => (await fetch(new URL(path, node))).json();
  const trusted = { root: fromHex(root) };
  const nft = verifyFinal(await get(`/api/edge/v1/final/nfts/${nftId}`), {
    ...trusted,
    tree: 'nfts',
    id: fromHex(nftId),
  });
  if (!nft.present) return undefined;
  const held = verifyFinal(await get(`/api/edge/v1/final/outputs/${toHex(nft.outputId)}`), {
    ...trusted,
    tree: 'outputs',
    id: nft.outputId,
  });
  if (!held.present) throw new Error('the final root is of no ledger');
  return ownerAt(decodeOutput(held.output.bytes), time);
}
