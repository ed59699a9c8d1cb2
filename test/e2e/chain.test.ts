/**
 * An edge node that follows an edge node: double → edge → edge over recorded networks, to the state
 * hash that HORNET came to. The second verifies everything itself: where the first lies in one bit
 * it does not follow. `npm run test:slow -- chain` runs it.
 */
import { describe, expect, it } from 'vitest';
import { startProxy } from '../support/edge/altering-proxy.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import type { Edge } from '../support/edge/edge.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { ask, expectedStatus, readInfo, untilLedger } from '../support/edge/walk-network.ts';
import { coneOf, lastIndex, type Network } from '../support/network/network-model.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';

const NETWORKS: [name: RecordedName, stateHash: string][] = [
  ['network-a', '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df'],
  ['network-c', '0x5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3'],
];

interface Lie {
  /** Of the milestone that is not followed. */
  index: number;
  path: string;
  /** The byte in which one bit is another; from the end if negative. */
  at: number;
  /** What the second node logs. */
  line: RegExp;
}

function liesAbout(network: Network): Lie[] {
  const milestone = (index: number) => `/api/core/v2/milestones/by-index/${index}`;
  const block = coneOf(network, 12)[0]!.id;
  return [
    {
      index: 12,
      path: `/api/core/v2/blocks/${block}`,
      at: -1,
      line: /upstream.failed.*other bytes/,
    },
    // in a parent that it names, and in its signature
    { index: 13, path: milestone(13), at: 60, line: /upstream.diverged/ },
    { index: 14, path: milestone(14), at: -1, line: /upstream.diverged.*M-3/ },
  ];
}

/** The byte at this place with one bit changed. */
function flip(body: Uint8Array, at: number): Uint8Array {
  const place = at < 0 ? body.length + at : at;
  return body.with(place, body[place]! ^ 1);
}

describe.concurrent.each(NETWORKS)('%s', (name, stateHash) => {
  const network = recordedNetwork(name);
  const lies = liesAbout(network);

  it('through two edge nodes: the same roots on the way, the same state at the end', async () => {
    await using following = await prepareFollowing(network);
    const { double } = following;
    const first = await following.start();
    await using proxy = await startProxy(first.url);
    const lie = ({ path, at }: Lie) => {
      proxy.alter = (asked, body) => (asked === path ? flip(body, at) : body);
    };
    // its block must not be stored as a tip before
    lie(lies[0]!);
    await using behind = await prepareFollowing(network);
    const second = await behind.start({ vars: { UPSTREAM_URL: proxy.url } });
    let answered = 0;
    for (let index = network.genesis.index; index <= lastIndex(network); index++) {
      const told = lies.find((each) => each.index === index);
      if (told !== undefined) {
        lie(told);
        const from = second.log.length;
        double.confirm(index);
        await untilLine(second, told.line, from);
        expect((await readInfo(second.url)).status.confirmedMilestone.index).toBe(index - 1);
        // it was nothing but the lie
        proxy.alter = (_asked, body) => body;
        await untilLedger(second, index, 60);
      }
      if (index % 10 !== 0 && index !== lastIndex(network)) continue;
      double.confirm(index);
      await untilLedger(second, index, 60);
      // proposals too, over blocks that the second node has not seen
      for (const question of recordedQuestions(name)) {
        if (question.ledgerIndex !== index) continue;
        const { status, body } = await ask(second.url, question);
        expect([question.name, index, status]).toEqual([
          question.name,
          index,
          expectedStatus(question),
        ]);
        if (status === 200) expect(body).toEqual(question.response);
        answered++;
      }
    }
    expect(answered).toBeGreaterThan(10);
    await second.stop();
    await first.stop();
    expect(await readStateHash(following.persistTo)).toBe(stateHash);
    expect(await readStateHash(behind.persistTo)).toBe(stateHash);
  }, 600_000);
});

async function untilLine({ log, nextLine, url }: Edge, line: RegExp, from: number): Promise<void> {
  await readInfo(url);
  const deadline = Date.now() + 60_000;
  while (!log.slice(from).some((each) => line.test(each))) {
    if (Date.now() > deadline) throw new Error(`no line ${line} in:\n${log.join('\n')}`);
    await nextLine(line, 1000);
  }
}
