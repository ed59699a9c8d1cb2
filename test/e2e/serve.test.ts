/**
 * `npm run serve` killed under load while it follows network-a: no answer is wrong, no milestone is
 * lost or applied twice. It is told to end, killed alone, killed with all its processes; and of
 * these the host or workerd alone, which it starts again while requests wait. `npm run test:slow -- serve` does so 50
 * times.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { freePort } from '../support/edge/launch.ts';
import { killProcess, type Served, startServe } from '../support/edge/npm-serve.ts';
import { checkChain, expectRecordedEnd, nftsOf } from '../support/edge/recorded-ledger.ts';
import { checkMetrics } from '../support/http/check-metrics.ts';
import { NFT } from '../support/http/contract.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { holdersOf } from '../support/network/nft-places.ts';
import type { Random } from '../support/network/random.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const KILLS = Number(process.env.KILLS ?? 3);
const CLIENTS = 3;

/** The first three end the command itself. */
const WAYS = ['all', 'term', 'serve', 'workerd', 'host'] as const;

const network = recordedNetwork('network-a');
const last = lastIndex(network);
const nftIds = [...holdersOf(network).keys()];
const expectNft = nftsOf(network);

/** Between two questions of a client, in milliseconds. */
const PAUSE = 10;

/**
 * Asks again and again. All is answered, and right.
 *
 * @param isDown whether the command is, and nothing can be answered
 */
function startClient(url: string, random: Random, isDown: () => boolean) {
  let stopped = false;
  let answers = 0;
  const asking = (async () => {
    for (; !stopped; await sleep(PAUSE)) {
      const asked = expectNft(url, random.pick(nftIds)).then(() => answers++);
      await asked.catch((error: Error) => {
        if (!isDown() || error.name === 'AssertionError') throw error;
      });
    }
    return answers;
  })();
  // an answer that is wrong fails the test where it is stopped
  asking.catch(() => undefined);
  return {
    stop() {
      stopped = true;
      return asking;
    },
  };
}

it(`killed ${KILLS} times`, async () => {
  const random = freshRandom();
  await using following = await prepareFollowing(network);
  const { double, persistTo } = following;
  const vars = { ...following.vars, PUBLIC_ROUTES: '*,/metrics' };
  const port = await freePort();
  const start = () => startServe(['--port', String(port), '--persist-to', persistTo], vars);
  let served: Served | undefined;
  let isDown = true;
  const url = `http://127.0.0.1:${port}`;
  const clients = Array.from({ length: CLIENTS }, () => startClient(url, random, () => isDown));
  for (let kill = 0; kill < KILLS; kill++) {
    served ??= await start();
    isDown = false;
    // so many milestones for each life that the last one is reached with the last kill
    double.confirm(Math.ceil((last * (kill + 1)) / KILLS));
    await sleep(random.below(1500));
    const way = WAYS[kill % WAYS.length]!;
    if (way === 'workerd' || way === 'host') {
      const pid = served.processes()[way];
      if (pid === undefined || !killProcess(pid)) kill--;
      continue;
    }
    isDown = true;
    if (way === 'term') expect(await served.stop()).toBe(0);
    else await served.kill(way);
    served = undefined;
    checkChain(persistTo, network);
  }
  served ??= await start();
  const deadline = Date.now() + 600_000;
  while (checkChain(persistTo, network) < last && Date.now() < deadline) await sleep(100);
  const answers = await Promise.all(clients.map((client) => client.stop()));
  const upstream = `upstream="${new URL(double.url).host}",place="0"`;
  // the follower of the last life may just have begun
  const samples = await vi.waitFor(async () => {
    const read = checkMetrics(await (await fetch(`${url}/metrics`)).text());
    expect(Object.fromEntries(read)).toMatchObject({
      stardust_ledger_index: last,
      stardust_ledger_lag_milestones: 0,
      'stardust_follower_state{state="following"}': 1,
      [`stardust_upstream_confirmed_index{${upstream}}`]: last,
      [`stardust_upstream_failures_total{${upstream}}`]: 0,
    });
    return read;
  }, 60_000);
  // of the last life
  const counted = samples.get(`stardust_requests_total{route="${NFT}:nftId",status="200"}`);
  expect(counted).toBeGreaterThan(0);
  expect(samples.get('stardust_milestones_applied_total')).toBeLessThanOrEqual(last);
  expect(Math.min(...answers)).toBeGreaterThan(0);
  expect(await served.stop()).toBe(0);
  console.log(`${answers.reduce((sum, each) => sum + each, 0)} answers, none wrong`);
  expect(checkChain(persistTo, network)).toBe(last);
  await expectRecordedEnd('network-a', persistTo);
}, 3_600_000);
