/**
 * What foundries claim of tokens, read once for a page.
 */
import type { TokenClaim } from '../../client/words/amounts.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import type { NativeToken } from '../../src/stardust/wire/output.ts';
import { findTokenClaim } from '../node/outputs.ts';
import type { Info } from '../node/shapes.ts';
import { useLoad } from '../use-load.ts';

/** By the token's ID, 0x…; without those that nothing is found about. */
export type TokenClaims = ReadonlyMap<string, TokenClaim>;

const NONE: TokenClaims = new Map();

/**
 * Nothing, as long as it is not read.
 *
 * @param indexed kinds of outputs that the node can look up: without foundries it is not asked
 */
export function useTokenClaims(
  tokens: readonly NativeToken[],
  { indexed }: Pick<Info, 'indexed'>,
): TokenClaims {
  const asked = indexed.includes('foundry') ? tokens : [];
  const ids = [...new Set(asked.map(({ id }) => toHex(id)))];
  const loaded = useLoad(() => readClaims(ids), [ids.join()]);
  return loaded.state === 'done' ? loaded.value : NONE;
}

async function readClaims(ids: readonly string[]): Promise<TokenClaims> {
  const claims = new Map<string, TokenClaim>();
  for (const id of ids) {
    // one that is destroyed claims nothing any more
    const claim = await findTokenClaim(id).catch(() => undefined);
    if (claim !== undefined) claims.set(id, claim);
  }
  return claims;
}
