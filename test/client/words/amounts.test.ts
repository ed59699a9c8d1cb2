/** Amounts, what a foundry claims of its token, and chains. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatAmount,
  formatTokens,
  readName,
  readTokenClaim,
} from '../../../client/words/amounts.ts';
import { chainOf, outputKind } from '../../../client/words/kind.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { alias, basic, foundry, idOf, metadata, nft } from '../../support/payloads/outputs.ts';

const OWNER = { type: 0, id: idOf('a') } as const;

function claimOf(json: unknown) {
  const data = new TextEncoder().encode(typeof json === 'string' ? json : JSON.stringify(json));
  return readTokenClaim(foundry(idOf('alias'), { immutable: [metadata(data)] }));
}

const DEEP = { standard: 'IRC30', name: 'Deep', symbol: 'DEEP', decimals: 3 };

describe('an amount', () => {
  it.each([
    ['0', 6, '0 T'],
    ['1', 6, '0.000001 T'],
    ['50800', 6, '0.0508 T'],
    ['1813620509061365', 6, '1,813,620,509.061365 T'],
    [1_500_000n, 6, '1.5 T'],
    ['1234', 0, '1,234 T'],
    ['18446744073709551615', 20, '0.18446744073709551615 T'],
  ])('of %s with %d decimals is %s', (amount, decimals, text) => {
    expect(formatAmount(amount, { decimals, tickerSymbol: 'T' })).toBe(text);
  });

  it('loses no digit', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        fc.integer({ min: 0, max: 77 }),
        (amount, decimals) => {
          const text = formatAmount(amount, { decimals, tickerSymbol: '' }).trim();
          const [whole = '', rest = ''] = text.replaceAll(',', '').split('.');
          expect(BigInt(whole + rest.padEnd(decimals, '0'))).toBe(amount);
        },
      ),
    );
  });
});

describe('a token', () => {
  it('has the name that its foundry claims', () => {
    expect(claimOf({ ...DEEP, url: 'https://a.example' })).toEqual({
      name: 'Deep',
      symbol: 'DEEP',
      decimals: 3,
    });
    expect(formatTokens(1_234_500n, claimOf(DEEP))).toBe('1,234.5 DEEP');
  });

  it('without a claim is counted', () => {
    expect(readTokenClaim(foundry(idOf('alias')))).toBeUndefined();
    expect(formatTokens(10_000_000_000n, undefined)).toBe('10,000,000,000 units');
    expect(formatTokens(1n, undefined)).toBe('1 unit');
  });

  it.each([
    'no JSON',
    'null',
    '[]',
    { ...DEEP, standard: 'IRC27' },
    { ...DEEP, symbol: 7 },
    { ...DEEP, symbol: ' ' },
    { ...DEEP, name: '\u200b\u3164' },
    { ...DEEP, name: undefined },
    { ...DEEP, decimals: '3' },
    { ...DEEP, decimals: -1 },
    { ...DEEP, decimals: 0.5 },
    { ...DEEP, decimals: 78 },
    { ...DEEP, decimals: 1e9 },
  ])('has none by %j', (json) => {
    expect(claimOf(json)).toBeUndefined();
  });

  it('and an NFT have the name that their metadata say', () => {
    const named = (json: string) =>
      readName(nft(OWNER, { immutable: [metadata(new TextEncoder().encode(json))] }));
    expect(named('{"name":" Deep ","standard":"IRC27"}')).toBe('Deep');
    expect(named(`{"name":"${'n'.repeat(99)}"}`)).toBe(`${'n'.repeat(60)}…`);
    for (const json of ['', 'null', '{}', '{"name":7}', '{"name":""}'])
      expect(named(json)).toBeUndefined();
    expect(readName(nft(OWNER))).toBeUndefined();
  });

  it('has a name and a symbol that end', () => {
    const claim = claimOf({ ...DEEP, name: 'n'.repeat(5000), symbol: '🦋'.repeat(100) });
    expect(claim?.name).toBe(`${'n'.repeat(60)}…`);
    expect(claim?.symbol).toBe(`${'🦋'.repeat(20)}…`);
  });
});

describe('a chain', () => {
  const own = new Uint8Array(34).fill(7);

  it('is that of the output', () => {
    expect(chainOf(basic(OWNER), own)).toBeUndefined();
    expect(chainOf(nft(OWNER, { nftId: idOf('n') }), own)).toEqual({
      kind: 'nft',
      id: toHex(idOf('n')),
    });
    expect(chainOf(foundry(idOf('x'), { serialNumber: 258 }), own)).toEqual({
      kind: 'foundry',
      id: `0x08${idOf('x').toHex()}0201000000`,
    });
    expect(outputKind(alias(OWNER, OWNER))).toBe('alias');
  });

  it('that the output begins has the hash of its ID', () => {
    // BLAKE2b-256 of 34 bytes 07, by Python's hashlib
    const id = '0x6f1cb06da567080dff6caac4238ecf757435e405b28e7f69bb0d3066aafc96a1';
    expect(chainOf(alias(OWNER, OWNER), own)).toEqual({ kind: 'alias', id });
    expect(chainOf(nft(OWNER), own)).toEqual({ kind: 'nft', id });
  });
});
