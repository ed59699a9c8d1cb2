/**
 * Native tokens: their sums on both sides of a transaction, and their balance where no foundry
 * changes it (TIP-0018; docs/protocol.md, D.2, S5).
 */
import { toHexDigits } from '../encoding/bytes.ts';
import type { Output } from '../wire/output.ts';
import { MAX_NATIVE_TOKENS } from '../wire/syntax.ts';
import type { ChainKey, ChainTable } from './chains.ts';

/** Amounts (uint256) by token. A token's ID is that of its foundry (B.7). */
export type TokenSums = ReadonlyMap<ChainKey, bigint>;

const MAX_UINT256 = 2n ** 256n - 1n;

/** S5.1, S5.3: sums each token in the outputs. Undefined if one is 0 or exceeds 2^256 − 1. */
export function sumTokens(outputs: readonly Output[]): TokenSums | undefined {
  const sums = new Map<ChainKey, bigint>();
  for (const { nativeTokens } of outputs) {
    for (const { id, amount } of nativeTokens) {
      const token = toHexDigits(id);
      const total = (sums.get(token) ?? 0n) + amount;
      if (amount === 0n || total > MAX_UINT256) return undefined;
      sums.set(token, total);
    }
  }
  return sums;
}

/**
 * S5: returns the rule that the sums break first. Tokens whose foundry is among the outputs are
 * judged with the foundry (foundry-transition.ts).
 *
 * @param inSums those of {@link sumTokens}, undefined as there
 */
export function brokenTokenRule(
  inSums: TokenSums | undefined,
  outSums: TokenSums | undefined,
  outChains: ChainTable,
): string | undefined {
  if (inSums === undefined) return 'S5.1';
  if (inSums.size > MAX_NATIVE_TOKENS) return 'S5.2';
  if (outSums === undefined) return 'S5.3';
  if (new Set([...inSums.keys(), ...outSums.keys()]).size > MAX_NATIVE_TOKENS) return 'S5.4';
  // no more tokens may be created than were consumed; fewer may be
  const excess = [...outSums].filter(
    ([token, outSum]) => !outChains.has(token) && outSum > (inSums.get(token) ?? 0n),
  );
  if (excess.length === 0) return undefined;
  return excess.some(([token]) => inSums.has(token)) ? 'S5.5' : 'S5.6';
}
