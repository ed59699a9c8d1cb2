/**
 * Hashing a tree makes no garbage: measured in workerd, as its V8 boxes numbers that Node's does
 * not (its pointers, and so its small integers, are half as long).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleWorker } from '../../../cli/lib/wrangler/build-worker.ts';
import { type Edge, startEdge } from '../../support/edge/edge.ts';
import { measureAllocation } from '../../support/edge/heap.ts';

const NODES = 50_000;
let folder: string;
let probe: Edge;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-'));
  await bundleWorker(join(folder, 'built'), 'bench/probe/wrangler.toml');
  probe = await startEdge({ folder: join(folder, 'built'), persistTo: folder, inspect: true });
});
afterAll(async () => {
  await probe.stop();
  await rm(folder, { recursive: true });
});

async function ask(path: string): Promise<void> {
  const response = await fetch(probe.url + path);
  expect(response.status).toBe(200);
  await response.arrayBuffer();
}

it('nothing is allocated a node, once optimised', async () => {
  const hashNodes = () => ask(`/hash?count=${NODES}`);
  for (let i = 0; i < 5; i++) await hashNodes();
  const allocated = Math.min(
    await measureAllocation(probe, hashNodes),
    await measureAllocation(probe, hashNodes),
  );
  expect(allocated / NODES).toBeLessThan(2);
});

it('what is allocated shows', async () => {
  const allocated = await measureAllocation(probe, async () => {
    for (let i = 0; i < 100; i++) await ask('/constant');
  });
  expect(allocated).toBeGreaterThan(10_000);
});
