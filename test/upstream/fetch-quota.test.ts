import { describe, expect, it, vi } from 'vitest';
import { ConeUnavailable } from '../../src/ledger/intake/block-source.ts';
import { createFetchQuota } from '../../src/upstream/fetch-quota.ts';
import { UpstreamFailure } from '../../src/upstream/upstream.ts';

describe('the fetch quota of requests', () => {
  const answering = { fetch: async () => [], requireUnreferenced: async () => {} };
  const fail = () => Promise.reject(new UpstreamFailure('status 500'));
  const failing = { fetch: fail, requireUnreferenced: fail };
  const lack = () => Promise.reject(new ConeUnavailable('unknown-block', 'not known'));
  const lacking = { fetch: lack, requireUnreferenced: lack };

  it('opens after five failures in a row, and closes a second later', async () => {
    let now = 0;
    const guard = createFetchQuota(() => now, 20_000);
    for (let i = 0; i < 5; i++)
      await expect(guard(failing).fetch(['a'])).rejects.toThrow('status 500');
    await expect(guard(answering).fetch(['a'])).rejects.toThrow('left alone');
    now = 1000;
    expect(await guard(answering).fetch(['a'])).toEqual([]);
  });

  it('does not count answers between failures, nor blocks that are not known', async () => {
    const guard = createFetchQuota(() => 0, 20_000);
    for (let i = 0; i < 12; i++) {
      await expect(guard(failing).fetch(['a'])).rejects.toThrow('status 500');
      if (i % 4 === 3) await guard(answering).fetch(['a']);
      await expect(guard(lacking).fetch(['a'])).rejects.toThrow('not known');
    }
  });

  it('lets 20,000 blocks through in ten seconds', async () => {
    let now = 0;
    const guard = createFetchQuota(() => now, 20_000);
    const ids = Array.from({ length: 10_000 }, () => 'a');
    await guard(answering).fetch(ids);
    await guard(answering).fetch(ids);
    await expect(guard(answering).fetch(['a'])).rejects.toThrow('too many blocks');
    now = 10_000;
    expect(await guard(answering).fetch(ids)).toEqual([]);
  });

  it('lets as many requests ask at once as it may, and takes none of another quota', async () => {
    const reads = createFetchQuota(() => 0, 2000, 6);
    const waiting: (() => void)[] = [];
    const slow = {
      fetch: () => new Promise<never[]>((resolve) => waiting.push(() => resolve([]))),
      requireUnreferenced: async () => {},
    };
    const flood = Array.from({ length: 64 }, () => reads(slow).fetch(['a']));
    expect(waiting).toHaveLength(6);
    const proposals = createFetchQuota(() => 0, 20_000);
    for (let i = 0; i < 64; i++) expect(await proposals(answering).fetch(['a'])).toEqual([]);
    // the others wait for their turn, and are refused
    waiting.shift()!();
    await vi.waitUntil(() => waiting.length === 6, { interval: 1, timeout: 10_000 });
    const outcomes = await Promise.allSettled([...flood.slice(7), ...flood.slice(0, 1)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(waiting).toHaveLength(6);
  });

  it('counts questions as it counts blocks', async () => {
    const guard = createFetchQuota(() => 0, 20_000);
    const ids = Array.from({ length: 10_000 }, () => 'a');
    await guard(answering).fetch(ids);
    await guard(answering).requireUnreferenced(ids);
    await expect(guard(answering).requireUnreferenced(['a'])).rejects.toThrow('too many blocks');
    const other = createFetchQuota(() => 0, 20_000);
    for (let i = 0; i < 5; i++)
      await expect(other(failing).requireUnreferenced(['a'])).rejects.toThrow('status 500');
    await expect(other(answering).fetch(['a'])).rejects.toThrow('left alone');
  });
});
