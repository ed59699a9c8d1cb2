/** Views of proposals have places where one isolate answers everything (http/access/limits.ts). */
import { expect, it } from 'vitest';
import {
  computeWhiteFlag,
  type InPlace,
  type WhiteFlagRequest,
} from '../../src/node/compute-white-flag.ts';
import { post } from '../support/http/contract.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';
import { requestOf, rootsOf, startLedger, storeNow } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { countingOverlaps } from '../support/ledger/overlapping-reads.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const PLACES = 2;

it('are read two at once, and hold no place while they wait for the follower', async () => {
  const { db, most } = countingOverlaps(await openMemory());
  const { promise: follower, resolve: caughtUp } = Promise.withResolvers<void>();
  const rules = { keys: { keys: [], threshold: 1 }, verify: async () => false };
  const node = {
    async computeWhiteFlag(asked: WhiteFlagRequest, client: string, inPlace?: InPlace) {
      if (client.startsWith('192.')) await follower;
      return computeWhiteFlag(db, asked, { rules, inPlace });
    },
  };
  const fetch = fetchFrom({ node, settings: { oneIsolate: true } });
  const ask = async (address: string) => {
    const headers = { 'cf-connecting-ip': address };
    const proposal = { ...post(JSON.stringify(facts.whiteFlag)), headers };
    return (await fetch('/api/core/v2/whiteflag', proposal)).status;
  };
  const waiting = Array.from({ length: 4 }, (_, i) => ask(`192.0.2.${i}`));
  expect(await ask('198.51.100.1')).toBe(500);
  caughtUp();
  expect(await Promise.all(waiting)).toEqual(Array.from(waiting, () => 500));
  expect(most()).toBe(PLACES);
});

it('are concluded in their place: all roots at once would take as long as all of them', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'in its place' });
  network.milestone();
  const rig = await startLedger(db, network, 1);
  network.note();
  const { request, response } = network.propose();
  await storeNow(rig, db);
  const rules = { keys: network.keys, verify: async () => true };
  const made: unknown[] = [];
  const inPlace: InPlace = async (work) => {
    const result = await work();
    made.push(result);
    return result;
  };
  const answer = await computeWhiteFlag(db, requestOf(request), { rules, inPlace });
  expect(answer.ok && rootsOf(answer)).toEqual(response);
  expect(made).toEqual([{ answer }]);
});
