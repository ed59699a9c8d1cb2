/**
 * The clock of a node that follows is set back by an hour, and later forward again: it follows all
 * the time, and no answer is wrong. Only the Worker's clock is moved, by a statement before its
 * script. Alarms go by the platform's clock, so a Worker's that is ahead would delay them, which no
 * system's clock does: that is not tried.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { prepareMoving } from '../support/edge/follow-network.ts';
import { nftsOf } from '../support/edge/recorded-ledger.ts';
import { nftsEver, readInfo, untilLedger } from '../support/edge/walk-network.ts';
import { stateHashAt } from '../support/network/state-hash-at.ts';

const HOUR_MS = 3_600_000;

/** The clock's error in one stretch after the other. */
const SHIFTS_MS = [0, -HOUR_MS, 0];
const STRETCH_MS = 12_000;

const MILESTONE_MS = 300;

const folder = temporaryFolder();

/** The built Worker with a clock that is wrong in stretches from `since` on, Unix milliseconds. */
function writeWithWrongClock(since: number): void {
  cpSync(inject('builtWorker'), folder, { recursive: true });
  const script = join(folder, 'worker.js');
  const clock = `{
    const right = Date.now;
    const shifts = ${JSON.stringify(SHIFTS_MS)};
    Date.now = () => right() + (shifts[Math.floor((right() - ${since}) / ${STRETCH_MS})] ?? 0);
  }\n`;
  writeFileSync(script, clock + readFileSync(script, 'utf8'));
}

it('follows with a clock that goes back, and answers right', async () => {
  const since = Date.now() + 15_000;
  writeWithWrongClock(since);
  await using moving = await prepareMoving('clock', { turns: 3, mqtt: true });
  const { network, persistTo } = moving;
  const edge = await moving.start({ folder, asServe: true });
  moving.move(MILESTONE_MS);
  const nftIds = nftsEver(network);
  const expectNft = nftsOf(network);
  const ledgerOf = async () => (await readInfo(edge.url)).status.confirmedMilestone.index;

  const checkStretch = async (stretch: number, shift: number) => {
    await sleep(Math.max(0, since + stretch * STRETCH_MS - Date.now()));
    const from = await ledgerOf();
    let [lookups, behind] = [0, 0];
    while (Date.now() < since + (stretch + 1) * STRETCH_MS - 500) {
      const nftId = nftIds[lookups++ % nftIds.length]!;
      const newest = network.nextIndex - 1;
      await expectNft(edge.url, nftId);
      behind = Math.max(behind, newest - (await ledgerOf()));
      await sleep(20);
    }
    const to = await ledgerOf();
    expect(to, `the ledger with a clock that is ${shift} ms wrong`).toBeGreaterThan(from);
    console.log(
      `clock ${shift / HOUR_MS} h: at most ${behind} milestones behind, ${lookups} lookups`,
    );
  };
  try {
    for (const [stretch, shift] of SHIFTS_MS.entries()) await checkStretch(stretch, shift);
  } finally {
    await moving.halt();
  }
  const last = network.nextIndex - 1;
  await untilLedger(edge, last, 60);
  await edge.stop();
  expect(await readStateHash(persistTo)).toBe(`0x${await stateHashAt(network, last)}`);
});
