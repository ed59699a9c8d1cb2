/** Immutable metadata of NFTs, and what each claims by IRC-27 (docs/contract.md#nfts). */

const LEAST = {
  standard: 'IRC27',
  version: 'v1.0',
  type: 'image/png',
  uri: 'ipfs://a',
  name: 'One',
};
/** An output with it is longer than a row of D1 has it. */
const LONG = { description: 'é'.repeat(120) };
const MORE = { collectionName: 'Ones', royalties: { a: 0.5 }, issuerName: 'I', ...LONG };
const TRAITS = [
  { trait_type: 'eyes', value: 'red' },
  { trait_type: 'power', value: 2 ** 60 },
];

/** What is written, and what is read of it; undefined: nothing. */
const METADATA: readonly (readonly [written: unknown, read: object | undefined])[] = [
  [LEAST, LEAST],
  [
    { ...LEAST, ...MORE, attributes: TRAITS, odd: 1 },
    { ...LEAST, ...MORE, attributes: TRAITS },
  ],
  // what is malformed is left out
  [{ ...LEAST, collectionName: 1, royalties: { a: 2 }, attributes: [{ value: 1 }] }, LEAST],
  // as Soonaverse wrote them
  [
    { ...LEAST, props: { e: { label: 'eyes', value: 'red' } }, stats: [] },
    { ...LEAST, attributes: TRAITS.slice(0, 1) },
  ],
  [{ ...LEAST, version: '1' }, undefined],
  [{ ...LEAST, uri: undefined }, undefined],
  [[LEAST], undefined],
];

export const CLAIMS: ReadonlyMap<string, object | undefined> = new Map(
  METADATA.map(([written, read]) => [JSON.stringify(written), read]),
);
