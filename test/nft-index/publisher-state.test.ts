/** The publisher's state as text, as it is stored in D1. */
import { expect, test } from 'vitest';
import {
  advanceState,
  clampTimes,
  duePut,
  endOf,
  markPut,
  parseState,
  type State,
  serializeState,
} from '../../src/nft-index/publisher-state.ts';
import {
  MARK_INTERVAL_MS,
  PUT_AFTER_MS,
  SETTLING_TIME_MS,
} from '../../src/nft-index/timing-assumptions.ts';

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

test('has no time of a clock that was ahead, and else is as it was', () => {
  const filling: State = { ...STATE, entries: { kind: 'incomplete', upTo: 'a' } };
  for (const state of [STATE, filling]) {
    expect(clampTimes(state, 4_000)).toBe(state);
    const [first, last] = state.marks;
    const marks = [
      { ...first, putAt: 2_500 },
      { ...last, seenAt: 2_500 },
    ];
    expect(clampTimes(state, 2_500)).toEqual({ ...state, marks });
  }
  for (const marks of [STATE.marks, []])
    expect(clampTimes({ ...STATE, marks }, 500).entries).toEqual({ ...STATE.entries, since: 500 });
});

test('puts no entries up to a mark that another version has passed', () => {
  const at = (milestone: number, changes: number) => ({ milestone, changes, seenAt: 0 });
  const state: State = {
    ...STATE,
    changes: 0,
    putUpTo: { milestone: 108, nft: 'a' },
    marks: [102, 105, 110].map((milestone, i) => ({ ...at(milestone, i * 40_000), putAt: null })),
  };
  expect(duePut(state, PUT_AFTER_MS)).toBe(110);
  const { marks } = markPut(state, 110, 7);
  expect(marks.map(({ putAt }) => putAt)).toEqual([7, 7, 7]);
  const put = markPut({ ...state, marks }, 110, 8);
  expect(put.marks).toEqual(marks);
  const half = markPut(state, 105, 7);
  expect(half.marks.map(({ putAt }) => putAt)).toEqual([7, 7, null]);
  expect(half.putUpTo).toEqual(endOf(105));
  // a mark of the very milestone may lack some of its entries
  expect(duePut({ ...state, putUpTo: { milestone: 105, nft: 'a' } }, PUT_AFTER_MS)).toBe(105);
});

test('stays as small while nothing can be put, and goes on from there', () => {
  let state: State = { ...STATE, marks: [] };
  let now = 0;
  let ledgerIndex = STATE.from;
  const passMinutes = (count: number) => {
    for (let i = 0; i < count; i++) {
      now += MARK_INTERVAL_MS;
      state = advanceState(state, { generation: 'g', ledgerIndex: ++ledgerIndex }, now);
    }
  };
  passMinutes(100);
  const size = serializeState(state).length;
  passMinutes(30 * 24 * 60);
  expect(serializeState(state).length).toBe(size);
  expect(state.from).toBe(STATE.from);
  const last = state.marks.at(-1)!.milestone;
  const since = now;
  state = markPut(state, duePut(state, now)!, since);
  now += SETTLING_TIME_MS;
  passMinutes(1);
  // entries that were read before may lack what leaves the window
  expect(state).toMatchObject({
    from: last,
    entries: { since },
    marks: [{ milestone: ledgerIndex, putAt: null }],
  });
});
