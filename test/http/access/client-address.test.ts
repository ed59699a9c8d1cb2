import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clientKey, clientKeyOf } from '../../../src/http/access/client-address.ts';
import { checkRate } from '../../../src/http/access/limits.ts';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:C000:0201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1::2:3:4:5', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', 'unknown'],
  ['1.2.3', 'unknown'],
  ['0x7f.1', 'unknown'],
  ['192.0.2.1, 192.0.2.2', 'unknown'],
  ['1:2:3', 'unknown'],
  ['x]/[::1', 'unknown'],
  ['::1]:80', 'unknown'],
  ['example.com', 'unknown'],
])('the key of %j is %s', (address, key) => expect(clientKey(address)).toBe(key));

it('all addresses of a /64 have one key, however they are spelled, and no other /64 has it', () => {
  const group = fc.nat(0xffff);
  const spelled = (groups: number[], isLong: boolean) =>
    groups.map((each) => each.toString(16).padStart(isLong ? 4 : 1, '0')).join(':');
  fc.assert(
    fc.property(
      fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group, group),
      fc.array(group, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      fc.nat(3),
      (network, rest, isLong, at) => {
        const key = clientKey(`${spelled(network, false)}::`);
        expect(clientKey(spelled([...network, ...rest], isLong))).toBe(key);
        const other = network.map((each, i) => (i === at ? each ^ 1 : each));
        expect(clientKey(spelled([...other, ...rest], isLong))).not.toBe(key);
      },
    ),
  );
});

it.each([
  ['/64', 20, (i: number) => `2001:db8:1:2:${i.toString(16)}::1`],
  ['/56', 80, (i: number) => `2001:db8:1:${(i & 255).toString(16)}::1`],
  ['/48', 320, (i: number) => `2001:db8:1:${i.toString(16)}::1`],
])('a rate limit holds a client who has a whole %s', async (_, most, address) => {
  const counts = new Map<string, number>();
  const limit = {
    limit: async ({ key }: RateLimitOptions) => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return { success: counts.get(key)! <= 20 };
    },
  };
  let passed = 0;
  for (let i = 0; i < 2000; i++) {
    const headers = { 'cf-connecting-ip': address(i) };
    const request = new Request('http://node.invalid/', { headers });
    await checkRate(limit, request).then(
      () => passed++,
      () => {},
    );
  }
  expect(passed).toBe(most);
  const headers = { 'cf-connecting-ip': '2001:db8:2::1' };
  await checkRate(limit, new Request('http://node.invalid/', { headers }));
});

it('a rate limit that fails refuses nobody', async () => {
  const limit = {
    limit: () => Promise.reject(new Error('no answer')),
  };
  await checkRate(limit, new Request('http://node.invalid/'));
});

it('requests without an address are one client', () => {
  expect(clientKeyOf(new Request('http://node.invalid/'))).toBe('unknown');
});

it('Workers of two owners are two clients, whose address is the same', () => {
  const of = (headers: Record<string, string>) => clientKeyOf({ headers: new Headers(headers) });
  const worker = { 'cf-connecting-ip': '2a06:98c0:3600::103' };
  const [own, other] = ['edge.example', 'stranger.example'].map((zone) =>
    of({ ...worker, 'cf-worker': zone }),
  );
  expect(own).not.toBe(other);
  expect(of(worker)).toBe('2a06:98c0:3600:0::/64');
  // anybody else may send the header
  expect(of({ 'cf-connecting-ip': '192.0.2.1', 'cf-worker': 'edge.example' })).toBe('192.0.2.1');
});
