/** What a text in the search box can mean, and the URLs of views. */
import { describe, expect, it } from 'vitest';
import { recognise } from '../../explorer/recognise.ts';
import { formatRoute, parseRoute, type View } from '../../explorer/route.ts';

const ID = `0x${'5a'.repeat(32)}`;
const ADDRESS = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';

describe('recognise', () => {
  it.each([
    [ID, { kind: 'ambiguous', id: ID }],
    [` ${ID.toUpperCase()} `, { kind: 'ambiguous', id: ID }],
    [ID.slice(2), { kind: 'ambiguous', id: ID }],
    [`${ID}0600`, { kind: 'view', view: { name: 'output', id: `${ID}0600` } }],
    [
      `0x08${'5a'.repeat(37)}`,
      { kind: 'view', view: { name: 'foundry', id: `0x08${'5a'.repeat(37)}` } },
    ],
    ['17339', { kind: 'view', view: { name: 'milestone', milestone: '17339' } }],
    ['17,339', { kind: 'view', view: { name: 'milestone', milestone: '17339' } }],
    ['4294967295', { kind: 'view', view: { name: 'milestone', milestone: '4294967295' } }],
    [ADDRESS, { kind: 'view', view: { name: 'address', address: ADDRESS } }],
    [ADDRESS.toUpperCase(), { kind: 'view', view: { name: 'address', address: ADDRESS } }],
    // quotes, spaces, and what nobody sees
    [`"${ID}"`, { kind: 'ambiguous', id: ID }],
    [`(${ID}).`, { kind: 'ambiguous', id: ID }],
    [`“${ADDRESS}”,`, { kind: 'view', view: { name: 'address', address: ADDRESS } }],
    [`${ID.slice(0, 20)} ${ID.slice(20, 40)}\n${ID.slice(40)}`, { kind: 'ambiguous', id: ID }],
    [`\u200B${ID}\u200B`, { kind: 'ambiguous', id: ID }],
    // an address in hex: its type, and 32 bytes
    ...([0, 8, 16] as const).map(
      (type) =>
        [
          `0x${type.toString(16).padStart(2, '0')}${ID.slice(2)}`,
          { kind: 'address', address: { type, id: new Uint8Array(32).fill(0x5a) } },
        ] as const,
    ),
    // DIDs
    [`did:iota:smr:${ID}`, { kind: 'view', view: { name: 'alias', id: ID } }],
    [
      `did:iota:${ID.toUpperCase()}`.replace('0X', '0x'),
      { kind: 'view', view: { name: 'alias', id: ID } },
    ],
    [`did:iota:rms:${ID}#key-1`, { kind: 'view', view: { name: 'alias', id: ID } }],
    // links of this explorer
    [`http://127.0.0.1:8787/#/nft/${ID}`, { kind: 'view', view: { name: 'nft', id: ID } }],
    [`#/block/${ID}`, { kind: 'view', view: { name: 'block', id: ID } }],
    [`https://node.example/nft/${ID}`, { kind: 'view', view: { name: 'nft', id: ID } }],
    [
      `https://node.example/#/milestone/17339?block=${ID}`,
      { kind: 'view', view: { name: 'milestone', milestone: '17339', block: ID } },
    ],
    [`https://node.example/#/search?q=${ID}`, { kind: 'ambiguous', id: ID }],
    // links of others, and of nodes
    [
      `https://explorer.iota.org/shimmer/block/${ID}`,
      { kind: 'view', view: { name: 'block', id: ID } },
    ],
    [
      `explorer.shimmer.network/shimmer/transaction/${ID}`,
      { kind: 'view', view: { name: 'transaction', id: ID } },
    ],
    [
      `https://explorer.shimmer.network/shimmer/addr/${ADDRESS}`,
      { kind: 'view', view: { name: 'address', address: ADDRESS } },
    ],
    [
      `https://explorer.iota.org/shimmer/output/${ID}0100?tab=1`,
      { kind: 'view', view: { name: 'output', id: `${ID}0100` } },
    ],
    [`https://explorer.iota.org/shimmer/search/${ID}`, { kind: 'ambiguous', id: ID }],
    [
      `https://explorer.iota.org/shimmer/identity-resolver/did:iota:smr:${ID}`,
      { kind: 'view', view: { name: 'alias', id: ID } },
    ],
    [`https://soonaverse.com/nft/${ID}`, { kind: 'view', view: { name: 'nft', id: ID } }],
    [
      `https://api.shimmer.network/api/core/v2/blocks/${ID}/metadata`,
      { kind: 'view', view: { name: 'block', id: ID } },
    ],
    [
      'https://api.shimmer.network/api/core/v2/milestones/by-index/17339',
      { kind: 'view', view: { name: 'milestone', milestone: '17339' } },
    ],
  ])('%s', (text, meaning) => {
    expect(recognise(text)).toEqual(meaning);
  });

  it.each([
    ['', /Nothing was typed/],
    ['4294967296', /end at 4294967295/],
    ['0x12', /2 hex digits/],
    [`0x08${'5a'.repeat(38)}`, /78 hex digits.*foundries and tokens 76/],
    [ADDRESS.replace('zq6', 'zq7'), /checksum is wrong/],
    ['hello', /neither an ID in hex/],
    ['<script>', /neither an ID in hex/],
    [`0x04${ID.slice(2)}`, /66 hex digits/],
    [`${ID.slice(0, 10)}…${ID.slice(-6)}`, /shortened ID/],
    ['https://node.example/page/5', /link names no ID/],
    ['https://node.example/', /link names no ID/],
    ['did:iota:smr:0x12', /neither an ID in hex/],
  ])('%s means nothing, and it says why', (text, reason) => {
    const meaning = recognise(text);
    expect(meaning.kind).toBe('nothing');
    expect(meaning.kind === 'nothing' && meaning.reason).toMatch(reason);
  });
});

