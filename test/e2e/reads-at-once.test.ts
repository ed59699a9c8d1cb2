/**
 * Reads at once in `npm run serve`: workerd ends what belongs to a request together with it, so no
 * request may wait by a timer of another one (src/platform/clock.ts), nor for its promise alone.
 */
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../cli/start/prepare-sample.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const READS = 800;
const AT_ONCE = 16;

/** Rounds, each after the time for which `serve` keeps what it knows of the ledger. */
const ROUNDS = 4;
const BURSTS = 10;
const BURST = 48;
const KEPT_MS = 1010;

it('reads that are asked for at once are all answered', async () => {
  const network = new SyntheticNetwork({ seed: 'reads at once' });
  network.milestone();
  await using following = await prepareFollowing(network, { confirmed: 1 });
  const { url } = await following.start({ asServe: true, quiet: true });
  const statuses: Record<number, number> = {};
  let asked = 0;
  const read = async () => {
    while (asked < READS) {
      const id = (++asked).toString(16).padStart(68, '0');
      const { status } = await fetch(`${url}/api/core/v2/outputs/0x${id}`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  expect(statuses).toEqual({ 404: READS });
});

const folder = temporaryFolder();

it('so are those of a milestone that is kept', async () => {
  await prepareSample(folder, readWranglerConfig(), () => {});
  const { url, stop } = await startServe(['--port', '0', '--persist-to', folder]);
  onTestFinished(async () => void (await stop()));
  const kept: Record<number, number> = {};
  const agent = new Agent({ keepAlive: true, maxSockets: BURST });
  const readKept = async () => {
    const status = await readStatus(`${url}/api/core/v2/milestones/by-index/17339`, agent);
    kept[status] = (kept[status] ?? 0) + 1;
  };
  const readAllAtOnce = () => Promise.all(Array.from({ length: BURST }, readKept));
  for (let round = 0; round < ROUNDS; round++) {
    // in code that is hot
    for (let burst = 0; burst < BURSTS; burst++) await readAllAtOnce();
    await sleep(KEPT_MS);
  }
  agent.destroy();
  expect(kept).toEqual({ 200: ROUNDS * BURSTS * BURST });
});

const readStatus = (url: string, agent: Agent) =>
  new Promise<number>((resolve, reject) => {
    const take = (response: IncomingMessage) =>
      response.resume().once('end', () => resolve(response.statusCode!));
    get(url, { agent }, take).once('error', reject);
  });
