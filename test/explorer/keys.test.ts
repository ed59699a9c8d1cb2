/** Whose keys a visitor checks against: keys as they are pasted, and names that mislead. */
import { describe, expect, it } from 'vitest';
import { type KeyChoice, remarkOnName } from '../../explorer/verify/describe-keys.ts';
import { choiceFor } from '../../explorer/verify/key-choice.ts';
import { parseKeys } from '../../explorer/verify/parse-keys.ts';
import { KNOWN_NETWORKS } from '../../src/stardust/verifier/known-networks.ts';

describe('keys', () => {
  const key = 'ab'.repeat(32);

  it('are 64 hex digits, in lines or lists', () => {
    expect(parseKeys(` 0x${key}\n${'cd'.repeat(32)}, `, '1')).toMatchObject({ threshold: 1 });
    expect(parseKeys(key, '').threshold).toBe(1);
    expect(parseKeys(`${key} ${key}`, '').threshold).toBe(1);
  });

  it.each([
    ['', '', /No key/],
    [key, '2', /2 signatures cannot come of 1/],
    [key, '0', /1 or more/],
    [key, 'x', /1 or more/],
    [`${key} zz`, '1', /Key 2 is not 64 hex digits: zz/],
  ])('%s with %s are refused', (text, threshold, reason) => {
    expect(() => parseKeys(text, threshold)).toThrow(reason);
  });
});

describe('the name of a network', () => {
  const shimmer: KeyChoice = { kind: 'known', network: KNOWN_NETWORKS[0]!, isDefault: false };

  it.each([
    ['shimmer', undefined],
    [
      'sh\u0456mmer',
      /which looks like “shimmer” and is another name: one of its letters is U\+0456\.$/,
    ],
    ['Shimmer', /which looks like “shimmer” and is another name\.$/],
    ['iota-rnainnet', /which looks like “iota-mainnet”/],
    ['iota-mainnet', /and you check against the keys of Shimmer/],
  ])('%.20s', (name, warning) => {
    const found = remarkOnName(name, shimmer);
    if (warning === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject({ isOdd: true, text: expect.stringMatching(warning) });
    expect(found?.text.length ?? 0).toBeLessThan(200);
    expect(remarkOnName(name, { kind: 'own', publicKeys: '', threshold: '' })).toBeUndefined();
  });

  it.each(['private', 'x'.repeat(100_000)])('%.20s, which nobody knows, is no warning', (name) => {
    expect(remarkOnName(name, shimmer)).toMatchObject({
      isOdd: false,
      text: expect.stringMatching(/the page needs the keys of that network/),
    });
  });

  it('of a network that is known brings its own keys, until the visitor chooses', () => {
    const unchosen: KeyChoice = { ...shimmer, isDefault: true };
    const own: KeyChoice = { kind: 'own', publicKeys: '', threshold: '' };
    expect(choiceFor(unchosen, 'iota-mainnet')).toMatchObject({
      network: KNOWN_NETWORKS[1],
      isDefault: true,
    });
    expect(choiceFor(unchosen, 'private')).toBe(unchosen);
    expect(choiceFor(shimmer, 'iota-mainnet')).toBe(shimmer);
    expect(choiceFor(own, 'iota-mainnet')).toBe(own);
  });
});
