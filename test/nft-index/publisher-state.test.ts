/** The publisher's state as text, as it is stored in D1. */
import { expect, test } from 'vitest';
import { parseState, type State, serializeState } from '../../src/nft-index/publisher-state.ts';

const STATE: State = {
  generation: 'g',
  from: 100,
  entries: { kind: 'complete', since: 1_000, seal: 'seal:1' },
  filledFrom: 98,
  putUpTo: { milestone: 103, nft: '' },
  marks: [
    { milestone: 102, seenAt: 2_000, putAt: 3_000 },
    { milestone: 105, seenAt: 4_000, putAt: null },
  ],
  recent: { to: 107, putAt: 5_000 },
};

test('is read as it was written', () => {
  expect(parseState(serializeState(STATE))).toEqual(STATE);
});

test.each(['', '{}', serializeState(STATE).replace('"from":100', '"from":"100"')])(
  'is not read from %s',
  (text) => {
    expect(() => parseState(text)).toThrow();
  },
);
