/** Blocks that count as unreferenced by a liar's word, in many packs, each with another block. */
import { expect, it } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import {
  ask,
  disturbed,
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

/** With the number of statements of the largest batch. */
function countBatches(db: Database) {
  const seen = { most: 0 };
  const batch: Database['batch'] = (statements) => {
    seen.most = Math.max(seen.most, statements.length);
    return db.batch(statements);
  };
  return { seen, counting: { prepare: (sql: string) => db.prepare(sql), batch } };
}

it('all are dropped once a milestone stands upon them, even if a batch fails', async () => {
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
  const others = Array.from({ length: PACKS }, () => network.note([last]));
  const rig = await startLedger(db, network, 3);
  const liar = { ...rig, upstream: { ...rig.upstream, readReference: async () => null } };
  for (const [i, tip] of chain.entries())
    await storeNow(withSplitPacks(withTips(liar, others[i]!, tip)), db);
  await storeNow(withTips(rig, last), db);
  const stored = async (blocks: readonly string[]) =>
    (await storedBlocks(db)).filter(({ id }) => blocks.includes(`0x${id}`)).length;
  expect([await stored(chain), await stored(others)]).toEqual([PACKS, PACKS]);
  network.milestone({ parents: [last, network.note([chain.at(-1)!])].sort() });
  rig.node.confirm(4);
  rig.following.upstreams = [{ ...rig.upstream, readTips: async () => [] }];
  const { seen, counting } = countBatches(db);
  for (const table of ['pack', 'id_0']) {
    let isDue = true;
    rig.following.db = disturbed(counting, async (sql) => {
      if (!isDue || !new RegExp(`(DELETE FROM|INSERT INTO) ${table} `).test(sql)) return;
      isDue = false;
      throw new Error('killed');
    });
    await passOnce(rig, { milestonesOnly: true }).catch(() => undefined);
    expect(isDue).toBe(false);
  }
  rig.following.db = counting;
  for (let i = 0; i < 4; i++) await passOnce(rig, { milestonesOnly: true });
  expect(await ledgerIndex(db)).toBe(4);
  expect([await stored(chain), await stored(others)]).toEqual([0, PACKS]);
  // D1 has 1,000 for an invocation
  expect(seen.most).toBeLessThan(30);
  await storeNow(withTips(rig, network.milestoneBlock!), db);
  const { request, response } = network.propose({ parents: [others[3]!, network.milestoneBlock!] });
  expect(await ask(rig, request)).toMatchObject(response);
});
