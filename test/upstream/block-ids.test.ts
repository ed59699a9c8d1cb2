/**
 * What is remembered of blocks (src/upstream/block-ids.ts): it is limited, and what is remembered of
 * a ledger index is of that one only.
 */
import { describe, expect, it } from 'vitest';
import { createBlockIds, ofLedgerIndex } from '../../src/upstream/block-ids.ts';

const HOUR_MS = 3_600_000;

describe('IDs of blocks', () => {
  it('are remembered for three seconds, whatever the clock does', () => {
    let now = 1_000_000_000;
    const ids = createBlockIds(() => now, 10_000, 3000);
    for (const step of [3000, HOUR_MS, -HOUR_MS]) {
      ids.add('a');
      now += Math.sign(step) * 2999;
      expect(ids.has('a')).toBe(true);
      now += step;
      expect(ids.has('a')).toBe(false);
    }
    expect(ids.has('b')).toBe(false);
  });

  it('are as many as they may, the newest', () => {
    const ids = createBlockIds(() => 0, 10_000);
    for (let i = 0; i < 10_001; i++) ids.add(`${i}`);
    expect([ids.has('0'), ids.has('1'), ids.has('10000')]).toEqual([false, true, true]);
  });
});

it('what is remembered of one ledger index is not seen at another one, nor by another ledger', () => {
  const remembered = ofLedgerIndex(() => createBlockIds(Date.now, 10));
  const former = remembered('one', 7);
  former.add('a');
  expect(remembered('one', 7).has('a')).toBe(true);
  for (const next of [remembered('one', 8), remembered('two', 8), remembered('one', 7)]) {
    expect(next.has('a')).toBe(false);
    // by a request that began before
    former.add('b');
    expect(next.has('b')).toBe(false);
  }
});
