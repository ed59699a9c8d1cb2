/** Counts as people read them. */
import { expect, it } from 'vitest';
import { asSentence, formatSince, plural } from '../../explorer/format.ts';

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

it.each([
  [0, '0 seconds ago'],
  [7200, '2 hours ago'],
  [-1, '1 second from now'],
  [-31_557_600, '1 year from now'],
])('%i seconds', (seconds, words) => {
  expect(formatSince(seconds)).toBe(words);
});

it.each([
  [
    'milestone 1 is not signed: M-2: 2 keys signed',
    'Milestone 1 is not signed: 2 keys signed (rule M-2).',
  ],
  ['S2.9: the sender is missing.', 'The sender is missing (rule S2.9).'],
  ['the node does not answer', 'The node does not answer.'],
])('%s', (reason, sentence) => {
  expect(asSentence(reason)).toBe(sentence);
});
