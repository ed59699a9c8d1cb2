/**
 * The data folder of `npm run serve` does not grow with the number of requests: white-flag answers
 * are cached in memory, and what version 0.2 cached in files is removed at the start.
 * `npm run test:slow -- serve-disk` asks 10,000 questions.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { startServe } from '../support/edge/npm-serve.ts';
import { importFiles, readInfo } from '../support/edge/walk-network.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { NFT, WHITE_FLAG } from '../support/http/contract.ts';
import { fullSnapshot } from '../support/network/network-snapshot.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const QUESTIONS = Number(process.env.QUESTIONS ?? 500);
const CLIENTS = 4;

/**
 * Asked before the folder is measured: miniflare's D1 writes a page for each, and SQLite's
 * write-ahead log comes to its size, 1,000 pages of 4 KB, and stays there.
 */
const WARM_UP = 1200;

const MAX_GROWTH_BYTES = 1_000_000;

/** Of the whole folder, for a ledger that has nothing in it. */
const MAX_FOLDER_BYTES = 10_000_000;

const folder = await mkdtemp(join(tmpdir(), 'serve-disk-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

function measureFolder(): { bytes: number; files: number } {
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
  const file = join(folder, 'full_snapshot.bin');
  await writeFile(file, [...fullSnapshot(network, { target: network.genesis.index })]);
  await importFiles(folder, { full: file });
  // as version 0.2 left it
  const old = join(folder, 'v3', 'cache', 'default', 'blobs');
  mkdirSync(old, { recursive: true });
  writeFileSync(join(old, 'answer'), 'x');

  await using double = await NodeDouble.start(network, { confirmed: 1 });
  const served = await startServe(['--port', '0', '--persist-to', folder], {
    UPSTREAM_URL: double.url,
    MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
    MILESTONE_THRESHOLD: String(network.keys.threshold),
  });
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

  const before = measureFolder();
  await askUntil(WARM_UP + QUESTIONS);
  const after = measureFolder();
  console.log(JSON.stringify({ questions: QUESTIONS, before, after }));
  expect(after.bytes - before.bytes).toBeLessThan(MAX_GROWTH_BYTES);
  expect(after.files - before.files).toBeLessThan(10);
  expect(after.bytes).toBeLessThan(MAX_FOLDER_BYTES);
  expect(await served.stop()).toBe(0);
});
