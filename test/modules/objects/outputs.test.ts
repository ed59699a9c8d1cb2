/** GET /api/edge/v1/outputs, against the route of one output, from a database with the ledger of network-n. */
import { expect, it } from 'vitest';
import { checkLedgerRead, expectError } from '../../support/http/contract.ts';
import { fetchRecorded } from '../../support/lies/recorded-source.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const INDEX = 90;
const SEVERAL = '/api/edge/v1/outputs?ids=';
const MOST = 100;
const UNKNOWN = `0x${'5a'.repeat(34)}`;

const network = recordedNetwork('network-n');
const fetch = await fetchRecorded(network, INDEX);

interface One {
  metadata: { isSpent: boolean };
  output: { type: number };
}

/** Each output of the network at the ledger's index, as the route of one has it. */
const all = new Map<string, One>();
for (const id of network.outputs.keys()) {
  const response = await fetch(`/api/core/v2/outputs/${id}`);
  if (response.status === 200) all.set(id, (await response.json()) as One);
}

it('has what the route of one has, of every kind, and null for one that is spent or unknown', async () => {
  const ids = [...all.keys()];
  const kinds = new Set<number>();
  let spent = 0;
  for (let start = 0; start < ids.length; start += MOST - 1) {
    const asked = [...ids.slice(start, start + MOST - 1), UNKNOWN];
    const response = await fetch(SEVERAL + asked.join());
    const expected = asked.map((id) => {
      const one = all.get(id);
      if (one?.metadata.isSpent) spent++;
      if (one === undefined || one.metadata.isSpent) return null;
      kinds.add(one.output.type);
      return one;
    });
    expect(await response.json()).toEqual({ ledgerIndex: INDEX, outputs: expected });
    expect(response.headers.get('x-ledger-index')).toBe(String(INDEX));
  }
  expect([...kinds].sort()).toEqual([3, 4, 5, 6]);
  expect(spent).toBeGreaterThan(0);
});

it('carries a tag', async () => {
  const [id] = [...all].find(([, { metadata }]) => !metadata.isSpent)!;
  await checkLedgerRead(fetch, SEVERAL + id, INDEX);
});

it.each([
  ['none', ''],
  ['an NFT ID', `0x${'5a'.repeat(32)}`],
  ['more than 100', Array.from({ length: MOST + 1 }, () => UNKNOWN).join()],
])('400 for %s', async (_, ids) => {
  await expectError(fetch, SEVERAL + ids, 400);
});
