/**
 * The clock of a node that follows is set back by an hour, put right, and set an hour ahead and back
 * again: it follows all the time, and no answer is wrong. All processes of `npm run serve` have a
 * wrong clock, workerd's timers and alarms too: a library before that of C adds what a file says.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { prepareMoving } from '../support/edge/follow-network.ts';
import { startServe } from '../support/edge/npm-serve.ts';
import { nftsOf } from '../support/edge/recorded-ledger.ts';
import { readInfo } from '../support/edge/walk-network.ts';
import { holdersOf } from '../support/network/nft-places.ts';
import { stateHashAt } from '../support/network/state-hash-at.ts';

const HOUR = 3600;

/** The clock's error in one stretch after the other, in seconds. */
const SHIFTS = [0, -HOUR, 0, HOUR, 0];
/** In the first half workerd is started again, perhaps. */
const STRETCH_MS = 20_000;

const MILESTONE_MS = 500;

const LIBRARY = `
  #include <fcntl.h>
  #include <stdlib.h>
  #include <sys/mman.h>
  #include <sys/syscall.h>
  #include <sys/time.h>
  #include <time.h>
  #include <unistd.h>

  static volatile long *ahead;

  int clock_gettime(clockid_t id, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, id, at);
    if (failed || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return failed;
    if (!ahead) ahead = mmap(0, 8, PROT_READ, MAP_SHARED, open(getenv("AHEAD"), O_RDONLY), 0);
    at->tv_sec += *ahead;
    return 0;
  }
  int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *at = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
  }
  time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
  }`;

const folder = temporaryFolder();
const file = join(folder, 'ahead');
const library = join(folder, 'clock.so');

const setClock = (seconds: number) =>
  writeFileSync(file, new BigInt64Array([BigInt(seconds)]), { flag: 'r+' });

it('follows with a clock that goes back, and answers right', async () => {
  const flags = ['-x', 'c', '-', '-shared', '-fPIC', '-o', library];
  execFileSync('cc', flags, { input: LIBRARY });
  writeFileSync(file, new BigInt64Array(1));
  await using moving = await prepareMoving('clock', { turns: 3, mqtt: true });
  const { network, persistTo, vars } = moving;
  const served = await startServe(['--port', '0', '--persist-to', persistTo], {
    ...vars,
    ...{ LD_PRELOAD: library, AHEAD: file },
  });
  moving.move(MILESTONE_MS);
  const nftIds = [...holdersOf(network).keys()];
  const expectNft = nftsOf(network);
  const ledgerOf = async () => (await readInfo(served.url)).status.confirmedMilestone.index;

  const checkStretch = async (shift: number) => {
    setClock(shift);
    const since = Date.now();
    let [lookups, behind, from] = [0, 0, 0];
    while (Date.now() < since + STRETCH_MS) {
      if (Date.now() < since + STRETCH_MS / 2) from = await ledgerOf();
      const nftId = nftIds[lookups++ % nftIds.length]!;
      const newest = network.nextIndex - 1;
      await expectNft(served.url, nftId);
      behind = Math.max(behind, newest - (await ledgerOf()));
      await sleep(20);
    }
    const to = await ledgerOf();
    expect(to, `the ledger with a clock that is ${shift} s wrong`).toBeGreaterThan(from);
    console.log(`clock ${shift} s: at most ${behind} milestones behind, ${lookups} lookups`);
  };
  try {
    for (const shift of SHIFTS) await checkStretch(shift);
  } finally {
    await moving.halt();
  }
  const last = network.nextIndex - 1;
  await expect.poll(ledgerOf, { timeout: 400_000 }).toBe(last);
  expect(await served.stop()).toBe(0);
  expect(await readStateHash(persistTo)).toBe(`0x${await stateHashAt(network, last)}`);
}, 600_000);
