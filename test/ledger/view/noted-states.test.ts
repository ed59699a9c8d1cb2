/**
 * What a view takes from the notes that packs have of outputs (src/ledger/packs/view-pages.ts):
 * those that are true before the milestone, of blocks that the walk may meet, and nothing else.
 */
import { expect, it } from 'vitest';
import { checksum } from '../../../src/ledger/core/checksum.ts';
import {
  readChecksums,
  readStateMap,
  writeChecksums,
  writeStates,
} from '../../../src/ledger/packs/pack-columns.ts';
import { readView } from '../../../src/ledger/view/consistent-view.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { fromBase64, toBase64 } from '../../../src/stardust/encoding/base64.ts';
import {
  ask,
  disturbed,
  startNew,
  storeNow,
  takeNext,
  withSplitPacks,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { oracleAnswer } from '../../support/network/oracle-view.ts';

const db = await openMemory();

const readHead = () =>
  db.prepare('SELECT ledger, forgotten FROM head').first<{ ledger: number; forgotten: number }>();

it('a note that nobody kept up to date since does not count', async () => {
  const { network, rig, root } = await startNew(db, 'noted');
  // an unreferenced block, so that one pack takes all that come
  network.note([root]);
  await storeNow(rig, db);
  const next = async (parents: string[]) => {
    await storeNow(rig, db);
    network.milestone({ parents });
    await takeNext(rig, db);
  };
  const first = network.transfer(network.genesisCoins[0]!, 1);
  await next([network.attachTransaction(first, [network.milestoneBlock!])]);
  const second = network.transfer(first.coins[0]!, 2);
  await next([network.attachTransaction(second, [network.milestoneBlock!])]);
  // until the IDs of what both have spent are forgotten
  for (let i = 0; i < 12; i++) {
    await next([network.milestoneBlock!]);
    await prune(db, 2, { idRetention: 4 });
  }
  const { ledger, forgotten } = (await readHead())!;
  expect(forgotten).toBeGreaterThanOrEqual(4);
  expect((await db.prepare('SELECT key FROM pack').all()).results).toHaveLength(1);

  network.attachTransaction(first, [network.milestoneBlock!]);
  await storeNow(rig, db);
  const again = network.attachTransaction(second, [network.milestoneBlock!]);
  await storeNow(rig, db);
  for (const index of [ledger - 1, ledger, ledger + 1]) {
    const previous = network.milestones.find((each) => each.index === index - 1)!;
    const question = {
      index,
      timestamp: previous.timestamp + 5,
      parents: [again],
      previousMilestoneId: previous.id,
    };
    expect(await ask(rig, question)).toEqual(await oracleAnswer(network, question));
  }
});

/** More than the packs of a page. */
const PACKS = 130;

it('a block that is stored between two pages tells nothing of outputs', async () => {
  const { network, rig, root } = await startNew(db, 'late');
  const splitting = withSplitPacks(rig);
  let last = root;
  for (let i = 0; i < PACKS; i++) {
    last = network.note([last]);
    await storeNow(withTips(splitting, last), db);
  }
  const read = async (from = db as Parameters<typeof readView>[0]) => {
    const { states } = (await readView(from, { index: 2, named: [last.slice(2)] }))!;
    return [...states.entries()];
  };
  const late = network.attachTransaction(network.transfer(network.genesisCoins[0]!, 1), [root]);
  let pages = 0;
  const meddled = disturbed(db, async (sql) => {
    if (!sql.includes('p.records') || ++pages !== 2) return;
    expect(await storeNow(withTips(rig, late), db)).toBe(1);
  });
  expect(await read(meddled)).toEqual([]);
  expect(pages).toBeGreaterThanOrEqual(2);
  expect(await read()).toHaveLength(1);
});

it.each([
  ['nothing', 0],
  ['that it is spent', 1],
])('packs that disagree are damaged: one says %s of an output', async (_, spent) => {
  const { network, rig, root } = await startNew(db, 'disagree');
  const splitting = withSplitPacks(rig);
  const coin = network.genesisCoins[0]!;
  for (const to of [1, 2]) {
    const block = network.attachTransaction(network.transfer(coin, to), [root]);
    await storeNow(withTips(splitting, block), db);
  }
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);

  const sql = 'SELECT key, states, sums FROM pack WHERE live = 1 ORDER BY key DESC';
  const pack = (await db.prepare(sql).first<{ key: number; states: string; sums: string }>())!;
  const noted = [...readStateMap(fromBase64(pack.states))];
  expect(noted).toHaveLength(1);
  const states = writeStates(
    new Map(spent === 0 ? [] : noted.map(([number, { created }]) => [number, { created, spent }])),
  );
  const sums = writeChecksums({ ...readChecksums(pack.sums), states: checksum(states) });
  await db
    .prepare('UPDATE pack SET states = ?2, sums = ?3 WHERE key = ?1')
    .bind(pack.key, toBase64(states), sums)
    .run();
  await expect(ask(rig, request)).rejects.toThrow(`states of outputs in pack`);
});
