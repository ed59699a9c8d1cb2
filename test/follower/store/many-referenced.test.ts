/** Blocks that count as unreferenced by a liar's word, in more packs than one step drops. */
import { expect, it } from 'vitest';
import {
  ledgerIndex,
  passOnce,
  startLedger,
  storeNow,
  withSplitPacks,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const PACKS = 80;

it('all are dropped once a milestone stands upon them', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'many referenced' });
  network.milestone();
  network.milestone({ parents: [network.note([network.milestoneBlock!])] });
  const entry = network.note([network.milestoneBlock!]);
  const chain: string[] = [];
  for (let i = 0; i < PACKS; i++) chain.push(network.note([chain.at(-1) ?? entry]));
  network.milestone({ parents: [network.note([chain.at(-1)!, network.note([entry])])] });
  // names the entry point in the snapshot
  network.note([entry]);
  const last = network.milestoneBlock!;
  const rig = await startLedger(db, network, 3);
  const liar = { ...rig, upstream: { ...rig.upstream, readReference: async () => null } };
  for (const tip of chain) await storeNow(withSplitPacks(withTips(liar, tip)), db);
  await storeNow(withTips(rig, last), db);
  const stored = async () =>
    (await storedBlocks(db)).filter(({ id }) => chain.includes(`0x${id}`)).length;
  expect(await stored()).toBe(PACKS);
  network.milestone({ parents: [last, network.note([chain.at(-1)!])].sort() });
  rig.node.confirm(4);
  rig.following.upstreams = [{ ...rig.upstream, readTips: async () => [] }];
  for (let i = 0; i < 4; i++) await passOnce(rig, { milestonesOnly: true });
  expect([await ledgerIndex(db), await stored()]).toEqual([4, 0]);
});
