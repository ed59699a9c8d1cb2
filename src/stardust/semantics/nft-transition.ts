/**
 * Transitions of NFTs (TIP-0018; docs/protocol.md, N-1 to N-3).
 */
import { isZero } from '../encoding/bytes.ts';
import { equalFeatures } from '../wire/feature.ts';
import type { NftOutput } from '../wire/output.ts';

/** N-1, except for the issuer (issuer.ts) */
export function nftGenesisValid(nft: NftOutput): boolean {
  return isZero(nft.nftId);
}

/** N-2 */
export function nftTransitionValid(current: NftOutput, next: NftOutput): boolean {
  return equalFeatures(current.immutableFeatures, next.immutableFeatures);
}
