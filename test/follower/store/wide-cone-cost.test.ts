/**
 * Statements of a pass over a cone whose blocks all stand on an entry point of the snapshot, as
 * strangers may leave it in a halt: D1 runs 1,000 in an invocation, and the cone may have 500,000.
 */
import { expect, it } from 'vitest';
import {
  disturbed,
  ledgerIndex,
  passOnce,
  startLedger,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('are few for each thousand blocks', async () => {
  const plain = await openMemory();
  const network = new SyntheticNetwork({ seed: 'roots' });
  network.milestone();
  const entry = network.milestoneBlock!;
  network.milestone();
  let level = Array.from({ length: 4000 }, () => network.note([entry], network.random.bytes(16)));
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 8) }, (_, i) =>
      network.note(level.slice(8 * i, 8 * i + 8).sort()),
    );
  network.milestone({ parents: [level[0]!, network.milestoneBlock!].sort() });
  const rig = await startLedger(plain, network, 2);
  rig.node.confirm(3);
  let reads = 0;
  rig.following.db = disturbed(plain, async (sql) => {
    if (/pack_content/.test(sql) && !/^\s*(INSERT|UPDATE|DELETE)/.test(sql)) reads++;
  });
  rig.following.upstreams = [{ ...rig.upstream, readTips: async () => [] }];
  for (let i = 0; i < 3; i++) await passOnce(rig, { milestonesOnly: true });
  expect(await ledgerIndex(plain)).toBe(3);
  expect(reads).toBeLessThan(10);
});
