/** What an upstream said, or failed to say, before: blocks from below the import. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBringer } from '../../../src/follower/bring/bring-blocks.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { connectionsToEach } from '../../../src/upstream/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { asFile, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { fullSnapshot } from '../../support/network/network-snapshot.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const CLIENT = '192.0.2.1';
const plain = (id: string) => id.slice(2);

/** A ledger from a snapshot that names one block of a chain, all of which is referenced. */
async function startAbove() {
  const network = new SyntheticNetwork({ seed: 'below the import' });
  network.milestone();
  const entry = network.note([network.milestoneBlock!]);
  const old = network.note([entry]);
  network.milestone({ parents: [old] });
  network.milestone({ parents: [network.milestoneBlock!] });
  const { index } = network.milestones.at(-1)!;
  const rig = await startLedger(await openMemory(), network, index);
  const file = asFile(fullSnapshot(network, { target: index, stoodOn: [entry] }));
  await loadSnapshot(rig.db, file, undefined);
  rig.node.confirm(index);
  const liar: Upstream = { ...rig.upstream, name: 'liar', readReference: () => sleep(1, null) };
  const bringerOf = (...upstreams: Upstream[]) =>
    createBringer(() => ({ ...rig.following, db: rig.db, upstreams }));
  const countOpen = async () =>
    (await storedBlocks(rig.db)).filter(({ milestone }) => milestone === null).length;
  return { network, rig, old, liar, bringerOf, countOpen };
}

it('the word of a liar alone ends when an honest upstream is back', async () => {
  const { network, rig, old, liar, bringerOf, countOpen } = await startAbove();
  let isDown = true;
  const orDown = <T>(read: () => Promise<T>) =>
    isDown ? Promise.reject(new UpstreamFailure('down')) : read();
  const honest: Upstream = {
    ...rig.upstream,
    name: 'honest',
    readHeads: () => orDown(() => rig.upstream.readHeads()),
    readReference: (id) => orDown(() => rig.upstream.readReference(id)),
  };
  const bringer = bringerOf(honest, liar);
  expect(await bringer.readUnstored(plain(old), CLIENT)).toBeDefined();
  isDown = false;
  const top = plain(network.note([old]));
  const notBrought = await bringer.bring({ blocks: [top], undecided: [] }, CLIENT);
  expect(notBrought).toMatchObject({ fault: 'referenced-before' });
  expect(await countOpen()).toBe(0);
});

it('one lost answer about milestones takes no upstream its vote', async () => {
  const { network, rig, old, liar, bringerOf, countOpen } = await startAbove();
  let infos = 0;
  const honest: Upstream = {
    ...rig.upstream,
    name: 'honest',
    readHeads: () =>
      infos++ === 0 ? Promise.reject(new UpstreamFailure('lost')) : rig.upstream.readHeads(),
  };
  const top = plain(network.note([old]));
  const wanted = { blocks: [top], undecided: [] };
  const notBrought = await bringerOf(honest, liar).bring(wanted, CLIENT);
  expect([notBrought?.fault, infos, await countOpen()]).toEqual(['referenced-before', 1, 0]);
});

it('blocks that do not come take few connections, and no more later', async () => {
  const { network, rig, bringerOf } = await startAbove();
  const missing = Array.from({ length: 8 }, () => network.note([network.milestoneBlock!]));
  const top = network.note(missing);
  let asked = 0;
  const hanging: Upstream = {
    ...rig.upstream,
    readBlock(id) {
      if (id === plain(top)) return rig.upstream.readBlock(id);
      asked++;
      return new Promise(() => {});
    },
  };
  const wanted = { blocks: [plain(top)], undecided: [] };
  const notBrought = await bringerOf(hanging).bring(wanted, CLIENT);
  expect([notBrought?.fault, asked]).toEqual([
    'upstream-failed',
    connectionsToEach([hanging], 'stranger'),
  ]);
});
