/**
 * The data folder of `npm run serve` does not grow with the number of requests: white-flag answers
 * are cached in memory, and what `npm start` cached in files is removed at the start.
 * `npm run test:slow -- serve-disk` runs it with 10,000 questions.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { readInfo } from '../support/edge/walk-network.ts';
import { NFT, WHITE_FLAG } from '../support/http/contract.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const QUESTIONS = Number(process.env.QUESTIONS ?? 500);
const CLIENTS = 4;

/**
 * Asked before the folder is measured: miniflare's D1 writes a page for each, and SQLite's
 * write-ahead log comes to its size, 1,000 pages of 4 KB, and stays there.
 */
const WARM_UP = 1200;

const MAX_GROWTH_BYTES = 1_000_000;

/** Of D1, KV and objects, for a ledger that has nothing in it. */
const MAX_STORES_BYTES = 10_000_000;

/** Of the copy of the Worker and of compiled code, 4 and 8 MB. */
const MAX_CODE_BYTES = 15_000_000;

function measureFolder(folder: string): { bytes: number; files: number } {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    // SQLite removes files of its own at any time
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return found?.isFile() ? [found.size] : [];
  });
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length };
}

/** A lookup whose client says that the node has another name. */
function lookUpAt(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const path = `${url}${NFT}0x${'ab'.repeat(32)}`;
    httpRequest(path, { headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end();
  });
}

it(`${QUESTIONS} different questions leave the data folder as it is`, async () => {
  const network = new SyntheticNetwork({ seed: 'disk' });
  network.milestone();
  await using following = await prepareFollowing(network, { confirmed: 1 });
  const { persistTo: folder, vars } = following;
  // as wrangler dev leaves it
  const old = join(folder, 'v3', 'cache', 'default', 'blobs');
  mkdirSync(old, { recursive: true });
  writeFileSync(join(old, 'answer'), 'x');

  const served = await startServe(['--port', '0', '--persist-to', folder], vars);
  onTestFinished(() => served.kill('all').catch(() => undefined));
  expect(existsSync(old)).toBe(false);
  while ((await readInfo(served.url)).status.confirmedMilestone.index < 1) await sleep(50);

  const { request } = network.propose({ parents: [network.milestoneBlock!] });
  const ask = async (i: number) => {
    const body = JSON.stringify({ ...request, timestamp: request.timestamp + i });
    const { status, headers } = await fetch(served.url + WHITE_FLAG, { method: 'POST', body });
    return [status, headers.get('x-error-detail')];
  };
  let asked = 0;
  const askUntil = async (end: number) => {
    const client = async () => {
      while (asked < end) {
        const i = ++asked;
        expect(await ask(i)).toEqual([200, null]);
        if (i % 10 === 0) expect(await lookUpAt(served.url, `edge${i}.example`)).toBe(404);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  };
  await askUntil(WARM_UP);
  // so that the NFT index is published by then
  await sleep(2000);

  const before = measureFolder(folder);
  await askUntil(WARM_UP + QUESTIONS);
  const after = measureFolder(folder);
  console.log(JSON.stringify({ questions: QUESTIONS, before, after }));
  expect(after.bytes - before.bytes).toBeLessThan(MAX_GROWTH_BYTES);
  expect(after.files - before.files).toBeLessThan(10);
  const stores = measureFolder(join(folder, 'v3')).bytes;
  expect(stores).toBeLessThan(MAX_STORES_BYTES);
  expect(after.bytes - stores).toBeLessThan(MAX_CODE_BYTES);
  expect(await served.stop()).toBe(0);
});
