/**
 * Open blocks that grow old (src/ledger/orphans.ts), and two writers at once (src/ledger/fence.ts):
 * a block that goes while somebody counts on it is an error, never an answer without it.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { LedgerMoved } from '../../src/ledger/fence.ts';
import { prune } from '../../src/ledger/prune.ts';
import { encodeRecord } from '../../src/stardust/white-flag/block-record.ts';
import {
  ask,
  disturbed,
  followTo,
  ledgerIndex,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import {
  awaitedOutputs,
  knownBlockIds,
  storedBlock,
  storedBlocks,
} from '../support/ledger/stored-blocks.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { basic } from '../support/network/outputs.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';

vi.setConfig({ testTimeout: 60_000 });

const db = env.LEDGER;

/** Below-max-depth of the test networks, and the margin. */
const AGE = 15 + 10;

const KEEP = 1000;

/** Batches by what is in them. */
const APPLIES = /UPDATE head/;
const STORES = /INSERT INTO open/;
const READS = /reach\(ledger/;
const DROPS = /SET dropped/;

async function isKnown(id: string): Promise<boolean> {
  return (await knownBlockIds(db)).has(id.slice(2));
}

async function knows(ids: readonly string[]): Promise<boolean[]> {
  const known = [];
  for (const id of ids) known.push(await isKnown(id));
  return known;
}

/** The next milestone references a new block and nothing else that is open. */
function quietMilestone(network: SyntheticNetwork): void {
  network.milestone({
    parents: [network.milestoneBlock!, network.note([network.milestoneBlock!])],
  });
}

/**
 * With an open block of ledger index 1, and the ledger so far on that it is `age` milestones old.
 */
async function withOldBlock(
  age: number,
): Promise<{ network: SyntheticNetwork; rig: Rig; old: string }> {
  const network = new SyntheticNetwork({ seed: 'orphans' });
  network.milestone();
  const old = network.note([network.milestoneBlock!]);
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  while (lastIndex(network) < 1 + age) {
    quietMilestone(network);
    await takeNext(rig, db);
  }
  return { network, rig, old };
}

describe('open blocks', () => {
  it('are kept as long as they may be, and no longer', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    await prune(db, KEEP);
    expect(await isKnown(old)).toBe(true);
    quietMilestone(network);
    await takeNext(rig, db);
    await prune(db, KEEP);
    expect(await isKnown(old)).toBe(false);
  });

  it('go together with all that stands on them, and are fetched when asked about', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const young = network.note([old, network.milestoneBlock!]);
    const younger = network.note([young]);
    const apart = network.note([network.milestoneBlock!]);
    await storeNow(rig, db);
    const proposals = [[young], [younger, network.milestoneBlock!], [apart], [apart, younger]];
    const answers = async (options = {}) => {
      const all = [];
      for (const parents of proposals)
        all.push(await ask(rig, network.propose({ parents }).request, options));
      return all;
    };
    const right = () => proposals.map((parents) => network.propose({ parents }).response);
    expect(await answers()).toEqual(right());

    quietMilestone(network);
    await takeNext(rig, db);
    await prune(db, KEEP);
    expect(await knows([old, young, younger, apart])).toEqual([false, false, false, true]);
    // the last milestone's block is in the past of none of them any more
    for (const parents of proposals) parents.push(network.milestoneBlock!);
    await storeNow(
      {
        ...rig,
        upstream: { ...rig.upstream, readTips: async () => [network.milestoneBlock!.slice(2)] },
      },
      db,
    );
    expect(await answers()).toEqual([404, 404, right()[2], 404]);
    expect(await answers({ upstreams: [rig.upstream] })).toEqual(right());

    // and they may come again
    await storeNow(rig, db);
    expect(await knows([old, young, younger, apart])).toEqual([true, true, true, true]);
    expect(await answers()).toEqual(right());
  });

  it('go from the youngest down, so that no step leaves one without its parents', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const chain = [old];
    for (let i = 0; i < 5; i++) chain.push(network.note([chain.at(-1)!]));
    await storeNow(rig, db);
    quietMilestone(network);
    await takeNext(rig, db);
    await storeNow(rig, db);
    for (let kept = chain.length; kept >= 0; kept--) {
      expect(await knows(chain)).toEqual(chain.map((_, i) => i < kept));
      for (const [i, id] of chain.entries()) {
        const { request, response } = network.propose({ parents: [network.milestoneBlock!, id] });
        expect(await ask(rig, request)).toEqual(i < kept ? response : 404);
      }
      await prune(db, KEEP, { step: 1 });
    }
  });

  it('leave nothing behind, and wait for nothing any more', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    const [first, second] = [network.account(0), network.account(1)];
    const spend = { coin: network.genesisCoins[0]!, by: first };
    const producer = network.transaction([spend], [basic(second, COIN_AMOUNT)]);
    const coin = producer.coins[0]!;
    const consumer = network.transaction([{ coin, by: second }], [basic(first, COIN_AMOUNT)]);
    const id = network.attachTransaction(consumer, [old]);
    await storeNow(rig, db);
    expect(await awaitedOutputs(db)).toEqual([coin.id.toHex()]);
    expect((await storedBlock(db, id))!.bytes).not.toBe('');

    quietMilestone(network);
    await takeNext(rig, db);
    await prune(db, KEEP);
    expect(await storedBlock(db, id)).toBeUndefined();
    expect(await awaitedOutputs(db)).toEqual([]);
    // what it waited for comes
    const made = network.attachTransaction(producer, [network.milestoneBlock!]);
    await storeNow(
      { ...rig, upstream: { ...rig.upstream, readTips: async () => [made.slice(2)] } },
      db,
    );
    expect(await isKnown(made)).toBe(true);
  });

  it('stay when a milestone references them at last', async () => {
    const { network, rig, old } = await withOldBlock(AGE);
    network.milestone({ parents: [network.milestoneBlock!, old] });
    await takeNext(rig, db);
    quietMilestone(network);
    await takeNext(rig, db);
    await prune(db, KEEP);
    expect(await isKnown(old)).toBe(true);
  });
});

