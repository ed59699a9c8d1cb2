/**
 * Damage that stands in the way of a milestone, on a real D1: it is no race. The third pass that
 * fails at the same ledger index makes it a state of its own, with the table, until a milestone is
 * applied again.
 */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { followOnce } from '../../src/follower/pass.ts';
import { whyUnhealthy } from '../../src/http/routes/node/health.ts';
import { LedgerDamaged } from '../../src/ledger/core/checksum.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { failUnless, LedgerMoved, runFenced } from '../../src/ledger/core/fence.ts';
import { write } from '../../src/ledger/core/read-batch.ts';
import { readNodeStatus } from '../../src/ledger/read/node-status.ts';
import {
  disturbed,
  FOLLOWING,
  ledgerIndex,
  type Rig,
  startNew,
  storeNow,
} from '../support/ledger/ledger-harness.ts';

const db: Database = env.LEDGER;

afterEach(() => {
  vi.restoreAllMocks();
});

/** One pass, and the state after it. An error that it throws is logged by whoever called it. */
async function pass(rig: Rig, on = db): Promise<string> {
  const context = { ...rig.following, db: on };
  // the scrub would find the damage first
  context.memory.upkeep.scrubbedAt = Date.now();
  await followOnce(context, { deadline: Date.now() + 20_000, milestones: 12 }).catch(() => {});
  const status = (await readNodeStatus(db, FOLLOWING))!;
  return whyUnhealthy(status, status.ledger.timestamp * 1000) ?? status.follower.state;
}

/** A ledger at milestone 1; the next one spends a coin of the genesis. */
async function startSpending(seed: string) {
  const { network, rig, root } = await startNew(db, seed);
  const spend = network.transfer(network.genesisCoins[0]!, 1);
  const block = network.attachTransaction(spend, [root]);
  await storeNow(rig, db);
  network.milestone({ parents: [block] });
  rig.node.confirm(2);
  return { rig, coin: spend.inputs[0]!.slice(2), block: block.slice(2) };
}

const run = (sql: string, ...bound: unknown[]) =>
  db
    .prepare(sql)
    .bind(...bound)
    .run();

describe('damage in the way of the next milestone', () => {
  it.each([
    [
      'a row of output is gone',
      'output',
      ({ coin }: { coin: string }) => run('DELETE FROM output WHERE id = ?1', coin),
    ],
    [
      'a row of pack_content is gone',
      'output',
      () => run('DELETE FROM pack_content WHERE key = (SELECT max(key) FROM pack WHERE live = 1)'),
    ],
    [
      'the index of IDs has a row too many',
      'id_0',
      ({ block }: { block: string }) =>
        run('INSERT INTO id_0 (id, milestone, block, sum) VALUES (?1, 1, 3, 4)', block),
    ],
    [
      'milestone_part has a row too many',
      'milestone_part',
      () =>
        run(
          `INSERT INTO milestone_part (key, packs, blocks, spent, sum) VALUES (?1, '[]', '', '[]', 0)`,
          2 * 4096,
        ),
    ],
  ] as const)('%s', async (_, table, damage) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { rig, coin, block } = await startSpending('damage');
    await damage({ coin, block });
    expect(await pass(rig)).toBe('following');
    expect(await pass(rig)).toBe('following');
    expect(logged).not.toHaveBeenCalled();
    const reason = `no pass gets beyond milestone 1: rows of the table ${table}`;
    const state = await pass(rig);
    expect(state).toContain(`failing: ${reason}`);
    expect(state).toMatch(/ \(step apply\)$/);
    expect(logged).toHaveBeenCalledWith(
      expect.stringContaining(`"follower.failing","reason":"${reason}`),
    );
    expect(await ledgerIndex(db)).toBe(1);
  });

  it('ends when a milestone is applied', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const { rig, coin } = await startSpending('repaired');
    const row = await db.prepare('SELECT * FROM output WHERE id = ?1').bind(coin).first();
    await run('DELETE FROM output WHERE id = ?1', coin);
    for (let passes = 0; passes < 3; passes++) await pass(rig);
    expect(await pass(rig)).toContain('failing: ');
    const columns = Object.keys(row!);
    await run(
      `INSERT INTO output (${columns}) VALUES (${columns.map((_, i) => `?${i + 1}`)})`,
      ...Object.values(row!),
    );
    expect(await pass(rig)).toBe('following');
    expect(await ledgerIndex(db)).toBe(2);
  });
});

describe('passes that fail for other reasons', () => {
  it('are counted at one ledger index only, and no more once one has nothing to do', async () => {
    const { rig } = await startSpending('flaky');
    let fails = true;
    const flaky = disturbed(db, async () => {
      if (fails) throw new Error('D1_ERROR: Network connection lost');
    });
    const failTwice = async () => {
      fails = true;
      for (let passes = 0; passes < 2; passes++) expect(await pass(rig, flaky)).toBe('following');
      fails = false;
    };
    await failTwice();
    expect(await pass(rig, flaky)).toBe('following');
    expect(await ledgerIndex(db)).toBe(2);
    await failTwice();
    expect(await pass(rig, flaky)).toBe('following');
    await failTwice();
  });
});

describe('a fenced batch', () => {
  const insert = (key: number) =>
    db
      .prepare(
        `INSERT INTO milestone_part (key, packs, blocks, spent, sum) VALUES (?1, '[]', '', '[]', 0)`,
      )
      .bind(key);

  it('tells a fence that failed from a row that is against a constraint', async () => {
    await startNew(db, 'fences');
    const fenced = (condition: string, key: number) =>
      runFenced(db, { writes: write([db.prepare(failUnless(condition)), insert(key)]) });
    await fenced('1', 900_000);
    await expect(fenced('0', 900_001)).rejects.toThrow(LedgerMoved);
    // a fence comes first, whatever else is wrong
    await expect(fenced('0', 900_000)).rejects.toThrow(LedgerMoved);
    await expect(fenced('1', 900_000)).rejects.toThrow(LedgerDamaged);
  });
});
