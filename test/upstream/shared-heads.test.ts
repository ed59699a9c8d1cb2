import { describe, expect, it } from 'vitest';
import { createSharedHeads } from '../../src/upstream/shared-heads.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';

const HOUR_MS = 3_600_000;

describe('how far upstreams are, for all requests', () => {
  let now = 1_000_000_000;
  let asked = 0;
  const kept: Promise<unknown>[] = [];
  const at = (confirmed: () => number): Upstream => ({
    name: 'up',
    async readHeads() {
      asked++;
      return { confirmed: confirmed(), latest: { index: 0, timestamp: 0, milestoneId: '' } };
    },
    readReference: async () => null,
    readMilestone: async () => undefined,
    readBlock: async () => undefined,
    readTips: async () => [],
  });
  const open = () => {
    asked = 0;
    return createSharedHeads(
      () => now,
      (work) => kept.push(work),
    );
  };

  it('is asked once a second, of each upstream', async () => {
    const heads = open();
    const upstream = at(() => 7);
    const read = () => Promise.all([heads(7)(upstream, 0), heads(7)(upstream, 0)]);
    expect(await read()).toEqual([7, 7]);
    now += 999;
    await read();
    expect(asked).toBe(1);
    await heads(7)(upstream, 1);
    expect(asked).toBe(2);
    now += 1;
    await read();
    expect(asked).toBe(3);
  });

  it('is asked again when the ledger has moved', async () => {
    const heads = open();
    let confirmed = 7;
    const upstream = at(() => confirmed);
    expect(await heads(7)(upstream, 0)).toBe(7);
    confirmed = 8;
    expect(await heads(8)(upstream, 0)).toBe(8);
  });

  it('shares a failure, and leaves no rejection unhandled', async () => {
    const heads = open();
    const upstream = at(() => {
      throw new UpstreamFailure('down');
    });
    for (let i = 0; i < 3; i++) await expect(heads(7)(upstream, 0)).rejects.toThrow('down');
    expect(asked).toBe(1);
    expect(await Promise.allSettled(kept)).not.toContainEqual({ status: 'rejected' });
  });

  it.each([HOUR_MS, -HOUR_MS])('is asked again when the clock was set by %i ms', async (step) => {
    const heads = open();
    await heads(7)(
      at(() => 7),
      0,
    );
    now += step;
    await heads(7)(
      at(() => 7),
      0,
    );
    expect(asked).toBe(2);
  });
});
