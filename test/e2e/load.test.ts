/**
 * Mixed load: both operations, asked by several clients at once, while a living network is followed
 * and the Worker is killed now and then. No wrong answer, no 5xx but while it is down, and a heap
 * of the isolate that does not grow. `npm run test:slow -- --in-time load` runs it for half an
 * hour.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { OUR_ISOLATE, readHeaps } from '../support/edge/heap.ts';
import { nftsOf } from '../support/edge/recorded-ledger.ts';
import { IN_TIME, isLate, nftsEver } from '../support/edge/walk-network.ts';
import { ACCOUNTS, newLife, takeStock } from '../support/network/accounts.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { somethingHappens } from '../support/network/random-network.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { basic } from '../support/payloads/outputs.ts';

const MINUTES = Number(process.env.MINUTES ?? 0.15);
const CLIENTS = 4;

/**
 * Seconds from one look at the heap to the next, from one kill to the next. In the last third
 * nothing is killed.
 */
const LOOK_EVERY = 5;
const KILL_EVERY = Math.min(60, 20 * MINUTES);

/** So many that half an hour does not lock them all away. */
const COINS = 4000;

/**
 * By how many bytes what lives in the heap may be more at the end than at the beginning; and how
 * many looks tell, as most of what they see is garbage.
 */
const MAX_GROWTH = 16_000_000;
const MANY_LOOKS = 60;

/** The most parents of a proposal. */
const MAX_PARENTS = 8;

it(`${MINUTES} minutes`, async () => {
  const random = freshRandom();
  const network = new SyntheticNetwork({
    seed: 'load',
    coins: (account) =>
      Array.from({ length: COINS }, (_, i) =>
        basic(account(i % ACCOUNTS), { amount: COIN_AMOUNT }),
      ),
  });
  await using following = await prepareFollowing(network);
  const { double } = following;
  const start = (port: number) => following.start({ inspect: true, port });
  const port = 20_000 + random.below(10_000);
  let edge = await start(port);
  let up = true;
  const end = Date.now() + MINUTES * 60_000;
  const asked: { request: object & { index: number; parents: string[] }; response: object }[] = [];
  let nftIds: string[] = [];
  const expectNft = nftsOf(network);
  const counts = { milestones: 0, nfts: 0, whiteFlags: 0, kills: 0, whileDown: 0, late: 0 };
  /** Bytes of the isolate's heap, its garbage included. */
  const heaps: number[] = [];

  async function live(): Promise<void> {
    const life = newLife(network);
    while (Date.now() < end) {
      takeStock(life);
      if (network.milestones.length > 0) for (let i = 0; i < 30; i++) somethingHappens(life);
      const { request, response } = network.propose();
      const { index } = network.milestone({
        parents: request.parents,
        timestamp: request.timestamp,
      });
      nftIds = nftsEver(network);
      double.confirm(index);
      asked.push({ request, response });
      counts.milestones++;
      await sleep(1000);
    }
  }

  /** What is asked while the Worker goes down may fail; what is answered must be right. */
  async function whileUp(ask: () => Promise<void>): Promise<void> {
    const before = edge;
    try {
      await ask();
    } catch (error) {
      if (up && before === edge) throw error;
      counts.whileDown++;
      await sleep(50);
    }
  }

  async function askRoots(): Promise<void> {
    const { request: recorded, response } = random.pick(asked);
    // a parent named once more changes no answer, but it is another question to the cache
    const request = {
      ...recorded,
      parents: [...recorded.parents, random.pick(recorded.parents)].slice(0, MAX_PARENTS),
    };
    const answer = await fetch(`${edge.url}/api/core/v2/whiteflag`, {
      method: 'POST',
      body: JSON.stringify(request),
    });
    const body = await answer.json();
    if (!IN_TIME && isLate(answer)) return void counts.late++;
    // the newest milestones may not be applied yet
    if (answer.status === 404 && Number(answer.headers.get('x-ledger-index')) < request.index - 1)
      return;
    const heard =
      answer.status === 200
        ? ''
        : `${answer.headers.get('x-error-detail')}\n${edge.log.slice(-20).join('\n')}`;
    const truth = { index: request.index, status: 200, body: response };
    expect({ index: request.index, status: answer.status, body }, heard).toEqual(truth);
    counts.whiteFlags++;
  }

  async function askNft(): Promise<void> {
    if (nftIds.length === 0) return void (await sleep(20));
    await expectNft(edge.url, random.pick(nftIds));
    counts.nfts++;
  }

  async function client(ask: () => Promise<void>): Promise<void> {
    while (Date.now() < end) await (asked.length > 0 ? whileUp(ask) : sleep(50));
  }

  async function watchAndKill(): Promise<void> {
    let nextKill = Date.now() + KILL_EVERY * 1000;
    while (Date.now() < end) {
      await sleep(LOOK_EVERY * 1000);
      heaps.push((await readHeaps(edge)).get(OUR_ISOLATE)!);
      edge.log.splice(0, edge.log.length - 100);
      if (Date.now() < nextKill || end - Date.now() < MINUTES * 20_000) continue;
      up = false;
      await edge.kill();
      edge = await start(port);
      up = true;
      counts.kills++;
      nextKill = Date.now() + KILL_EVERY * 1000;
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    client(i % 2 === 0 ? askNft : askRoots),
  );
  await Promise.all([live(), watchAndKill(), ...clients]);
  console.log(
    JSON.stringify(counts),
    `heap, MB: ${heaps.map((bytes) => Math.round(bytes / 1e6)).join(' ')}`,
  );
  if (heaps.length < MANY_LOOKS) return;
  const third = Math.ceil(heaps.length / 3);
  expect(Math.min(...heaps.slice(-third))).toBeLessThan(
    Math.min(...heaps.slice(0, third)) + MAX_GROWTH,
  );
}, 3_600_000);
