/**
 * Commands that write into a folder while `serve` serves it, watched by a client that asks up to
 * twenty times a second: every answer is right for the old ledger or for the new one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { prepareSample } from '../../cli/start/prepare-sample.ts';
import { readWhiteFlag } from '../../cli/start/sample.ts';
import { writeMadeSnapshot } from '../support/cli/made-snapshot.ts';
import { runCommand } from '../support/cli/script-process.ts';
import { type Served, startServe } from '../support/edge/npm-serve.ts';
import { WHITE_FLAG } from '../support/http/contract.ts';

/** A second or two of an import; `npm run test:slow` takes the size that operators have. */
const OUTPUTS = process.env.SLOW ? 300_000 : 30_000;

const ASK_EVERY_MS = 100;
const LIST = '/api/indexer/v1/outputs/basic?pageSize=2';
const WAIT = { timeout: 60_000, interval: 100 };
const STACK = /^ +at /m;

const folder = mkdtempSync(join(tmpdir(), 'served-'));
const persistTo = join(folder, 'state');
const made = join(folder, 'made.bin');
let served: Served;
let questions: [path: string, init?: RequestInit][];

beforeAll(async () => {
  writeMadeSnapshot(made, OUTPUTS);
  const nft = await prepareSample(persistTo, readWranglerConfig(), () => {});
  questions = [
    [WHITE_FLAG, { method: 'POST', body: JSON.stringify(readWhiteFlag()) }],
    [`/api/indexer/v1/outputs/nft/${nft.nftId}`],
    [`/api/core/v2/outputs/${nft.outputId}`],
    ['/api/core/v2/milestones/by-index/17339'],
    ['/api/core/v2/info'],
    [LIST],
  ];
  vi.stubEnv('INDEX', 'all');
  served = await startServe(['--port', '0', '--persist-to', persistTo]);
  // until the sample's outputs are in the lists
  await vi.waitFor(async () => expect(await ask([LIST])).toContain(`${LIST}: 200`), WAIT);
});
afterAll(async () => {
  await served?.stop();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** What one question is answered: status and body, without what changes by itself. */
async function ask([path, init]: (typeof questions)[number]): Promise<string> {
  const response = await fetch(served.url + path, init);
  const text = (await response.text()).replace(/"isHealthy":\w+/, '');
  return `${path}: ${response.status} ${response.headers.get('x-error-detail') ?? ''} ${text}`;
}

const askAll = () => Promise.all(questions.map(ask));

/**
 * All that was answered until the command ended, each answer once. One question at a time: on a busy
 * machine a list that waits for another one may be refused.
 */
async function watch(run: Promise<{ code: number | null; stderr: string; stdout: string }>) {
  const answers = new Set<string>();
  const lists = new Set<number>();
  let ended = false;
  const result = run.finally(() => {
    ended = true;
  });
  let asked = 0;
  for (; !ended; asked++) {
    answers.add(await ask(questions[asked % questions.length]!));
    // another one each time, as serve keeps an answer for a second
    const list = await fetch(`${served.url}${LIST}&createdBefore=${4_000_000_000 + asked}`);
    lists.add(list.status);
    await list.text();
    await sleep(ASK_EVERY_MS);
  }
  return { ...(await result), answers, lists, asked };
}

it('a back-up and a new index', async () => {
  const before = await askAll();
  for (const command of [['backup', join(folder, 'saved')], ['reindex']]) {
    const { code, stderr, answers } = await watch(
      runCommand(command[0]!, ...command.slice(1), '--persist-to', persistTo),
    );
    expect({ code, stack: STACK.test(stderr) }).toEqual({ code: 0, stack: false });
    expect([...answers].filter((answer) => !before.includes(answer))).toEqual([]);
  }
});

it('an import over it', async () => {
  const before = await askAll();
  const { code, stderr, answers, lists, asked } = await watch(
    runCommand('import', made, '--older', '--persist-to', persistTo),
  );
  expect({ code, stack: STACK.test(stderr) }).toEqual({ code: 0, stack: false });
  const after = await askAll();
  expect(served.log.filter((line) => /^stack|SQLITE/.test(line))).toEqual([]);
  expect([...answers].filter((each) => ![...before, ...after].includes(each))).toEqual([]);
  expect([...lists]).toEqual([200]);
  expect(asked).toBeGreaterThan(10);
});
