/**
 * An edge node that follows an edge node: double → edge → edge over recorded networks, to the state
 * hash that HORNET came to. The second verifies everything itself: where the first lies in one bit
 * it does not follow. `npm run test:slow -- chain` runs it.
 */
import { describe, expect, it } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { askRecorded, expectRecordedEnd, untilLogged } from '../support/edge/recorded-ledger.ts';
import { readInfo, untilLedger } from '../support/edge/walk-network.ts';
import { nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { flip, inBytes } from '../support/lies/rules.ts';
import { pathOfBlock } from '../support/lies/sample-paths.ts';
import { coneOf, lastIndex, type Network } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

interface Lie {
  path: string;
  /** The byte in which one bit is another; from the end if negative. */
  at: number;
  /** What the second node logs. */
  line: RegExp;
}

/** By the milestone that is not followed: a bit of a block, of a parent, of a signature. */
function liesAbout(network: Network): Map<number, Lie> {
  const milestone = (index: number) => `/api/core/v2/milestones/by-index/${index}`;
  const block = pathOfBlock(coneOf(network, 12)[0]!.id);
  return new Map([
    [12, { path: block, at: -1, line: /upstream.failed.*other bytes/ }],
    [13, { path: milestone(13), at: 60, line: /upstream.diverged/ }],
    [14, { path: milestone(14), at: -1, line: /upstream.diverged.*M-3/ }],
  ]);
}

describe.concurrent.each(['network-a', 'network-c'] as const)('%s', (name) => {
  const network = recordedNetwork(name);
  const lies = liesAbout(network);

  it('through two edge nodes: the same roots on the way, the same state at the end', async () => {
    await using following = await prepareFollowing(network);
    const { double } = following;
    const first = await following.start();
    await using proxy = await startLyingNode(nodeAt(first.url, true));
    const lie = ({ path, at }: Lie) => proxy.lie([inBytes(path, flip(at))]);
    // its block must not be stored as a tip before
    lie(lies.get(12)!);
    await using behind = await prepareFollowing(network);
    const second = await behind.start({ vars: { UPSTREAM_URL: proxy.url } });
    let answered = 0;
    for (let index = network.genesis.index; index <= lastIndex(network); index++) {
      const told = lies.get(index);
      if (told !== undefined) {
        lie(told);
        const from = second.log.length;
        double.confirm(index);
        await readInfo(second.url);
        await untilLogged(second, told.line, from);
        expect((await readInfo(second.url)).status.confirmedMilestone.index).toBe(index - 1);
        // it was nothing but the lie
        proxy.lie([]);
        await untilLedger(second, index, 60);
      }
      if (index % 10 !== 0 && index !== lastIndex(network)) continue;
      double.confirm(index);
      await untilLedger(second, index, 60);
      // proposals too, over blocks that the second node has not seen
      answered += await askRecorded(name, second.url, index);
    }
    expect(answered).toBeGreaterThan(10);
    await second.stop();
    await first.stop();
    await expectRecordedEnd(name, following.persistTo);
    await expectRecordedEnd(name, behind.persistTo);
  }, 600_000);
});
