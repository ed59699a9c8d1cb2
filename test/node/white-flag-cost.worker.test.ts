/**
 * What a white-flag request costs D1: one round trip when the cone is stored, and rows about the
 * cone, never about the ledger.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { prune } from '../../src/ledger/write/prune.ts';
import {
  ask,
  followTo,
  type Question,
  questionOf,
  type Rig,
  startLedger,
  storeNow,
} from '../support/ledger/ledger-harness.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import { coneOf } from '../support/network/network-model.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { basic } from '../support/payloads/outputs.ts';

const db = env.LEDGER;

/** Round trips, and the rows that D1 says it read (it bills by them). */
function counting(): { db: Database; counts: { trips: number; rows: number } } {
  const counts = { trips: 0, rows: 0 };
  const counted: Database = {
    prepare(sql) {
      counts.trips++;
      return db.prepare(sql);
    },
    async batch<T>(statements: D1PreparedStatement[]) {
      // as many as were prepared, so that a statement that runs by itself is one too many
      counts.trips += 1 - statements.length;
      const results = await db.batch<T>(statements);
      for (const { meta } of results) counts.rows += meta.rows_read;
      return results;
    },
  };
  return { db: counted, counts };
}

/** Asks, sees that the answer is right, and tells what it cost. */
async function costOf(
  rig: Rig,
  question: Question,
  answer: unknown,
): Promise<{ trips: number; rows: number }> {
  const { db: counted, counts } = counting();
  expect(await ask(rig, question, { db: counted })).toEqual(answer);
  return counts;
}

/** Milestones of so many notes and transfers, the last of them not issued yet. */
async function ledgerWith(
  sizes: readonly { notes: number; transfers: number }[],
): Promise<{ rig: Rig; network: SyntheticNetwork }> {
  const coins = sizes.reduce((sum, { transfers }) => sum + transfers, 0);
  const network = new SyntheticNetwork({
    seed: 'cost',
    coins: (account) =>
      Array.from({ length: coins }, (_, i) => basic(account(i % 16), { amount: COIN_AMOUNT })),
  });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  let used = 0;
  for (const [i, { notes, transfers }] of sizes.entries()) {
    if (i > 0) await followTo(rig, network.milestone({ parents: top(network) }).index);
    for (let made = 0; made < notes; made++)
      network.note(made === 0 ? [network.milestoneBlock!] : top(network));
    for (let i = 0; i < transfers; i++, used++) {
      const made = network.transfer(network.genesisCoins[used]!, (used + 1) % 16);
      network.attachTransaction(made, top(network));
    }
    while ((await storeNow(rig, db)) > 0);
  }
  return { rig, network };
}

/** The newest block: all are in its past. */
function top(network: SyntheticNetwork): string[] {
  return [[...network.blocks.keys()].at(-1)!];
}

/** Unspent outputs, old IDs and packs that no request is about. */
async function growLedger(count: number): Promise<void> {
  const id = "printf('%064x', value)";
  const numbers = `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${count})`;
  await db.batch([
    db.prepare(`${numbers} INSERT INTO output (id, bytes, block, created, created_time, sum)
      SELECT ${id} || '0000', 'AAAA', ${id}, 0, 0, 0 FROM n`),
    ...[0, 1, 2, 3, 4].map((table) =>
      db.prepare(
        `${numbers} INSERT INTO id_${table} (id, milestone, block, sum) SELECT ${id}, 0, value, value FROM n`,
      ),
    ),
    db.prepare(`${numbers} INSERT INTO pack (key, live, stored_at, last_milestone, next_block,
        next_output, sums, records, statuses, states, unresolved, blocks, outputs)
      SELECT 1000000 + value, 0, 0, 4000000, 1, 1, '[0,0,0,0]', 'AAAA', '', '', '[]', '[]', '[]'
      FROM n WHERE value < 4096`),
    db.prepare(`${numbers} INSERT INTO milestone_part (key, packs, blocks, spent, sum)
      SELECT value, '[]', '', '[]', 0 FROM n WHERE value < 4096`),
  ]);
}

