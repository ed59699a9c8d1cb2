/** What is read of an NFT's metadata, and from where its picture may be loaded. */
import { describe, expect, it } from 'vitest';
import { formatShare } from '../../explorer/format.ts';
import { readMetadata } from '../../explorer/nft/claims.ts';
import { GATEWAYS, gatewayUrl, pictureSource } from '../../explorer/nft/picture-address.ts';

function claimsOf(json: unknown) {
  const data = `0x${Buffer.from(JSON.stringify(json)).toString('hex')}`;
  return readMetadata({ type: 6, immutableFeatures: [{ type: 2, data }] })?.claims;
}

describe('claims', () => {
  it('are the fields of IRC-27 that have its form; others are left out', () => {
    expect(
      claimsOf({
        standard: 'IRC27',
        name: 'N',
        description: 7,
        collectionName: ' ',
        attributes: [{ trait_type: 'a', value: 1 }, { trait_type: 'b' }, null, 'c'],
        royalties: { smr1a: 0.05, smr1b: '0.1', smr1c: 2, smr1d: -1 },
      }),
    ).toEqual({
      name: 'N',
      traits: [{ name: 'a', value: '1' }],
      royalties: [{ address: 'smr1a', share: 0.05 }],
    });
  });

  it('have the traits of Soonaverse too', () => {
    const attributes = {
      props: { background: { label: 'Background', value: 'Blood' } },
      stats: { edition: { label: 'Edition', value: '2526' } },
    };
    expect(claimsOf({ attributes })?.traits).toEqual([
      { name: 'Background', value: 'Blood' },
      { name: 'Edition', value: '2526' },
    ]);
  });

  it.each([null, [], 'text', 7])('%j has none', (json) => {
    expect(claimsOf(json)).toBeUndefined();
  });

  it('are undefined without metadata', () => {
    expect(readMetadata({ type: 6 })).toBeUndefined();
    expect(
      readMetadata({ type: 6, immutableFeatures: [{ type: 2, data: '0xabc' }] }),
    ).toBeUndefined();
  });
});

describe('a picture', () => {
  const CID = 'bafybeigxpf6s67gdf2jolhpnqlhpoly3uxn2pefxdmhcptqa5zwhs42n7e';
  const QM = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG';

  it.each([
    [`ipfs://${CID}`, CID],
    [`ipfs://ipfs/${CID}`, CID],
    [`IPFS://${QM}/a/b.png`, `${QM}/a/b.png`],
  ])('%s is at any gateway', (uri, path) => {
    expect(pictureSource(uri)).toEqual({ kind: 'ipfs', path });
  });

  it('has its path encoded, once', () => {
    const [gateway] = GATEWAYS;
    expect(gatewayUrl(gateway!, `${QM}/a b%20c.png`)).toBe(`${gateway!.base}${QM}/a%20b%20c.png`);
  });

  it('by https names its host', () => {
    expect(pictureSource(' https://a.example/x.png ')).toEqual({
      kind: 'https',
      url: 'https://a.example/x.png',
      host: 'a.example',
    });
  });

  it.each([
    undefined,
    '',
    'nothing',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:image/png;base64,AA==',
    'http://a.example/x.png',
    'blob:https://a.example/1',
    'ipfs://short',
    `ipfs://${CID}/../../x`,
    `ipfs://${CID}/%2e%2e/%2E%2e/any/path`,
    `ipfs://${CID}/.%2e/x`,
    `ipfs://${CID}/./x`,
    `ipfs://${CID}?x`,
  ])('%s is never loaded', (uri) => {
    expect(pictureSource(uri).kind).toBe('none');
  });
});

it('shares are written as people read them', () => {
  expect(formatShare(0.05)).toBe('5 %');
  expect(formatShare(0.025)).toBe('2.5 %');
});
