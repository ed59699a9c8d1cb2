/**
 * Back-ups of a ledger that is followed and read meanwhile: each is killed while it is written,
 * each second one together with `npm run serve`, and killed while it is restored. What is restored
 * must have the state hash that the network had at that milestone.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { prepareMoving } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { readInfo } from '../support/edge/walk-network.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { stateHashAt } from '../support/network/state-hash-at.ts';

const BACKUPS = 20;
const CLIENTS = 4;
const MILESTONE_MS = 250;

/** A back-up or a restore takes about so long; it is killed at any moment of it. */
const COMMAND_MS = 1000;

const folder = temporaryFolder();

/** @param killAfter milliseconds */
function run(name: string, args: string[], killAfter?: number) {
  const { child, ended } = startCommand(name, args);
  if (killAfter !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfter);
  return ended;
}

/** Ledger index and state hash, as the commands print them. */
function stateOf({ code, stdout }: Awaited<ReturnType<typeof run>>) {
  const ledger = /^ledger index +(\d+)$/m.exec(stdout)?.[1];
  const stateHash = /^state hash +(\w{64})$/m.exec(stdout)?.[1];
  expect([code, ledger, stateHash], stdout).not.toContain(undefined);
  expect(code).toBe(0);
  return { ledger: Number(ledger), stateHash };
}

it(`${BACKUPS} back-ups are restored to the state hash of their milestone`, async () => {
  const random = freshRandom();
  await using moving = await prepareMoving('backups');
  const { network, persistTo, vars } = moving;
  const flags = ['--port', '0', '--persist-to', persistTo];
  let served = await startServe(flags, vars);
  let stopped = false;
  let answers = 0;
  moving.move(MILESTONE_MS);
  const client = async () => {
    while (!stopped) {
      const info = await readInfo(served.url).catch(() => undefined);
      if (info === undefined) await sleep(20);
      else answers++;
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);

  let kills = 0;
  const ledgers = new Set<number>();
  try {
    for (let round = 0; round < BACKUPS; round++) {
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
      const state = stateOf(saved);
      expect(state.stateHash).toBe(await stateHashAt(network, state.ledger));

      const restore = ['--persist-to', into, file];
      let restored = await run('restore', restore, random.below(COMMAND_MS));
      if (restored.code !== 0) {
        kills++;
        rmSync(into, { recursive: true, force: true });
        restored = await run('restore', restore);
      }
      expect(stateOf(restored)).toEqual(state);
      const left = [`${file}.partial`, join(into, 'restore.partial')];
      expect(left.filter((path) => existsSync(path))).toEqual([]);
      rmSync(into, { recursive: true });
      rmSync(file);
      ledgers.add(state.ledger);
    }
  } finally {
    stopped = true;
    await Promise.all([moving.halt(), ...clients]);
    await served.stop();
  }
  console.log(`${kills} kills, ${answers} reads meanwhile`);
  // most at a milestone of their own: the ledger moved
  expect(ledgers.size).toBeGreaterThan(BACKUPS / 2);
}, 1_800_000);
