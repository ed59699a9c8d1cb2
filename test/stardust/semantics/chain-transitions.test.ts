/**
 * The order of the tables of chains does not matter: the reference walks them in random order
 * (docs/protocol.md, D.2).
 */
import { describe, expect, it } from 'vitest';
import { findChainFault } from '../../../src/stardust/semantics/chain-transitions.ts';
import { type ChainTable, chainTable } from '../../../src/stardust/semantics/chains.ts';
import { brokenTokenRule, sumTokens } from '../../../src/stardust/semantics/native-tokens.ts';
import { requiredIssuers } from '../../../src/stardust/semantics/unlocking.ts';
import { outputId } from '../../../src/stardust/wire/ids.ts';
import { semanticVectors } from '../../support/stardust/semantic-vectors.ts';

/** Every order that begins at another chain, forwards and backwards. */
function orders(table: ChainTable): ChainTable[] {
  const entries = [...table];
  return entries.flatMap((_, i) => {
    const turned = [...entries.slice(i), ...entries.slice(0, i)];
    return [new Map(turned), new Map(turned.reverse())];
  });
}

describe('chains', () => {
  it('are judged alike in every order of the tables', () => {
    const met = { valid: 0, invalid: 0 };
    for (const { tx, consumed } of semanticVectors) {
      const { outputs } = tx.value.essence;
      const inputs = consumed.map(({ output }) => output);
      const inChains = chainTable(inputs, (i) => consumed[i]!.id);
      const outChains = chainTable(outputs, (i) => outputId(tx.id, i));
      const inSums = sumTokens(inputs);
      const outSums = sumTokens(outputs);
      if (inSums === undefined || outSums === undefined) continue;
      const valid = findChainFault(outputs, inChains, outChains, inSums, outSums) === undefined;
      const tokenRule = brokenTokenRule(inSums, outSums, outChains);
      const issuers = new Set(requiredIssuers(inChains, outChains));
      for (const before of [inChains, ...orders(inChains)]) {
        for (const after of [outChains, ...orders(outChains)]) {
          const fault = findChainFault(outputs, before, after, inSums, outSums);
          expect(fault === undefined).toBe(valid);
          expect(brokenTokenRule(inSums, outSums, after)).toBe(tokenRule);
          expect(new Set(requiredIssuers(before, after))).toEqual(issuers);
          met[valid ? 'valid' : 'invalid']++;
        }
      }
    }
    expect(Math.min(met.valid, met.invalid)).toBeGreaterThan(1000);
  });
});
