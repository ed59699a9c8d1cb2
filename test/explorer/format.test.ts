/** Counts as people read them. */
import { expect, it } from 'vitest';
import { plural } from '../../explorer/format.ts';

it.each([
  [0, 'block', '0 blocks'],
  [1, 'block', '1 block'],
  [1, 'alias', '1 alias'],
  [36, 'alias', '36 aliases'],
  [12, 'foundry', '12 foundries'],
  [2, 'address', '2 addresses'],
  [1234, 'NFT', '1,234 NFTs'],
])('%i of %s', (count, noun, words) => {
  expect(plural(count, noun)).toBe(words);
});
