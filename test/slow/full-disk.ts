/**
 * The disk of `npm run serve` fills up while it follows a network: no answer is wrong, nothing is
 * half written, and it goes on by itself once there is space. The disk is a small file system in
 * memory, which unshare(1) makes for any user.
 */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain } from '../../cli/lib/process/command-line.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { prepareMoving } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { readInfo } from '../support/edge/walk-network.ts';
import { milestoneAt } from '../support/network/network-model.ts';
import { stateHashAt } from '../support/network/state-hash-at.ts';

const DISK = '60m';

/** Between two milestones. */
const MILESTONE_MS = 250;

/** How long the disk is full. */
const FULL_MS = 20_000;

/** Mounts the disk, where nobody else sees it, and runs this file again there. */
async function runOnSmallDisk(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const mountAndRun = 'mount -t tmpfs -o size="$0" tmpfs "$1" && TMPDIR="$1" exec "$2" "$3" --here';
  const child = spawn(
    'unshare',
    ['--mount', '--map-root-user', 'sh', '-c', mountAndRun, DISK, folder].concat(
      process.execPath,
      import.meta.filename,
    ),
    { stdio: 'inherit' },
  );
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/** Writes a file until nothing more fits. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  for (const size of [1 << 16, 1 << 10, 1])
    try {
      for (;;) writeSync(file, new Uint8Array(size));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
  closeSync(file);
}

async function follow(): Promise<number> {
  await using moving = await prepareMoving('full');
  const { network, persistTo, vars } = moving;
  const served = await startServe(['--port', '0', '--persist-to', persistTo], vars);
  moving.move(MILESTONE_MS);

  let failed = 0;
  /** The ledger index, if it answers: then the milestone is the network's. */
  const look = async (): Promise<number | undefined> => {
    const info = await readInfo(served.url).catch(() => undefined);
    if (info === undefined) {
      failed++;
      return undefined;
    }
    const { index, milestoneId } = info.status.confirmedMilestone;
    if (index > 0) assert.equal(milestoneId, milestoneAt(network, index)!.id);
    return index;
  };
  const untilBeyond = async (ledger: number) => {
    const end = Date.now() + 600_000;
    while (((await look()) ?? 0) <= ledger) {
      assert(
        Date.now() < end,
        `the ledger stays at ${ledger}:\n${served.log.slice(-20).join('\n')}`,
      );
      await sleep(100);
    }
  };
  try {
    await untilBeyond(5);

    const filler = join(tmpdir(), 'filler');
    fill(filler);
    let ledger = (await look()) ?? 0;
    const end = Date.now() + FULL_MS;
    let answered = 0;
    while (Date.now() < end) {
      const index = await look();
      if (index !== undefined) {
        assert(index >= ledger);
        ledger = index;
        answered++;
      }
      await sleep(50);
    }
    console.log(`full: ${answered} answers, ${failed} failed, the ledger came to ${ledger}`);
    const said = served.log.find((line) => line.includes('SQLITE_FULL'));
    assert(said !== undefined);
    console.log(said);
    rmSync(filler);
    await untilBeyond(ledger + 5);
    await moving.halt();
    await untilBeyond(network.nextIndex - 2);
    assert.equal(await served.stop(), 0);
  } finally {
    await moving.halt();
    await served.kill('all');
  }
  const last = network.nextIndex - 1;
  assert.equal(await readStateHash(persistTo), `0x${await stateHashAt(network, last)}`);
  console.log(`with space again it came to ${last}, at the network's state hash`);
  return 0;
}

const USAGE = `Usage: node tools/run.js test/slow/full-disk.ts

Fills the disk of npm run serve while it follows a network, for ${FULL_MS / 1000} seconds: about a minute.`;

await runMain(USAGE, (args) => {
  const { values } = parseArgs({ args, options: { here: { type: 'boolean', default: false } } });
  return values.here ? follow() : runOnSmallDisk();
});
