/**
 * Back-ups of a ledger that is followed and read meanwhile: each is killed while it is written,
 * each second one together with `npm run serve`, and killed while it is restored. What is restored
 * must have the state hash that the network had at that milestone.
 */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../scripts/lib/process/command-line.ts';
import { PROJECT } from '../../scripts/lib/project.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { readInfo } from '../support/edge/walk-network.ts';
import { tellRandom } from '../support/network/random.ts';
import { stateHashAt } from '../support/network/state-hash-at.ts';
import { SteadyNetwork } from '../support/network/steady-network.ts';

/** Between two milestones. */
const MILESTONE_MS = 250;

const RATE = { blocks: 20, transactions: 10, nfts: 4 };
const CLIENTS = 4;

/** A back-up or a restore takes about so long; it is killed at any moment of it. */
const COMMAND_MS = 1000;

interface Ended {
  code: number | null;
  text: string;
}

/** @param killAfter milliseconds */
async function run(name: string, args: string[], killAfter?: number): Promise<Ended> {
  const child = spawn(process.execPath, ['scripts/stardust-edge.js', name, ...args], {
    cwd: PROJECT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  if (killAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfter);
  const [code] = await once(child, 'close');
  return { code, text };
}

/** Ledger index and state hash, as the commands print them. */
function stateOf(text: string): { ledger: number; stateHash: string } {
  const ledger = /^ledger index +(\d+)$/m.exec(text)?.[1];
  const stateHash = /^state hash +(\w{64})$/m.exec(text)?.[1];
  assert(ledger !== undefined && stateHash !== undefined, text);
  return { ledger: Number(ledger), stateHash };
}

const USAGE = `Usage: npx node test/slow/backups.ts [COUNT]

Makes, kills and restores COUNT back-ups, by default 20, of a ledger that is followed and read
meanwhile: about 5 minutes.`;

await runMain(USAGE, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [count = 20, ...others] = positionals.map(Number);
  if (!Number.isSafeInteger(count) || others.length > 0)
    throw new UsageError('the number of back-ups is a whole number');
  const random = tellRandom();
  const folder = mkdtempSync(join(tmpdir(), 'backups-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const steady = new SteadyNetwork('backups', RATE);
  const { network } = steady;
  network.milestone();
  await using following = await prepareFollowing(network, { confirmed: 1 });
  const { double, persistTo, vars } = following;
  const flags = ['--port', '0', '--persist-to', persistTo];
  let served = await startServe(flags, vars);
  let stopped = false;
  let answers = 0;

  const coordinator = (async () => {
    while (!stopped) {
      await steady.makeMilestone(async () => {});
      double.confirm(network.nextIndex - 1);
      await sleep(MILESTONE_MS);
    }
  })();
  const client = async () => {
    while (!stopped) {
      const info = await readInfo(served.url).catch(() => undefined);
      if (info === undefined) await sleep(20);
      else answers++;
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);

  let kills = 0;
  const ledgers: number[] = [];
  try {
    for (let round = 0; round < count; round++) {
      const file = join(folder, `backup-${round}`);
      const into = join(folder, `restored-${round}`);
      const backUp = ['--persist-to', persistTo, file];
      const killed = run('backup', backUp, random.below(COMMAND_MS));
      if (round % 2 === 1) {
        await sleep(random.below(COMMAND_MS));
        await served.kill('all');
        kills++;
        served = await startServe(flags, vars);
      }
      let saved = await killed;
      if (saved.code !== 0) {
        kills++;
        // between its last steps: complete, and not printed
        rmSync(file, { force: true });
        saved = await run('backup', backUp);
      }
      assert.equal(saved.code, 0);
      const state = stateOf(saved.text);
      assert.equal(state.stateHash, await stateHashAt(network, state.ledger));

      const restore = ['--persist-to', into, file];
      let restored = await run('restore', restore, random.below(COMMAND_MS));
      if (restored.code !== 0) {
        kills++;
        rmSync(into, { recursive: true, force: true });
        restored = await run('restore', restore);
      }
      assert.equal(restored.code, 0);
      assert.deepEqual(stateOf(restored.text), state);
      assert(!existsSync(`${file}.partial`) && !existsSync(`${into}.partial`));
      rmSync(into, { recursive: true });
      rmSync(file);
      ledgers.push(state.ledger);
    }
  } finally {
    stopped = true;
    await Promise.all([coordinator, ...clients]);
    await served.stop();
  }
  console.log(
    `${count} of ${count} back-ups restored to the state hash of their milestone ` +
      `(${ledgers[0]} to ${ledgers.at(-1)}), ${kills} kills, ${answers} reads meanwhile`,
  );
  // each at a milestone of its own: the ledger moved
  assert.equal(new Set(ledgers).size, count);
  return 0;
});
