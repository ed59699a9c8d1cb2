/**
 * What `npm run serve` takes in memory under attacks that hold it, one after the other: the front in
 * the heap of a container of 1 GB (512 MB), resident size of front and workerd, and of the kernel.
 * The bounds are those of cli/serve/README.md.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readKernelQueues } from '../../cli/serve/front/kernel-queues.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { type Served, startServe } from '../support/edge/npm-serve.ts';
import { frame, upgradeTo } from '../support/siege/raw-client.ts';

const folder = temporaryFolder();

const SECONDS = 15;

/** More than in peace. Held are 256 MB (docs/bounds.md), and garbage; with the host 700 in all. */
const MOST_MORE_MEGABYTES = 400;

/** Held are 256 MB; a second passes between two looks of the front. */
const MOST_KERNEL_MEGABYTES = 350;

const GET = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /api/core/v2/whiteflag HTTP/1.1\r\nHost: a\r\n';

/** What each connection of an attack sends, and sends on while it may. */
const ATTACKS: Record<string, { first: string | Buffer; more: Buffer | undefined }> = {
  'chunks of one byte': {
    first: `${POST}Transfer-Encoding: chunked\r\n\r\n`,
    more: Buffer.from('1\r\nx\r\n'.repeat(10_000)),
  },
  'bodies that never end': {
    first: `${POST}Content-Length: 1000000\r\n\r\n${' '.repeat(900_000)}`,
    more: undefined,
  },
  'heads of short lines': { first: GET.slice(0, -2), more: Buffer.from('a:b\r\n'.repeat(100)) },
  'requests behind requests': { first: GET, more: Buffer.from(GET.repeat(1000)) },
  'answers that nobody reads': { first: GET.repeat(40), more: undefined },
  'WebSocket messages that never end': {
    first: upgradeTo('/api/mqtt/v1', 'Sec-WebSocket-Protocol: mqtt'),
    more: frame(Buffer.alloc(65_000), 0x02).subarray(0, 60_000),
  },
  'empty WebSocket messages': {
    first: upgradeTo('/api/mqtt/v1', 'Sec-WebSocket-Protocol: mqtt'),
    more: Buffer.concat(Array.from({ length: 5000 }, () => frame(''))),
  },
};

const megabytes = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) >> 10;

async function measure(served: Served) {
  const { serve, workerd } = served.processes();
  // that of clients is theirs
  const queues = await readKernelQueues(Number(new URL(served.url).port));
  const kernel = [...queues.values()].reduce((sum, bytes) => sum + bytes, 0) >> 20;
  return { front: megabytes(serve), workerd: megabytes(workerd!), kernel };
}

/** 300 connections of 20 addresses, each opened again when it is closed. */
function attack({ url }: Served, { first, more }: (typeof ATTACKS)[string]) {
  const { port } = new URL(url);
  let isOver = false;
  const sockets = new Set<Socket>();
  const open = (i: number) => {
    const socket = connect({
      port: Number(port),
      host: '127.0.0.1',
      localAddress: `127.6.0.${i % 20}`,
    });
    sockets.add(socket);
    socket.pause();
    socket.on('error', () => {});
    socket.on('connect', () => socket.write(first));
    const timer = setInterval(() => {
      if (more !== undefined && socket.writableLength < 1 << 17) socket.write(more);
    }, 50);
    socket.on('close', () => {
      clearInterval(timer);
      sockets.delete(socket);
      if (!isOver) setTimeout(open, 100, i);
    });
  };
  for (let i = 0; i < 300; i++) open(i);
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}

describe.runIf(process.platform === 'linux')('memory of npm run serve', () => {
  it.each(Object.entries(ATTACKS))('%s', { timeout: 600_000 }, async (name, kind) => {
    const served = await startServe(['--port', '0', '--persist-to', join(folder, name)], {
      NODE_OPTIONS: '--max-old-space-size=512',
    });
    onTestFinished(() => served.kill('all').catch(() => undefined));
    const processes = served.processes();
    for (let i = 0; i < 20; i++) await (await fetch(`${served.url}/openapi.json`)).text();
    const before = await measure(served);
    const stop = attack(served, kind);
    const most = { front: 0, workerd: 0, kernel: 0 };
    for (let i = 0; i < 10 * SECONDS; i++) {
      await sleep(100);
      const now = await measure(served);
      for (const each of ['front', 'workerd', 'kernel'] as const)
        most[each] = Math.max(most[each], now[each]);
    }
    const answer = await fetch(`${served.url}/api/routes`);
    stop();
    console.log(`${name}: ${JSON.stringify({ before, most })} MB`);
    expect(answer.status).toBe(200);
    expect(served.processes()).toEqual(processes);
    expect(most.front + most.workerd).toBeLessThan(
      before.front + before.workerd + MOST_MORE_MEGABYTES,
    );
    expect(most.kernel - before.kernel).toBeLessThan(MOST_KERNEL_MEGABYTES);
  });
});
