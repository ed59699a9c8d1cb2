/**
 * The recorded networks, end to end, over HTTP: snapshot in, every milestone followed, every
 * question asked at its ledger index. `npm run test:slow -- networks` runs it.
 */
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { type Edge, startEdge } from '../support/edge/edge.ts';
import { varsOf } from '../support/edge/follow-network.ts';
import { askRecorded, expectRecordedEnd, nftsOf } from '../support/edge/recorded-ledger.ts';
import {
  importSnapshot,
  lookUpNft,
  nftsEver,
  readInfo,
  recordedNftAnswers,
  untilLedger,
} from '../support/edge/walk-network.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork, recordedQuestions } from '../support/network/recorded-network.ts';

const folder = temporaryFolder();

describe.concurrent.each([
  { name: 'network-a', deltaIndex: 81 },
  { name: 'network-c', deltaIndex: 41 },
] as const)('$name', ({ name, deltaIndex }) => {
  const network = recordedNetwork(name);
  const last = lastIndex(network);
  const nftIds = nftsEver(network);
  const expectNft = nftsOf(network);
  const wasAskedAt = (index: number) =>
    recordedQuestions(name).some(
      ({ ledgerIndex, status }) => ledgerIndex === index && status === 200,
    );

  async function start(double: NodeDouble, withDelta: boolean): Promise<[Edge, string]> {
    const persistTo = join(folder, `${name}-${withDelta}`);
    await importSnapshot(name, persistTo, withDelta);
    const vars = varsOf(network, double.url);
    return [await startEdge({ folder: inject('builtWorker'), persistTo, vars }), persistTo];
  }

  async function askEverythingAt(edge: Edge, index: number): Promise<void> {
    await askRecorded(name, edge.url, index);
    const recorded = recordedNftAnswers(name, index);
    for (const { nftId, status, items } of recorded) {
      const answer = await lookUpNft(edge.url, nftId, index);
      expect({ nftId, ...answer }).toEqual({ nftId, ledgerIndex: index, status, items });
    }
    // without a minimum KV may be a second behind, and says where it is
    const some = recorded.length > 0 ? nftIds : nftIds.filter((_, i) => i % 8 === index % 8);
    for (const nftId of some) expect(await expectNft(edge.url, nftId)).toBeLessThanOrEqual(index);
  }

  it('from genesis, with tips stored in the first half: every answer at every ledger index', async () => {
    await using double = await NodeDouble.start(network);
    const [edge, persistTo] = await start(double, false);
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
        const { pendingProtocolParameters } = await readInfo(edge.url);
        expect(pendingProtocolParameters).toHaveLength(index === 14 || index === 29 ? 1 : 0);
      }
    }
    await edge.stop();
    await expectRecordedEnd(name, persistTo);
  }, 600_000);

  it('from the delta snapshot, followed to the end', async () => {
    await using double = await NodeDouble.start(network, { confirmed: deltaIndex });
    const [edge, persistTo] = await start(double, true);
    await untilLedger(edge, deltaIndex);
    double.confirm(last);
    await untilLedger(edge, last, 60);
    await askEverythingAt(edge, last);
    await edge.stop();
    await expectRecordedEnd(name, persistTo);
  }, 600_000);
});
