/**
 * `node tools/run.js tools/first-start.ts`: what an operator does first, on this system: builds,
 * imports the sample's snapshot, serves it, asks for its ledger and an NFT, backs up, and ends. For
 * systems on which the tests do not run, such as Windows: paths with spaces and quotes included.
 */
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT } from '../cli/lib/project.ts';

const COMMAND = join(PROJECT, 'cli/stardust-edge.js');
const SNAPSHOT = join(PROJECT, 'sample/snapshot-17338.bin');
const STOP_MS = 20_000;

const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

async function call(...args: string[]): Promise<void> {
  console.log(`> stardust-edge ${args.join(' ')}`);
  const child = start(args);
  child.stdout!.pipe(process.stdout);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
}

/** Resolves with the URL once it answers. */
async function serving(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    console.log(line);
    const url = /^Serving .* at (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('serve ended');
}

async function readJson(url: string): Promise<Record<string, unknown>> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, `${url}: ${answer.status}`);
  return (await answer.json()) as Record<string, unknown>;
}

const base = mkdtempSync(join(tmpdir(), 'first-start-'));
try {
  const folder = join(base, "an operator's data");
  mkdirSync(folder);
  const persistTo = join(folder, 'ledger');
  await call('import', SNAPSHOT, '--persist-to', persistTo);
  const child = start(['serve', '--port', '0', '--persist-to', persistTo]);
  const ended = once(child, 'exit');
  try {
    const url = (await serving(child)).replace(/\/$/, '');
    const { status } = await readJson(`${url}/api/core/v2/info`);
    assert.equal(
      (status as { confirmedMilestone: { index: number } }).confirmedMilestone.index,
      17_338,
    );
    const list = await readJson(`${url}/api/indexer/v1/outputs/nft?pageSize=1`);
    const [outputId] = list.items as string[];
    const { output } = await readJson(`${url}/api/core/v2/outputs/${outputId}`);
    assert.equal((output as { type: number }).type, 6);
    assert.equal((await fetch(`${url}/explorer/app.js`)).status, 200);
    await call('backup', '--persist-to', persistTo, join(folder, 'back-up'));
  } finally {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }
  console.log('It starts here.');
} finally {
  rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
}