describe('a view and its URL', () => {
  it.each<View>([
    { name: 'home' },
    { name: 'search', text: 'a b&c=%#' },
    { name: 'nft', id: ID },
    { name: 'output', id: `${ID}0000` },
    { name: 'block', id: ID },
    { name: 'transaction', id: ID },
    { name: 'milestone', milestone: '17339' },
    { name: 'milestone', milestone: '17339', block: ID },
    { name: 'address', address: ADDRESS },
    { name: 'nfts', address: ADDRESS },
    { name: 'issuer', address: ADDRESS, page: 3 },
    { name: 'proposal' },
    {
      name: 'proposal',
      fields: { index: '1', timestamp: '2', previousMilestoneId: '', parents: `${ID} ${ID}` },
    },
    { name: 'verify' },
  ])('%j', (view) => {
    expect(parseRoute(formatRoute(view))).toEqual(view);
  });

  it.each([
    ['#/nft/a', { name: 'nft', id: 'a' }],
    ['#/api', { name: 'api' }],
    ['/reference', { name: 'api' }],
    ['/nft/a', { name: 'nft', id: 'a' }],
    ['/milestones?from=7', { name: 'milestones', from: 7 }],
  ])('%s is one', (route, view) => {
    expect(parseRoute(route)).toEqual(view);
  });

  it('has a path that is not one of the API', () => {
    expect(formatRoute({ name: 'api', operation: 'readBlock' })).toBe('/reference/readBlock');
    expect(formatRoute({ name: 'nft', id: ID })).toBe(`/nft/${ID}`);
  });

  it.each(['#/nothing', '#/nft', '#/nft/a/b', '/milestone'])('%s is no view', (fragment) => {
    expect(parseRoute(fragment)).toEqual({ name: 'unknown' });
  });

  it('a stray percent sign is read as it is', () => {
    expect(parseRoute('#/nft/%zz')).toEqual({ name: 'nft', id: '%zz' });
  });
});