it('a step of pruning that finds nothing to do looks at a few rows', async () => {
  const { rig } = await ledgerWith([
    { notes: 200, transfers: 200 },
    { notes: 100, transfers: 100 },
  ]);
  await followTo(rig, 2);
  await growLedger(5000);
  const { db: counted, counts } = counting();
  await prune(counted, 1000);
  expect(counts.trips).toBe(1);
  // the oldest 8 packs are looked at, and the oldest of all else
  expect(counts.rows).toBeLessThan(39);
});

describe('a request whose cone is stored', () => {
  it('is one round trip, and reads a few rows for each pack of the cone', async () => {
    const costs = [];
    for (const size of [10, 100, 1000]) {
      const { rig, network } = await ledgerWith([{ notes: size / 2, transfers: size / 2 }]);
      const { request, response, cone } = network.propose({ parents: top(network) });
      expect(cone.length).toBe(size + 1);
      const { trips, rows } = await costOf(rig, request, response);
      expect(trips).toBe(1);
      costs.push(rows);
    }
    for (const cost of costs) expect(cost).toBeLessThan(50);
  });

  it.runIf(process.env.SLOW)('reads fewer than 100 rows for 4,000 blocks', async () => {
    const { rig, network } = await ledgerWith([{ notes: 4000, transfers: 0 }]);
    const { request, response, cone } = network.propose({ parents: top(network) });
    expect(cone.length).toBe(4001);
    const { trips, rows } = await costOf(rig, request, response);
    expect(trips).toBe(1);
    expect(rows).toBeLessThan(100);
  });

  it('costs the same in a ledger of many more outputs and blocks, about the present and about the past', async () => {
    const { rig, network } = await ledgerWith([
      { notes: 40, transfers: 30 },
      { notes: 200, transfers: 100 },
      { notes: 20, transfers: 20 },
    ]);
    const { request, response } = network.propose({ parents: top(network) });
    const { question, answer } = questionOf(network, 2);
    const measure = async () => [
      await costOf(rig, request, response),
      await costOf(rig, question, answer),
    ];
    const before = await measure();
    expect(before.map(({ trips }) => trips)).toEqual([1, 1]);
    await growLedger(20_000);
    expect(await measure()).toEqual(before);
  });

  it('does not mind how many blocks were stored between those of the cone', async () => {
    const { rig, network } = await ledgerWith([{ notes: 10, transfers: 10 }]);
    await db.prepare('UPDATE head SET next_block = 1000000').run();
    await sealRows(db, 'head');
    rig.following.memory = createFollowerMemory();
    const far = network.note(top(network));
    await storeNow(rig, db);
    const { request, response } = network.propose({ parents: [far] });
    const { rows } = await costOf(rig, request, response);
    expect(rows).toBeLessThan(50);
  });

  it('about the past reads the milestone that it is about, not those since, nor what is open', async () => {
    const { rig, network } = await ledgerWith([
      { notes: 30, transfers: 20 },
      { notes: 300, transfers: 200 },
      { notes: 150, transfers: 50 },
    ]);
    const { question, answer } = questionOf(network, 2);
    const { trips, rows } = await costOf(rig, question, answer);
    expect(coneOf(network, 2).length).toBe(51);
    expect(trips).toBe(1);
    expect(rows).toBeLessThan(60);
  });

  it('about a state long pruned reads nothing of the milestones since', async () => {
    const { rig, network } = await ledgerWith([
      { notes: 10, transfers: 10 },
      { notes: 1, transfers: 1 },
    ]);
    const { request } = network.propose({ parents: top(network) });
    const referenced = coneOf(network, 2)[0]!.id;
    const ledger = 5_000_000;
    await db.batch([
      db.prepare('DELETE FROM milestone WHERE idx < 2'),
      db.prepare('UPDATE milestone SET idx = ?1').bind(ledger),
      db.prepare('UPDATE head SET ledger = ?1').bind(ledger),
      db
        .prepare('UPDATE milestone_part SET key = key + (?1 - 2) * 4096 WHERE key >= 2 * 4096')
        .bind(ledger),
      db.prepare('UPDATE pack SET last_milestone = ?1').bind(ledger),
      db.prepare('UPDATE id_0 SET milestone = ?1 WHERE milestone = 2').bind(ledger),
    ]);
    await sealRows(db);
    for (const parents of [request.parents, [referenced]]) {
      const { trips, rows } = await costOf(rig, { ...request, index: 2, parents }, 404);
      expect(trips).toBe(1);
      expect(rows).toBeLessThan(30);
    }
  });
});
