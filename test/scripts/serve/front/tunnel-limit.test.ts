/** How many WebSockets there may be. */
import { expect, it } from 'vitest';
import { createTunnelLimit } from '../../../../scripts/serve/front/tunnel-limit.ts';

it('a client may have as many WebSockets as are left for others', () => {
  const limit = createTunnelLimit(12, () => 0);
  const open = (client: string) => {
    let opened = 0;
    while (limit.open(client)) opened++;
    return opened;
  };
  expect(['a', 'b', 'c', 'd'].map(open)).toEqual([6, 3, 2, 1]);
  limit.close('a', false);
  expect(open('e')).toBe(1);
});

it('one that was closed is counted for 15 s more', () => {
  const time = { now: 0 };
  const limit = createTunnelLimit(2, () => time.now);
  expect([limit.open('a'), limit.open('a')]).toEqual([true, false]);
  limit.close('a', true);
  limit.look(14_999);
  expect(limit.open('a')).toBe(false);
  limit.look(15_000);
  expect(limit.open('a')).toBe(true);
});
