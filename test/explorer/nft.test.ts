/** What is read of an NFT's metadata, and from where its picture may be loaded. */
import { describe, expect, it } from 'vitest';
import { formatShare } from '../../explorer/format.ts';
import { readChangeable, readMetadata } from '../../explorer/nft/claims.ts';
import { GATEWAYS, gatewayUrl, pictureSource, showOf } from '../../explorer/nft/picture-address.ts';

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

  it.each([' ', '\u200b\u2060', '\u202e', '\u3164', '\u2800', '\u{e0041}'])(
    'of which nobody sees anything are left out: %j',
    (text) => {
      expect(claimsOf({ name: text, description: `${text}a` })).toEqual({
        description: `${text}a`,
        traits: [],
        royalties: [],
      });
    },
  );

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

it('metadata that may change is another feature', () => {
  const data = `0x${Buffer.from('level 7').toString('hex')}`;
  expect(readChangeable({ type: 6, features: [{ type: 2, data }] })).toBe('level 7');
  expect(readChangeable({ type: 6, immutableFeatures: [{ type: 2, data }] })).toBeUndefined();
});

describe('a picture', () => {
  const ID = `0x${'5a'.repeat(32)}`;
  const CID = 'bafybeigxpf6s67gdf2jolhpnqlhpoly3uxn2pefxdmhcptqa5zwhs42n7e';
  const QM = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG';

  it('with half a character in its path is asked for', () => {
    const source = pictureSource(`ipfs://${QM}/\ud800.png`, ID);
    if (source.kind !== 'ipfs') throw new Error(source.kind);
    expect(gatewayUrl(GATEWAYS[0]!, source.path)).toMatch(/\/%EF%BF%BD\.png$/);
  });

  it.each([
    [`ipfs://${CID}`, CID],
    [`ipfs://ipfs/${CID}`, CID],
    [`IPFS://${QM}/a/b.png`, `${QM}/a/b.png`],
    [`ipfs://${CID}?filename=a.png`, CID],
    [`ipfs://${CID}/a.png?filename=b.png`, `${CID}/a.png`],
    [`ipfs://${CID}?x`, CID],
    [`ipfs://${CID}#x`, CID],
    [`ipfs://${CID}/A#B.png`, `${CID}/A#B.png`],
    [`ipfs://${CID}/{id}.png`, `${CID}/${'5a'.repeat(32)}.png`],
  ])('%s is at any gateway', (uri, path) => {
    expect(pictureSource(uri, ID)).toEqual({ kind: 'ipfs', path });
  });

  it.each(['https://a.example/{id}.png', 'https://a.example/%7Bid%7D.png'])(
    '%s is that of the NFT (TIP-27)',
    (uri) => {
      expect(pictureSource(uri, ID)).toMatchObject({
        url: `https://a.example/${'5a'.repeat(32)}.png`,
      });
    },
  );

  it.each([
    [undefined, 'picture'],
    ['image/png', 'picture'],
    ['IMAGE/PNG', 'picture'],
    ['video/mp4', 'video'],
    ['audio/mpeg', 'sound'],
    ['text/html', 'link'],
    ['application/json', 'link'],
    ['constructor', 'link'],
  ])('of type %s is a %s', (type, show) => {
    expect(showOf(type)).toBe(show);
  });

  it('with a # in its name has it encoded', () => {
    expect(gatewayUrl(GATEWAYS[0]!, `${QM}/A#B.png`)).toMatch(/\/A%23B\.png$/);
  });

  it('has its path encoded, once', () => {
    const [gateway] = GATEWAYS;
    expect(gatewayUrl(gateway!, `${QM}/a b%20c.png`)).toBe(`${gateway!.base}${QM}/a%20b%20c.png`);
  });

  it('by https names its host', () => {
    expect(pictureSource(' https://a.example/x.png ', ID)).toEqual({
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
  ])('%s is never loaded', (uri) => {
    expect(pictureSource(uri, ID).kind).toBe('none');
  });
});

it('shares are written as people read them', () => {
  expect(formatShare(0.05)).toBe('5 %');
  expect(formatShare(0.025)).toBe('2.5 %');
});
