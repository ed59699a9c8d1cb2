/**
 * What foundries claim of tokens, read once for a page.
 */
import { useMemo } from 'preact/hooks';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import type { NativeToken } from '../../src/stardust/wire/output.ts';
import type { TokenClaim } from '../../verifier/words/amounts.ts';
import { findTokenClaim } from '../node/outputs.ts';
import { useLoad } from '../parts/use-load.ts';

/** By the token's ID, 0x…; without those that nothing is found about. */
export type TokenClaims = ReadonlyMap<string, TokenClaim>;

const NONE: TokenClaims = new Map();

/** Nothing, as long as it is not read. */
export function useTokenClaims(tokens: readonly NativeToken[]): TokenClaims {
  const ids = useMemo(() => [...new Set(tokens.map(({ id }) => toHex(id)))], [tokens]);
  const loaded = useLoad(() => readClaims(ids), [ids.join()]);
  return loaded.state === 'done' ? loaded.value : NONE;
}

async function readClaims(ids: readonly string[]): Promise<TokenClaims> {
  const claims = new Map<string, TokenClaim>();
  for (const id of ids) {
    // a node that does not index foundries finds none
    const claim = await findTokenClaim(id).catch(() => undefined);
    if (claim !== undefined) claims.set(id, claim);
  }
  return claims;
}
