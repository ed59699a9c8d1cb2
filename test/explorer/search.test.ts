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

  it.each(['#/nothing', '#/nft', '#/nft/a/b', '#/milestone'])('%s is no view', (fragment) => {
    expect(parseRoute(fragment)).toEqual({ name: 'unknown' });
  });

  it('a stray percent sign is read as it is', () => {
    expect(parseRoute('#/nft/%zz')).toEqual({ name: 'nft', id: '%zz' });
  });
});
