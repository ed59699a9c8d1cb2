/**
 * Killed at random moments while it follows network-a, and started again each time: the ledger at
 * the end is the one that it always was, no milestone is applied twice, none left out.
 */
import { expect, it } from 'vitest';
import { checkChain } from '../support/edge/check-chain.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { readInfo } from '../support/edge/walk-network.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const KILLS = 300;

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
    await new Promise((resolve) => setTimeout(resolve, random.below(1500)));
    await edge.kill();
    checkChain(persistTo, network);
  }
  const edge = await following.start();
  const deadline = Date.now() + 60_000;
  while (
    (await readInfo(edge.url)).status.confirmedMilestone.index < last &&
    Date.now() < deadline
  ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await edge.stop();
  expect(checkChain(persistTo, network)).toBe(last);
  expect(await readStateHash(persistTo)).toBe(
    '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  );
}, 3_600_000);
