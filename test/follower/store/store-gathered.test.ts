/** What walks cost that lead to a block which is referenced, and the room that they share. */
import { expect, it } from 'vitest';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { storeBelow } from '../../../src/follower/store/store-gathered.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { startLedger, startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const BLOCKS = 30;

it('no step is read again once nobody says that a block is unreferenced', async () => {
  const network = new SyntheticNetwork({ seed: 'gathered' });
  network.milestone();
  const chain = [network.note([network.milestoneBlock!])];
  network.milestone({ parents: [chain[0]!] });
  while (chain.length <= BLOCKS) chain.push(network.note([chain.at(-1)!]));
  const rig = await startLedger(await openMemory(), network, 2);
  const upstream: Upstream = { ...rig.upstream, readReference: async () => 2 };
  const { memory } = rig.following;
  let views = 0;
  const view: typeof memory.index.view = (...given) => {
    views++;
    return memory.index.view(...given);
  };
  const context = {
    ...{ db: rig.db, upstreams: [upstream] },
    memory: { ...memory, index: { ...memory.index, view } },
  };
  const [top] = chain.slice(-1).map((id) => id.slice(2));
  const limits = { budget: { fetchesLeft: 100 }, maxLevels: 100, deadline: Date.now() + 60_000 };
  const position = await readPosition(rig.db, rig.following);
  const { stored, fault } = await storeBelow(context, position, [top!], { ...limits, most: 1 });
  expect(stored).toBe(0);
  expect(fault?.message).toContain('is referenced by an earlier milestone');
  // of the walk, of each step, and of what to ask about
  expect(views).toBe(1 + BLOCKS + 1);
});

it('of two walks at once neither stores what the other has left no room for', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'shared room');
  const { memory } = rig.following;
  const tops = [0, 1].map((chain) => {
    let last = root;
    for (let i = 0; i < 9; i++) last = network.note([last], new Uint8Array([chain, i]));
    return last.slice(2);
  });
  memory.upkeep.room = 12;
  const position = await readPosition(db, rig.following);
  const walks = tops.map((top) =>
    storeBelow(rig.following, position, [top], {
      ...{ budget: { fetchesLeft: 100 }, maxLevels: 100, deadline: Date.now() + 60_000 },
    }),
  );
  const stored = (await Promise.all(walks)).reduce((sum, each) => sum + each.stored, 0);
  expect(stored).toBe(12);
  expect(memory.upkeep.room).toBe(0);
});
