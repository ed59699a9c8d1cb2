/**
 * A proposal whose cone does not arrive in time (src/follower/bring/bring-blocks.ts): what was not
 * looked for any more is not unknown, so it is 500, not 404.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { ask, startNew } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['ends after three blocks', 3, 500],
  ['does not end', Number.POSITIVE_INFINITY, 'roots'],
])('its time %s', async (_, inTime, expected) => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'late cone');
  let top = root;
  for (let i = 0; i < 10; i++) top = network.note([top], Uint8Array.of(i));
  const { request, response } = network.propose({ parents: [root, top] });
  let read = 0;
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + (read < inTime ? 0 : 1500));
  const upstream = {
    ...rig.upstream,
    readBlock(id: string) {
      read++;
      return rig.upstream.readBlock(id);
    },
  };
  const given = await ask(rig, request, { upstreams: [upstream] });
  expect(given).toEqual(expected === 500 ? 500 : response);
});
