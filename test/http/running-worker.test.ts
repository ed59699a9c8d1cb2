/** The contract of design §1 over real HTTP, against the built Worker with a ledger of a recorded network. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { badRequests, checkAnswer } from './bad-requests.ts';
import { checkRow, type Facts, nftRows, type Row, whiteFlagRows } from './contract.ts';
import { type RunningWorker, runWorker } from './running-worker.ts';
import { facts as madeUp } from './stub.ts';

const LEDGER_INDEX = 70;
let worker: RunningWorker;

beforeAll(async () => {
  worker = await runWorker('network-a', LEDGER_INDEX);
}, 120_000);
afterAll(() => worker[Symbol.asyncDispose]());

/** Rows have the same places for all facts; the facts are known only once the Worker runs. */
const placesOf = (rows: (facts: Facts) => Row[]) => rows(madeUp).map(({ name }, place) => ({ name, place }));

describe('NFT lookup', () => {
  it.each(placesOf(nftRows))('$name', ({ place }) => checkRow(worker.fetch, nftRows(worker.facts)[place]!));
});

describe('white flag', () => {
  it.each(placesOf(whiteFlagRows))('$name', ({ place }) => checkRow(worker.fetch, whiteFlagRows(worker.facts)[place]!));
});

it('10,000 random bad requests: never a 500, never a body outside the contract, never a hang', {
  timeout: 180_000,
}, async () => {
  const requests = fc.sample(badRequests(worker.facts), 10_000).values();
  const failures: string[] = [];
  const ask = async () => {
    for (const request of requests) {
      const { path, init } = request;
      const signal = AbortSignal.timeout(10_000);
      try {
        const send = () => worker.fetch(path, { ...init, signal } as RequestInit);
        // workerd closes a connection after it refused a body unread; a client that was just about to use it again asks once more
        const response = await send().catch(send);
        await checkAnswer(request, response);
      } catch (error) {
        failures.push(`${init.method} ${path.slice(0, 200)} ${JSON.stringify(init.headers)} ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, ask));
  expect(failures).toEqual([]);
  expect(worker.log.filter(({ level }) => level === 'error')).toEqual([]);
});
