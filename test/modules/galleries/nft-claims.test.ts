/** Which metadata counts as IRC-27, and what is taken of it. */
import { describe, expect, it } from 'vitest';
import { readClaims } from '../../../src/modules/galleries/routes/nft-claims.ts';
import { type NftOutput, OutputType } from '../../../src/stardust/wire/output.ts';

const REQUIRED = {
  standard: 'IRC27',
  version: 'v1.0',
  type: 'image/png',
  uri: 'ipfs://x',
  name: 'One',
};

function holding(data: string | Uint8Array): NftOutput {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return {
    type: OutputType.Nft,
    amount: 1n,
    nativeTokens: [],
    nftId: new Uint8Array(32),
    unlockConditions: [{ type: 0, address: { type: 0, id: new Uint8Array(32) } }],
    features: [{ type: 2, data: new TextEncoder().encode(JSON.stringify(REQUIRED)) }],
    immutableFeatures: bytes.length === 0 ? [] : [{ type: 2, data: bytes }],
  };
}

describe('claims', () => {
  it('are all fields of IRC-27, and no other', () => {
    const all = {
      ...REQUIRED,
      collectionName: 'Ones',
      royalties: { smr1x: 0.05, '': 0, smr1y: 1 },
      issuerName: '',
      description: '<b>\u202e',
      attributes: [
        { trait_type: 'a', value: 1 },
        { trait_type: 'b', value: 'x' },
      ],
    };
    expect(readClaims(holding(JSON.stringify({ ...all, more: 1 })))).toEqual(all);
  });

  it.each([
    ['collectionName', 1],
    ['royalties', { smr1x: 2 }],
    ['royalties', [0.5]],
    ['issuerName', null],
    ['description', {}],
    ['attributes', { props: {} }],
    ['attributes', { props: { a: { label: 'A' }, b: null, c: 'd' }, stats: [1] }],
    [
      'attributes',
      [{ trait_type: 'a' }, { value: 'b' }, null, 'c', { trait_type: 'd', value: {} }],
    ],
  ])('%s as %j is left out', (field, value) => {
    expect(
      JSON.stringify(readClaims(holding(JSON.stringify({ ...REQUIRED, [field]: value })))),
    ).toBe(JSON.stringify(REQUIRED));
  });

  const TRAITS = [
    { trait_type: 'Background', value: 'Blood' },
    { trait_type: 'Edition', value: 2526 },
  ];
  const SOONAVERSE = {
    props: { background: { label: 'Background', value: 'Blood' }, broken: { value: 'x' } },
    stats: { edition: { label: 'Edition', value: 2526 } },
  };

  it.each<[string, object]>([
    ['IRC-27', { attributes: TRAITS }],
    ['IRC-27, and others with it', { attributes: [{ trait_type: 'x' }, ...TRAITS, 7] }],
    ['Soonaverse', { attributes: SOONAVERSE }],
    ['Soonaverse, at first', SOONAVERSE],
  ])('have traits as %s has them', (_, fields) => {
    const claims = readClaims(holding(JSON.stringify({ ...REQUIRED, ...fields })));
    expect(JSON.stringify(claims)).toBe(JSON.stringify({ ...REQUIRED, attributes: TRAITS }));
  });

  it('leave out a royalty that is none, not the others', () => {
    const royalties = { smr1a: 0.05, smr1b: '0.1', smr1c: 2, smr1d: -1, smr1e: null };
    expect(readClaims(holding(JSON.stringify({ ...REQUIRED, royalties })))).toEqual({
      ...REQUIRED,
      royalties: { smr1a: 0.05 },
    });
  });

  it.each([
    ['no metadata but a mutable one', ''],
    ['no JSON', '{'],
    ['no object', '"IRC27"'],
    ['null', 'null'],
    ['a list', JSON.stringify([REQUIRED])],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d)],
    ['a byte order mark', `\ufeff${JSON.stringify(REQUIRED)}`],
    ['nested 8,000 deep', '['.repeat(8000)],
    ['an object nested deep', `${'{"a":'.repeat(1600)}1${'}'.repeat(1600)}`],
    ['another standard', JSON.stringify({ ...REQUIRED, standard: 'irc27' })],
    ['another version', JSON.stringify({ ...REQUIRED, version: '1' })],
    ...Object.keys(REQUIRED).map((field): [string, string] => [
      `no ${field}`,
      JSON.stringify({ ...REQUIRED, [field]: undefined }),
    ]),
  ])('are none: %s', (_, data) => {
    expect(readClaims(holding(data))).toBeUndefined();
  });

  it('do not reach a prototype', () => {
    const text = JSON.stringify({ ...REQUIRED, royalties: 0 }).replace(
      '"royalties":0',
      '"royalties":{"__proto__":0.5,"a":1},"__proto__":{"polluted":1}',
    );
    const claims = readClaims(holding(text))!;
    expect(Object.keys(claims.royalties!)).toEqual(['a']);
    expect('polluted' in claims).toBe(false);
  });
});

it('leaves out a trait whose number JSON cannot write', () => {
  const attributes = '[{"trait_type":"a","value":1e400},{"trait_type":"b","value":2}]';
  const text = `${JSON.stringify(REQUIRED).slice(0, -1)},"attributes":${attributes}}`;
  expect(readClaims(holding(text))).toEqual({
    ...REQUIRED,
    attributes: [{ trait_type: 'b', value: 2 }],
  });
});
