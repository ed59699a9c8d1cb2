/**
 * The recorded networks, end to end, over HTTP: snapshot in, every milestone followed, every
 * question asked at its ledger index. `npm run test:slow -- networks` runs it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { readStateHash } from '../support/edge/d1-file.ts';
import { type Edge, startEdge } from '../support/edge/edge.ts';
import { varsOf } from '../support/edge/follow-network.ts';
import {
  ask,
  expectedStatus,
  importSnapshot,
  lookUpNft,
  nftsAt,
  nftsEver,
  readInfo,
  recordedNftAnswers,
  untilLedger,
} from '../support/edge/walk-network.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { lastIndex } from '../support/network/network-model.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';

const NETWORKS: { name: RecordedName; deltaIndex: number; stateHash: string }[] = [
  {
    name: 'network-a',
    deltaIndex: 81,
    stateHash: '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  },
  {
    name: 'network-c',
    deltaIndex: 41,
    stateHash: '0x5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
  },
];

const folder = await mkdtemp(join(tmpdir(), 'edge-e2e-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.concurrent.each(NETWORKS)('$name', ({ name, deltaIndex, stateHash }) => {
  const network = recordedNetwork(name);
  const last = lastIndex(network);
  const nftIds = nftsEver(network);
  const places = Array.from({ length: last + 1 }, (_, index) => nftsAt(network, index));
  const wasAskedAt = (index: number) =>
    recordedQuestions(name).some(
      ({ ledgerIndex, status }) => ledgerIndex === index && status === 200,
    );

  async function askEverythingAt(edge: Edge, index: number): Promise<void> {
    for (const question of recordedQuestions(name).filter(
      ({ ledgerIndex }) => ledgerIndex === index,
    )) {
      const { status, body } = await ask(edge.url, question);
      expect({ name: question.name, index, status }).toEqual({
        name: question.name,
        index,
        status: expectedStatus(question),
      });
      if (question.status === 200) expect(body).toEqual(question.response);
    }
    const recorded = recordedNftAnswers(name, index);
    for (const { nftId, status, items } of recorded) {
      expect({ nftId, ...(await lookUpNft(edge.url, nftId, index)) }).toEqual({
        nftId,
        ledgerIndex: index,
        status,
        items,
      });
    }
    // without a minimum KV may be a second behind, and says where it is
    const some = recorded.length > 0 ? nftIds : nftIds.filter((_, i) => i % 8 === index % 8);
    for (const nftId of some) {
      const answer = await lookUpNft(edge.url, nftId);
      const place = places[answer.ledgerIndex]!.get(nftId);
      const truth = { status: place ? 200 : 404, items: place ? [place] : null };
      expect({ nftId, ...answer }).toEqual({ nftId, ledgerIndex: answer.ledgerIndex, ...truth });
      expect(answer.ledgerIndex).toBeLessThanOrEqual(index);
    }
  }

  it('from genesis, with tips stored in the first half: every answer at every ledger index', async () => {
    const persistTo = await mkdtemp(join(folder, name));
    await importSnapshot(name, persistTo, false);
    await using double = await NodeDouble.start(network);
    const edge = await startEdge({
      folder: inject('builtWorker'),
      persistTo,
      vars: varsOf(network, double.url),
    });
    const half = Math.floor(last / 2);
    for (let index = network.genesis.index; index <= last; index++) {
      if (index === half)
        double.fault = ({ route }) =>
          route.name === 'tips' ? { kind: 'status', status: 404 } : undefined;
      double.confirm(index);
      // in the second half the first question comes before the follower has looked, as a
      // coordinator's does
      if (index < half || !wasAskedAt(index)) await untilLedger(edge, index);
      await askEverythingAt(edge, index);
      if (name === 'network-c' && [14, 17, 29, 31].includes(index)) {
        expect((await readInfo(edge.url)).pendingProtocolParameters).toHaveLength(
          index === 14 || index === 29 ? 1 : 0,
        );
      }
    }
    await edge.stop();
    expect(await readStateHash(persistTo)).toBe(stateHash);
  }, 600_000);

  it('from the delta snapshot, followed to the end', async () => {
    const persistTo = await mkdtemp(join(folder, `${name}-delta`));
    await importSnapshot(name, persistTo, true);
    await using double = await NodeDouble.start(network, { confirmed: deltaIndex });
    const edge = await startEdge({
      folder: inject('builtWorker'),
      persistTo,
      vars: varsOf(network, double.url),
    });
    await untilLedger(edge, deltaIndex);
    double.confirm(last);
    await untilLedger(edge, last, 60);
    await askEverythingAt(edge, last);
    await edge.stop();
    expect(await readStateHash(persistTo)).toBe(stateHash);
  }, 600_000);
});
