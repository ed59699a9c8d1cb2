import { describe, expect, it } from 'vitest';
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
