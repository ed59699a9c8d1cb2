/**
 * Clocks that are set by an hour, back or forward: whatever happens at intervals happens again
 * within one of them.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  advanceState,
  beginState,
  clampTimes,
  markPut,
  type State,
} from '../../src/nft-index/publisher-state.ts';
import { MARK_INTERVAL_MS, SETTLING_TIME_MS } from '../../src/nft-index/timing-assumptions.ts';
import { hasPassed } from '../../src/platform/clock.ts';
import { createDedupedLog } from '../../src/platform/log.ts';
import { createRanking } from '../../src/upstream/ask-in-turn.ts';

const HOUR_MS = 3_600_000;
const START = 1_700_000_000_000;

afterEach(() => {
  vi.restoreAllMocks();
});

it('an interval is over after it, and when the clock was set by as much', () => {
  const passed = [-HOUR_MS, -100, -99, 0, 99, 100, HOUR_MS].map((step) =>
    hasPassed(100, START, START + step),
  );
  expect(passed).toEqual([true, true, false, false, false, true, true]);
});

describe.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock set %s by an hour', (_, step) => {
  let now = START;
  const clock = () => now;

  it('lets the preferred upstream be asked first again', () => {
    now = START;
    const ranking = createRanking(clock);
    ranking.beginWith(1);
    expect(ranking.order(2)).toEqual([1, 0]);
    now += step;
    expect(ranking.order(2)).toEqual([0, 1]);
  });

  it('keeps no line from the log', () => {
    now = START;
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const log = createDedupedLog(clock);
    log('warn', 'same');
    log('warn', 'same');
    expect(warn).toHaveBeenCalledTimes(1);
    now += step;
    log('warn', 'same');
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it('lets the window of the NFT index move', () => {
    now = START;
    let state: State = {
      ...beginState({ generation: 'one', ledgerIndex: 10 }),
      entries: { kind: 'complete', since: now, seal: 'seal' },
    };
    const advance = (ledger: number) =>
      advanceState(clampTimes(state, now), { generation: 'one', ledgerIndex: ledger }, now);
    state = advance(11);
    expect(state.marks).toHaveLength(1);
    state = markPut(state, 11, now);
    now += step;
    state = advance(12);
    now += MARK_INTERVAL_MS;
    state = advance(13);
    expect(state.marks.at(-1)).toMatchObject({ milestone: 13, seenAt: now });
    state = markPut(state, 13, now);
    now += SETTLING_TIME_MS;
    state = advance(14);
    expect(state.from).toBe(13);
  });
});
