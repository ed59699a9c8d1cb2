/** The contract of design §1 over real HTTP, against the built Worker with a ledger of a recorded network. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { badRequests, checkAnswer } from './bad-requests.ts';
import { checkRow, nftRows, type Row, whiteFlagRows } from './contract.ts';
import { type RunningWorker, runWorker } from './running-worker.ts';
import { facts as madeUp } from './stub.ts';

const LEDGER_INDEX = 70;
let worker: RunningWorker;

beforeAll(async () => {
  worker = await runWorker('network-a', LEDGER_INDEX);
}, 120_000);
afterAll(() => worker[Symbol.asyncDispose]());

/** The rows are the same for all facts; the facts are known only once the Worker runs. */
function rowsByName(rows: (facts: RunningWorker['facts']) => Row[]): (name: string) => Promise<void> {
  return (name) => checkRow(worker.fetch, rows(worker.facts).find((row) => row.name === name)!);
}

describe('NFT lookup', () => {
  it.each(nftRows(madeUp).map(({ name }) => name))('%s', rowsByName(nftRows));
});

describe('white flag', () => {
  it.each(whiteFlagRows(madeUp).map(({ name }) => name))('%s', rowsByName(whiteFlagRows));
});

it('10,000 random bad requests: never a 500, never a body outside the contract, never a hang', {
  timeout: 180_000,
}, async () => {
  const requests = fc.sample(badRequests(worker.facts), 10_000).values();
  const failures: string[] = [];
  const ask = async () => {
    for (const request of requests) {
      const { path, init } = request;
      try {
        const response = await worker.fetch(path, { ...init, signal: AbortSignal.timeout(10_000) } as RequestInit);
        await checkAnswer(request, response);
      } catch (error) {
        failures.push(`${init.method} ${path.slice(0, 200)} ${JSON.stringify(init.headers)} ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, ask));
  expect(failures).toEqual([]);
});
