/**
 * The clock of a node that follows is set back by an hour, and later forward again: it follows all
 * the time, and no answer is wrong. Only the Worker's clock is moved, by a statement before its
 * script. Alarms go by the platform's clock, so a Worker's that is ahead would delay them, which no
 * system's clock does: that is not tried.
 */
import { strict as assert } from 'node:assert';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain } from '../../scripts/lib/process/command-line.ts';
import { builtWorker } from '../../scripts/lib/wrangler/build-worker.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { lookUpNft, nftsAt, nftsEver, readInfo } from '../support/edge/walk-network.ts';
import { stateHashAt } from '../support/network/state-hash-at.ts';
import { SteadyNetwork } from '../support/network/steady-network.ts';

const HOUR_MS = 3_600_000;

/** The clock's error in one stretch after the other. */
const SHIFTS_MS = [0, -HOUR_MS, 0];
const STRETCH_MS = 12_000;

/** Between two milestones. */
const MILESTONE_MS = 300;

const RATE = { blocks: 20, transactions: 10, nfts: 4 };

/** The built Worker with a clock that is wrong in stretches from `since` on, Unix milliseconds. */
async function withWrongClock(folder: string, since: number): Promise<void> {
  cpSync(await builtWorker(), folder, { recursive: true });
  const script = join(folder, 'worker.js');
  const clock = `{
    const right = Date.now;
    const shifts = ${JSON.stringify(SHIFTS_MS)};
    Date.now = () => right() + (shifts[Math.floor((right() - ${since}) / ${STRETCH_MS})] ?? 0);
  }\n`;
  writeFileSync(script, clock + readFileSync(script, 'utf8'));
}

const USAGE = `Usage: npx node test/slow/clock.ts

Sets the clock of a node that follows back by an hour, and forward again: about a minute.`;

await runMain(USAGE, async (args) => {
  parseArgs({ args });
  const folder = mkdtempSync(join(tmpdir(), 'clock-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const steady = new SteadyNetwork('clock', RATE, 3);
  const { network } = steady;
  network.milestone();
  const since = Date.now() + 15_000;
  await withWrongClock(folder, since);
  await using following = await prepareFollowing(network, { confirmed: 1, mqtt: true });
  const { double, persistTo } = following;
  const edge = await following.start({ folder, asServe: true });
  let stopped = false;
  const coordinator = (async () => {
    while (!stopped) {
      await steady.makeMilestone(async () => {});
      double.confirm(network.nextIndex - 1);
      await sleep(MILESTONE_MS);
    }
  })();
  const nftIds = nftsEver(network);
  const ledgerOf = async () => (await readInfo(edge.url)).status.confirmedMilestone.index;

  const checkStretch = async (stretch: number, shift: number) => {
    await sleep(Math.max(0, since + stretch * STRETCH_MS - Date.now()));
    const from = await ledgerOf();
    let lookups = 0;
    let behind = 0;
    while (Date.now() < since + (stretch + 1) * STRETCH_MS - 500) {
      const nftId = nftIds[lookups++ % nftIds.length]!;
      const newest = network.nextIndex - 1;
      const { status, items, ledgerIndex } = await lookUpNft(edge.url, nftId);
      const place = nftsAt(network, ledgerIndex).get(nftId);
      assert.deepEqual({ status, items }, { status: 200, items: [place] });
      behind = Math.max(behind, newest - (await ledgerOf()));
      await sleep(20);
    }
    const to = await ledgerOf();
    assert(to > from, `the ledger stays at ${from} with a clock that is ${shift} ms wrong`);
    console.log(
      `clock ${shift / HOUR_MS} h: ledger ${from} to ${to}, at most ${behind} milestones behind, ` +
        `${lookups} lookups, none wrong`,
    );
  };
  try {
    for (const [stretch, shift] of SHIFTS_MS.entries()) await checkStretch(stretch, shift);
  } finally {
    stopped = true;
    await coordinator;
  }
  const last = network.nextIndex - 1;
  const end = Date.now() + 60_000;
  while ((await ledgerOf()) < last) {
    assert(Date.now() < end, `the ledger does not come to ${last}`);
    await sleep(100);
  }
  await edge.stop();
  assert.equal(await readStateHash(persistTo), `0x${await stateHashAt(network, last)}`);
  return 0;
});
