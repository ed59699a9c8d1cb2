/**
 * An import that replaces the ledger while somebody is at work on the former one
 * (src/ledger/core/fence.ts): row numbers mean something else from then on, so nothing that was
 * looked up before is written or believed.
 */

import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { LedgerMoved } from '../../src/ledger/core/fence.ts';
import { readHead } from '../../src/ledger/core/head.ts';
import { resolveVerdicts } from '../../src/ledger/write/resolve-verdicts.ts';
import { createUnreferencedIndex } from '../../src/ledger/write/unreferenced-index.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import {
  ask,
  disturbed,
  followTo,
  startLedger,
  storeNow,
  takeNext,
  withoutVerdicts,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { storedBlocks } from '../support/ledger/stored-blocks.ts';
import { ZERO_ID } from '../support/network/network-model.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

/** The batch that stores blocks. */
const STORES = /INSERT INTO pack|UPDATE pack SET next_block/;

describe('an import while somebody is at work', () => {
  const network = new SyntheticNetwork({ seed: 'replaced' });
  network.milestone();
  for (let i = 0; i < 40; i++) network.note([network.milestoneBlock!]);
  const producer = network.transfer(network.genesisCoins[0]!, 1);
  const consumer = network.transfer(producer.coins[0]!, 2);
  const produced = network.attachTransaction(producer, [network.milestoneBlock!]);
  const consumed = network.attachTransaction(consumer, [network.milestoneBlock!]);
  const replace = () => startLedger(db, network, 1);
  const blocks = () => storedBlocks(db);

  it('nothing is stored that was looked up in the ledger before', async () => {
    const rig = await startLedger(db, network, 0);
    await followTo(rig, 1);
    // its parent's row means something in the other ledger too
    const late = network.note([ZERO_ID]);
    const replacing = disturbed(db, async (sql) => {
      if (STORES.test(sql)) await replace();
    });
    await expect(storeNow(withTips(rig, late), replacing)).rejects.toThrow(LedgerMoved);
    const left = await blocks();
    await replace();
    expect(left).toEqual(await blocks());
  });

  /** The producer's block is stored, and the settling of what waited for it is still to come. */
  const withUnsettled = async () => {
    const rig = await startLedger(db, network, 0);
    await takeNext(rig, db);
    await storeNow(withTips(rig, consumed), db);
    await storeNow(withTips(rig, produced), withoutVerdicts(db));
    return rig;
  };

  it.each([
    ['before the pack is read', /SELECT key, records, sums, outputs, /],
    ['before they are judged', /json_each\(p.bytes\)/],
    ['before the verdicts are written', /UPDATE pack SET records/],
  ])('no verdict is written into its rows: %s', async (_, when) => {
    await withUnsettled();
    const head = (await readHead(db))!;
    const replacing = disturbed(db, async (sql) => {
      if (when.test(sql)) await replace();
    });
    const tools = { index: createUnreferencedIndex(), head, verify: verifySignature };
    await resolveVerdicts(replacing, tools, 3).catch((error: unknown) =>
      expect(error).toBeInstanceOf(LedgerMoved),
    );
    expect(await blocks()).toEqual([]);
  });

  it('no verdict is made for a request of blocks that are gone', async () => {
    const rig = await withUnsettled();
    const { request } = network.propose({ parents: [network.milestoneBlock!, produced, consumed] });
    let replaced = 0;
    const replacing = disturbed(db, async (sql) => {
      if (/json_each\(p.bytes\)/.test(sql) && replaced++ === 0) await replace();
    });
    // the question is put once more: to a ledger that does not know the blocks
    expect(await ask(rig, request, { db: replacing })).toBe(404);
    expect(replaced).toBe(1);
  });
});