describe('dropped while somebody counts on it', () => {
  it('a block of a milestone: the milestone is not applied, but fetched anew by the next try', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old]);
    network.milestone({ parents: [network.milestoneBlock!, child] });
    let drops = 0;
    const dropping = disturbed(db, async (sql) => {
      if (APPLIES.test(sql) && drops++ === 0) await prune(db, KEEP);
    });
    const before = await ledgerIndex(db);
    await expect(takeNext(rig, dropping)).rejects.toThrow(LedgerMoved);
    expect(drops).toBe(1);
    expect([await isKnown(old), await isKnown(child), await ledgerIndex(db)]).toEqual([
      false,
      false,
      before,
    ]);
    await takeNext(rig, dropping);
    expect([await isKnown(old), await isKnown(child), await ledgerIndex(db)]).toEqual([
      true,
      true,
      before + 1,
    ]);
  });

  it('a block of a milestone, all of whose blocks are stored', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    await storeNow(rig, db);
    network.milestone({ parents: [network.milestoneBlock!, old] });
    const dropping = disturbed(db, async (sql) => {
      if (APPLIES.test(sql)) await prune(db, KEEP);
    });
    const before = await ledgerIndex(db);
    await expect(takeNext(rig, dropping)).rejects.toThrow(LedgerMoved);
    expect([await isKnown(old), await ledgerIndex(db)]).toEqual([false, before]);
  });

  it('an output that a milestone spends', async () => {
    const { network, rig } = await withOldBlock(0);
    const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
    const made = network.transaction([spend], [basic(network.account(1), COIN_AMOUNT)]);
    const block = network.attachTransaction(made, [network.milestoneBlock!]);
    await storeNow(rig, db);
    network.milestone({ parents: [network.milestoneBlock!, block] });
    const removing = disturbed(db, async (sql) => {
      const remove = db.prepare('DELETE FROM output WHERE id = ?1').bind(spend.coin.id.toHex());
      if (APPLIES.test(sql)) await remove.run();
    });
    const before = await ledgerIndex(db);
    await expect(takeNext(rig, removing)).rejects.toThrow(LedgerMoved);
    expect(await ledgerIndex(db)).toBe(before);
  });

  it('the parent of a block that is being stored: it is not stored', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old, network.milestoneBlock!]);
    const dropping = disturbed(db, async (sql) => {
      if (STORES.test(sql)) await prune(db, KEEP);
    });
    await expect(storeNow(rig, dropping)).rejects.toThrow(LedgerMoved);
    expect(await knows([old, child])).toEqual([false, false]);
  });

  it('while a child is stored: nothing is dropped', async () => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old, network.milestoneBlock!]);
    let stored = 0;
    const storing = disturbed(db, async (sql) => {
      if (DROPS.test(sql)) stored += await storeNow(rig, db);
    });
    await expect(prune(storing, KEEP)).rejects.toThrow(LedgerMoved);
    expect(stored).toBe(2);
    expect(await knows([old, child])).toEqual([true, true]);
  });

  it.each([
    ['before the open blocks are read', READS],
    ['before they are dropped', DROPS],
  ])('while a milestone references it, %s: nothing is dropped', async (_, batch) => {
    const { network, rig, old } = await withOldBlock(AGE + 1);
    const child = network.note([old]);
    await storeNow(rig, db);
    network.milestone({ parents: [network.milestoneBlock!, old] });
    let applied = 0;
    const applying = disturbed(db, async (sql) => {
      if (batch.test(sql) && applied++ === 0) await takeNext(rig, db);
    });
    await expect(prune(applying, KEEP)).rejects.toThrow(LedgerMoved);
    expect(await knows([old, child])).toEqual([true, true]);
    expect(applied).toBe(1);
  });
});

it('open blocks far apart, more of them than a request may read, do not stop the follower', async () => {
  const network = new SyntheticNetwork({ seed: 'sparse' });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  const record = (number: number) =>
    encodeRecord({ number, parents: [1], leaf: new Uint8Array(32), inadmissible: false });
  const packs = Array.from({ length: 900 }, (_, i) => 1000 + 256 * i).map((number) => [
    number,
    record(number).toBase64(),
    JSON.stringify([[number, `sparse ${number}`, 0, -100, 4]]),
  ]);
  await db
    .prepare(`
      INSERT INTO open
        (key, next_block, next_output, seen, waiting, records, states, blocks, outputs, bytes)
      SELECT value ->> 0, 1000000, 1, -100, '[]', value ->> 1, '', value ->> 2, '[]', '["AAAA"]'
      FROM json_each(?1)`)
    .bind(JSON.stringify(packs))
    .run();
  network.note();
  network.milestone();
  await followTo(rig, 2);
  await prune(db, KEEP);
  const left = (await storedBlocks(db)).filter(({ milestone }) => milestone === null);
  expect(left.length).toBeLessThan(3);
});
