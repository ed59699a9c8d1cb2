/**
 * Another follower completes verdicts while blocks are appended to their pack, a milestone is
 * applied or blocks are dropped (src/ledger/packs/pack-columns.ts, replaceChecksums): the writer begins
 * again, and no checksum is wrong.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { Row } from '../../../src/ledger/core/read-batch.ts';
import { walkedPackFromRow } from '../../../src/ledger/packs/pack-columns.ts';
import { dropUnneeded } from '../../../src/ledger/write/drop-blocks.ts';
import { resolveVerdicts } from '../../../src/ledger/write/resolve-verdicts.ts';
import { createUnreferencedIndex } from '../../../src/ledger/write/unreferenced-index.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { expectRoots } from '../../support/ledger/expect-roots.ts';
import {
  ask,
  disturbed,
  startNew,
  storeNow,
  takeNext,
  withoutVerdicts,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { awaitedOutputs, knownBlockIds } from '../../support/ledger/stored-blocks.ts';

const db = env.LEDGER;

/** A transaction that waits for what another one creates, which is stored too. */
async function startUnresolved() {
  const { network, rig, root } = await startNew(db, 'resolved meanwhile');
  const producer = network.transfer(network.genesisCoins[0]!, 1);
  const coin = producer.coins[0]!;
  const consumer = network.transfer(coin, 0);
  const consumed = network.attachTransaction(consumer, [root]);
  await storeNow(withTips(rig, consumed), db);
  const produced = network.attachTransaction(producer, [root]);
  await storeNow(withTips(rig, produced), withoutVerdicts(db));
  const head = (await readHead(db))!;
  // it has done what it can
  rig.following.memory.index.noteSearched(undefined);
  let resolved = 0;
  const meddled = (when: RegExp) =>
    disturbed(db, async (sql) => {
      if (!when.test(sql) || resolved++ > 0) return;
      expect(await awaitedOutputs(db)).toEqual([coin.id.toHex()]);
      const index = createUnreferencedIndex();
      await resolveVerdicts(db, { index, head, verify: verifySignature }, 3);
      expect(await awaitedOutputs(db)).toEqual([]);
    });
  return { network, rig, blocks: [produced, consumed], meddled };
}

async function expectSound(): Promise<void> {
  const { results } = await db.prepare('SELECT * FROM pack').all();
  expect(results.length).toBeGreaterThan(0);
  // throws where a checksum is wrong
  for (const row of results) walkedPackFromRow(new Row(row));
}

it('while a block is appended', async () => {
  const { network, rig, blocks, meddled } = await startUnresolved();
  const late = network.note([network.milestoneBlock!]);
  const appending = meddled(/UPDATE pack SET next_block/);
  await expect(storeNow(withTips(rig, late), appending)).rejects.toThrow(LedgerMoved);
  await expectSound();
  expect((await knownBlockIds(db)).has(late.slice(2))).toBe(false);
  await storeNow(withTips(rig, late), appending);
  await expectSound();
  await expectRoots(rig, network, [...blocks, late]);
});

it('while a milestone is applied', async () => {
  const { network, rig, blocks, meddled } = await startUnresolved();
  await storeNow(withTips(rig, network.milestoneBlock!), db);
  network.milestone({ parents: [network.milestoneBlock!, ...blocks] });
  const applying = meddled(/INSERT INTO milestone \(/);
  await expect(takeNext(rig, applying)).rejects.toThrow(LedgerMoved);
  await expectSound();
  await takeNext(rig, applying);
  await expectSound();
});

it('while blocks are dropped', async () => {
  const { network, rig, blocks, meddled } = await startUnresolved();
  const tips = [network.note([network.milestoneBlock!]), blocks[1]!];
  for (const tip of tips) await storeNow(withTips(rig, tip), db);
  const { index } = rig.following.memory;
  const readTips = async () => tips.map((id) => id.slice(2));
  const dropping = meddled(/UPDATE head SET(?!.*INSERT INTO milestone \()/s);
  const limits = { blocks: 1, bytes: 1e9 };
  await expect(dropUnneeded(dropping, index, readTips, limits)).rejects.toThrow(LedgerMoved);
  await expectSound();
  expect(await dropUnneeded(dropping, index, readTips, limits)).toMatchObject({ evicted: 1 });
  await expectSound();
  const { request, response } = network.propose({ parents: [network.milestoneBlock!, blocks[1]!] });
  expect(await ask(rig, request)).toEqual(response);
});
