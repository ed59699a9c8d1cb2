/** Clients in levels, and who of them holds most. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createFairQueue } from '../../../../cli/serve/front/fair-queue.ts';
import { kernelName, readKernelQueues } from '../../../../cli/serve/front/kernel-queues.ts';
import { clientKey } from '../../../../src/http/access/client-address.ts';
import {
  type ClientPath,
  createTurns,
  largestHolder,
  clientPath as pathOfKey,
} from '../../../../src/platform/client-path.ts';
import { served, settled } from '../../../support/edge/front.ts';

const clientPath = (address: string) => pathOfKey(clientKey(address));

it('IPv6 has three levels, IPv4 one', () => {
  const [site, part, network] = clientPath('2001:db8:1:2fe::7');
  expect([site, network]).toEqual(['2001:db8:1::/48', '2001:db8:1:2fe::/64']);
  expect(clientPath('2001:db8:1:2ff::1').slice(0, 2)).toEqual([site, part]);
  expect(clientPath('2001:db8:1:3ff::1').slice(0, 2)).not.toEqual([site, part]);
  expect(clientPath('::ffff:192.0.2.1')).toEqual(clientPath('192.0.2.1'));
  expect(clientPath('192.0.2.1')).toEqual(['192.0.2.1']);
});

it('the site that holds most, then its largest network', () => {
  const holder = (address: string, holds: number) => ({ client: clientPath(address), holds });
  const all = [
    holder('192.0.2.1', 9),
    ...Array.from({ length: 20 }, (_, i) => holder(`2001:db8:1:${i}::1`, i === 7 ? 2 : 1)),
    holder('2001:db8:2:1::1', 9),
  ];
  const largest = largestHolder(all, ({ holds }) => holds);
  expect(largest.map(({ client }) => client.at(-1))).toEqual(['2001:db8:1:7::/64']);
});

it('sites take turns, in them networks, in these clients; who waits twice has one turn', () => {
  const turns = createTurns<{ client: ClientPath; name: string }>();
  const add = (address: string, name: string) => {
    const each = { client: clientPath(address), name };
    for (let times = 0; times < 2; times++) turns.add(each);
  };
  for (const name of ['a', 'b', 'c']) add('2001:db8:1:1::1', name);
  add('2001:db8:1:2::1', 'next network');
  add('192.0.2.1', 'other');
  const names = Array.from({ length: 6 }, () => turns.take()?.name);
  expect(names).toEqual(['a', 'other', 'next network', 'b', 'c', undefined]);
});

/** Milliseconds until a request of the client has a place, while a crowd's wait for upstreams. */
function waitBehind(crowd: readonly ClientPath[], isWhiteFlag: boolean): number {
  const time = { now: 0 };
  const queue = createFairQueue(
    () => time.now,
    () => true,
  );
  for (const client of crowd) queue.enter({ client, isWhiteFlag, start() {} });
  let started = false;
  const start = () => (started = true);
  queue.enter({ client: ['192.0.2.9'], isWhiteFlag, start });
  while (!started && time.now < 60_000) {
    time.now += 5;
    queue.look();
  }
  return time.now;
}

it.each([true, false])(
  'a client waits for one /48 as for one client (white flag: %s)',
  (isWhiteFlag) => {
    const one = (i: number) => clientPath(`2001:db8:0:${i.toString(16)}::1`);
    const crowd = Array.from({ length: 2000 }, (_, i) => one(i));
    expect(waitBehind(crowd, isWhiteFlag)).toBeLessThanOrEqual(250);
  },
);

it('a client waits for a crowd of IPv4 about as long as for a few', () => {
  const crowd = Array.from({ length: 250 }, (_, i) => clientPath(`192.0.2.${i}`));
  for (const isWhiteFlag of [true, false])
    expect(waitBehind(crowd, isWhiteFlag)).toBeLessThanOrEqual(500);
});

it.runIf(process.platform === 'linux')('the kernel tells what a client does not read', async () => {
  const body = Buffer.alloc(8 << 20);
  const url = await served(createServer((_, response) => response.end(body)));
  const port = Number(url.port);
  const client = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.77' });
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await settled(async () => {
    const queues = await readKernelQueues(port);
    const name = kernelName('::ffff:127.0.0.77', client.localPort!);
    const names = [name, kernelName('127.0.0.77', client.localPort!)];
    const [bytes = 0] = names.flatMap((each) => queues.get(each) ?? []);
    expect(bytes).toBeGreaterThan(10_000);
  });
  client.destroy();
});

it('names of the kernel are words of this machine', () => {
  expect(kernelName('127.0.0.1', 8080)).toBe('0100007F:1F90');
  expect(kernelName('::1', 1)).toBe('00000000000000000000000001000000:0001');
  expect(kernelName('2001:db8::1', 255)).toBe('B80D0120000000000000000001000000:00FF');
});
