import { describe, expect, it } from 'vitest';
import { UnknownBlock } from '../../src/ledger/load-cone.ts';
import { createGuard } from '../../src/upstream/fetch-quota.ts';
import { UpstreamFailure } from '../../src/upstream/upstream.ts';

describe('guard of the upstream', () => {
  const answering = { fetch: async () => [] };
  const failing = { fetch: () => Promise.reject(new UpstreamFailure('status 500')) };
  const lacking = { fetch: () => Promise.reject(new UnknownBlock('not known')) };

  it('opens after five failures in a row, and closes a second later', async () => {
    let now = 0;
    const guard = createGuard(() => now);
    for (let i = 0; i < 5; i++)
      await expect(guard(failing).fetch(['a'])).rejects.toThrow('status 500');
    await expect(guard(answering).fetch(['a'])).rejects.toThrow('left alone');
    now = 1000;
    expect(await guard(answering).fetch(['a'])).toEqual([]);
  });

  it('does not count answers between failures, nor blocks that are not known', async () => {
    const guard = createGuard(() => 0);
    for (let i = 0; i < 12; i++) {
      await expect(guard(failing).fetch(['a'])).rejects.toThrow('status 500');
      if (i % 4 === 3) await guard(answering).fetch(['a']);
      await expect(guard(lacking).fetch(['a'])).rejects.toThrow('not known');
    }
  });

  it('lets 20,000 blocks through in ten seconds', async () => {
    let now = 0;
    const guard = createGuard(() => now);
    const ids = Array.from({ length: 10_000 }, () => 'a');
    await guard(answering).fetch(ids);
    await guard(answering).fetch(ids);
    await expect(guard(answering).fetch(['a'])).rejects.toThrow('too many blocks');
    now = 10_000;
    expect(await guard(answering).fetch(ids)).toEqual([]);
  });
});
