/**
 * A staged block whose parent its upstream called referenced, while another block of the same
 * milestone leads to the parent: the record must not lack it, or roots of audits are wrong.
 */
import { expect, it } from 'vitest';
import { bring } from '../../../src/follower/bring/bring-blocks.ts';
import { createFollowerMemory, takePushed } from '../../../src/follower/follower-context.ts';
import { storePushed } from '../../../src/follower/pushed/store-pushed.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import {
  ask,
  ledgerIndex,
  passOnce,
  type Rig,
  startLedger,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const db = await openMemory();
const plain = (id: string) => id.slice(2);

/**
 * A ledger that followed its last milestone, and the next one: the first of its parents and the
 * second stand upon the same block. Two of these three blocks an upstream withholds.
 */
async function startWithFork() {
  const network = new SyntheticNetwork({ seed: 'cut edge' });
  for (let i = 0; i < 3; i++) network.milestone();
  const rig = await startLedger(db, network, 3);
  network.milestone();
  rig.node.confirm(4);
  await passOnce(rig, { milestonesOnly: true });
  const last = network.milestoneBlock!;
  const below = network.note([last]);
  const first = network.note([below]);
  let second = network.note([below]);
  while (second < first) second = network.note([below]);
  const { request, response } = network.propose({ parents: [second, last] });
  network.milestone({ parents: [first, second] });
  rig.node.confirm(5);
  const withheld = [below, first].map(plain);
  const forgetful = (said: (id: string) => ReturnType<Upstream['readReference']>): Upstream => ({
    ...rig.upstream,
    name: 'forgetful',
    readTips: async () => [],
    readBlock: async (id) => (withheld.includes(id) ? undefined : rig.upstream.readBlock(id)),
    readReference: (id) => said(id),
  });
  return { rig, last, withheld, request, response, forgetful };
}

const countStaged = () =>
  db.prepare('SELECT count(*) AS n FROM pack WHERE staged IS NOT NULL').first('n');

const WAYS: Record<string, (rig: Rig, withheld: string[]) => Promise<void>> = {
  async 'an object that begins anew, and another upstream'(rig) {
    rig.following.memory = createFollowerMemory();
    rig.following.upstreams = [rig.upstream];
  },
  async 'a request that names them'(rig, withheld) {
    const upstreams = [{ ...rig.upstream, name: 'honest' }];
    await bring({ ...rig.following, upstreams }, { blocks: [withheld[1]!], undecided: [] });
  },
};

it.each(Object.entries(WAYS))('what was withheld comes by %s', async (_, come) => {
  const { rig, withheld, request, response, forgetful } = await startWithFork();
  rig.following.upstreams = [
    forgetful(async (id) => {
      if (withheld.includes(id)) return undefined;
      // it fails right after the cone was staged
      throw new UpstreamFailure('down');
    }),
  ];
  await passOnce(rig, { milestonesOnly: true });
  expect([await ledgerIndex(db), await countStaged()]).toEqual([4, 1]);
  await come(rig, withheld);
  await passOnce(rig, { milestonesOnly: true });
  expect(await ledgerIndex(db)).toBe(5);
  expect(await ask(rig, request)).toEqual(response);
});

it('a liar alone pushes what it withheld while it is asked', async () => {
  const { rig, last, withheld, request, response, forgetful } = await startWithFork();
  let stored = 0;
  rig.following.upstreams = [
    forgetful(async (id) => {
      if (withheld.includes(id)) return 1;
      for (const each of [plain(last), ...withheld])
        takePushed(rig.following.memory, 'block', (await rig.upstream.readBlock(each))!);
      stored += await storePushed(rig.following);
      return rig.upstream.readReference(id);
    }),
  ];
  for (let i = 0; i < 3; i++) await passOnce(rig, { milestonesOnly: true });
  expect([stored, await ledgerIndex(db)]).toEqual([3, 5]);
  expect(await ask(rig, request)).toEqual(response);
});
