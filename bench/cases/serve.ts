/**
 * `npm run serve` beside `wrangler dev`, over the same data: time to the first answer, and memory
 * of all processes before and after a number of NFT lookups. How many reads a second there are is
 * measured by `node tools/run.js bench/hornet.ts`.
 */
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample, type SampleNft } from '../../cli/start/prepare-sample.ts';
import { startWranglerDev } from '../../cli/start/wrangler-dev.ts';
import { freePort } from '../../test/support/edge/launch.ts';
import { startServe } from '../../test/support/edge/npm-serve.ts';
import type { Bench, BenchCase } from '../case.ts';
import { LoadConnection } from '../tools/connection.ts';
import { withNewFolder } from '../tools/ledger.ts';
import { median } from '../tools/measure.ts';
import { descendantsOf, ownMemoryOf } from '../tools/process.ts';

const STARTS = 5;
const CONNECTIONS = 16;
const LOOKUPS_EACH = 2000;

/** After which a process has given back what its start took. */
const REST_MS = 5000;

interface Server {
  url: string;
  stop(): Promise<unknown>;
}

type Start = (persistTo: string) => Promise<Server>;

const startAsServe: Start = (persistTo) => startServe(['--port', '0', '--persist-to', persistTo]);

async function startInWrangler(persistTo: string): Promise<Server> {
  const flags = ['--port', String(await freePort()), '--persist-to', persistTo];
  const dev = startWranglerDev([...flags, '--log-level', 'error']);
  return { url: (await dev.ready).origin, stop: () => dev.stop() };
}

async function lookUp(url: string, { nftId, outputId }: SampleNft): Promise<void> {
  const connection = new LoadConnection(url);
  for (let i = 0; i < LOOKUPS_EACH; i++) {
    const { status, body } = await connection.get(`/api/indexer/v1/outputs/nft/${nftId}`);
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body).items, [outputId]);
  }
  connection.close();
}

async function measure(
  { report }: Bench,
  name: string,
  start: Start,
  { persistTo, nft }: { persistTo: string; nft: SampleNft },
): Promise<void> {
  const starts: number[] = [];
  const memories: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const began = performance.now();
    const server = await start(persistTo);
    assert.equal((await fetch(`${server.url}/api/core/v2/info`)).status, 200);
    starts.push(performance.now() - began);
    if (i === STARTS - 1) {
      await sleep(REST_MS);
      const processes = descendantsOf(process.pid);
      report({ name: `${name}: processes`, value: processes.length, unit: '' });
      memories.push(processes.map(ownMemoryOf).reduce((sum, each) => sum + each, 0));
      await Promise.all(Array.from({ length: CONNECTIONS }, () => lookUp(server.url, nft)));
      memories.push(processes.map(ownMemoryOf).reduce((sum, each) => sum + each, 0));
    }
    await server.stop();
  }
  report({ name: `${name}: to the first answer`, value: median(starts), unit: 'ms' });
  report({ name: `${name}: memory at rest`, value: memories[0]!, unit: 'MB' });
  report({ name: `${name}: memory after the lookups`, value: memories[1]!, unit: 'MB' });
}

export const serveCases: readonly BenchCase[] = [
  {
    name: 'serve',
    about: `npm run serve and wrangler dev over the sample; ${STARTS} starts of each.`,
    run: (bench) =>
      withNewFolder(async (folder) => {
        const persistTo = join(folder, 'sample');
        const nft = await prepareSample(persistTo, readWranglerConfig(), () => {});
        await measure(bench, 'npm run serve', startAsServe, { persistTo, nft });
        await measure(bench, 'wrangler dev', startInWrangler, { persistTo, nft });
      }),
  },
];
