/**
 * An edge node that follows an edge node: double → edge → edge over recorded networks, to the state
 * hash that HORNET came to. The second verifies everything anew: it refuses a first that lies in
 * one bit.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { startProxy } from '../support/edge/altering-proxy.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { type Edge, startEdge } from '../support/edge/edge.ts';
import {
  ask,
  expectedStatus,
  importSnapshot,
  readInfo,
  untilLedger,
} from '../support/edge/walk-network.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
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

const folder = await mkdtemp(join(tmpdir(), 'edge-chain-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

/** An edge node of the network that begins with its genesis. */
async function startNode(
  { keys, name }: Network,
  upstream: string,
): Promise<{ edge: Edge; persistTo: string }> {
  const persistTo = await mkdtemp(join(folder, name));
  await importSnapshot(name as RecordedName, persistTo, false);
  const vars = {
    UPSTREAM_URL: upstream,
    MILESTONE_PUBLIC_KEYS: keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
    MILESTONE_THRESHOLD: String(keys.threshold),
  };
  return { edge: await startEdge({ folder: inject('builtWorker'), persistTo, vars }), persistTo };
}

describe.concurrent.each(NETWORKS)('%s', (name, stateHash) => {
  it('through two edge nodes: the same roots on the way, the same state at the end', async () => {
    const network = recordedNetwork(name);
    await using double = await NodeDouble.start(network);
    const first = await startNode(network, double.url);
    const second = await startNode(network, first.edge.url);
    let answered = 0;
    for (let index = network.genesis.index; index <= lastIndex(network); index++) {
      const questions = recordedQuestions(name).filter((each) => each.ledgerIndex === index);
      if (index % 10 !== 0 && index !== lastIndex(network)) continue;
      double.confirm(index);
      await untilLedger(second.edge, index, 60);
      // proposals too, over blocks that the second node has not seen
      for (const question of questions) {
        const { status, body } = await ask(second.edge.url, question);
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
    await second.edge.stop();
    await first.edge.stop();
    expect(await readStateHash(first.persistTo)).toBe(stateHash);
    expect(await readStateHash(second.persistTo)).toBe(stateHash);
  }, 600_000);
});

describe('a first node that lies in one bit', () => {
  const network = recordedNetwork('network-a');
  const block = coneOf(network, 12)[0]!.id;
  const flip = (body: Uint8Array, at: number) => body.with(at, body[at]! ^ 1);

  it.each<[string, string, (body: Uint8Array) => Uint8Array, RegExp]>([
    [
      'in a block',
      `/api/core/v2/blocks/${block}`,
      (body) => flip(body, body.length - 1),
      /upstream fails.*other bytes/,
    ],
    [
      'in a parent that a milestone names',
      '/api/core/v2/milestones/by-index/12',
      (body) => flip(body, 60),
      /upstream diverges/,
    ],
    [
      "in a milestone's signature",
      '/api/core/v2/milestones/by-index/12',
      (body) => flip(body, body.length - 1),
      /upstream diverges.*M-3/,
    ],
  ])(
    '%s is not followed',
    async (_, path, lie, line) => {
      await using double = await NodeDouble.start(network, { confirmed: 20 });
      const first = await startNode(network, double.url);
      await untilLedger(first.edge, 20, 60);
      await using proxy = await startProxy(first.edge.url);
      proxy.alter = (asked, body) => (asked === path ? lie(body) : body);
      const second = await startNode(network, proxy.url);
      await untilLine(second.edge, line);
      expect((await readInfo(second.edge.url)).status.confirmedMilestone.index).toBe(11);
      // it was nothing but the lie
      proxy.alter = (_asked, body) => body;
      await untilLedger(second.edge, 20, 60);
      await second.edge.stop();
      await first.edge.stop();
    },
    300_000,
  );
});

async function untilLine({ log, url }: Edge, line: RegExp): Promise<void> {
  await readInfo(url);
  for (let waited = 0; !log.some((each) => line.test(each)); waited += 50) {
    if (waited > 60_000) throw new Error(`no line ${line} in:\n${log.join('\n')}`);
    await setTimeout(50);
  }
}
