/**
 * Killed at random moments while it follows network-a, and started again each time: the ledger at
 * the end is the one that it always was, no milestone is applied twice, none left out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { checkChain, expectRecordedEnd } from '../support/edge/recorded-ledger.ts';
import { readInfo, untilLedger } from '../support/edge/walk-network.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const KILLS = 150;

const network = recordedNetwork('network-a');
const last = lastIndex(network);

it(`killed ${KILLS} times`, async () => {
  const random = freshRandom();
  await using following = await prepareFollowing(network);
  const { double, persistTo } = following;
  for (let kill = 0; kill < KILLS; kill++) {
    const edge = await following.start();
    await readInfo(edge.url);
    // so many milestones for each life that the last one is reached with the last kill
    double.confirm(Math.ceil((last * (kill + 1)) / KILLS));
    await sleep(random.below(1500));
    await edge.kill();
    checkChain(persistTo, network);
  }
  const edge = await following.start();
  await untilLedger(edge, last, 60);
  await edge.stop();
  expect(checkChain(persistTo, network)).toBe(last);
  await expectRecordedEnd('network-a', persistTo);
}, 3_600_000);
