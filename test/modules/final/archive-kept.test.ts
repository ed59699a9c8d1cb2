/** At the final milestone nothing is pruned, also where the disk has no room for what is built. */
import { expect, it } from 'vitest';
import { watchDatabase } from '../../../src/follower/follower-context.ts';
import { followOnce } from '../../../src/follower/pass.ts';
import { final } from '../../../src/modules/final/module.ts';
import { disturbed, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('keeps what was kept', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'final prune' });
  for (let index = 1; index <= 80; index++) network.milestone();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 80);
  const kept = () => db.prepare('SELECT count(*) AS n FROM milestone').first('n');
  const before = await kept();
  const full = disturbed(db, async (sql) => {
    if (/INSERT INTO final_page/.test(sql))
      throw new Error('database or disk is full: SQLITE_FULL');
  });
  const { memory } = rig.following;
  const context = {
    ...rig.following,
    db: watchDatabase(full, memory),
    finalMilestone: 80,
    moduleUpkeep: { final: final.upkeep!.final! },
  };
  for (let i = 0; i < 4; i++)
    await followOnce(context, { deadline: Date.now() + 10_000, milestones: 12 });
  expect(memory.upkeep.isDatabaseFull).toBe(true);
  expect(await kept()).toBe(before);
});
