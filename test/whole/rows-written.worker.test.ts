/**
 * How many rows are written and read, which is what D1 bills (docs/storage.md#what-decides): pruning,
 * the turns of the index of IDs, and the publisher's row included.
 */

import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { applyPushed } from '../../src/follower/apply-next.ts';
import { type FollowerContext, takePushed } from '../../src/follower/follower-context.ts';
import { followOnce } from '../../src/follower/pass.ts';
import { storePushed } from '../../src/follower/pushed/store-pushed.ts';
import { readNodeStatus } from '../../src/ledger/read/node-status.ts';
import { MODULES } from '../../src/modules/list.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { countedDatabase } from '../support/ledger/counted-database.ts';
import {
  FOLLOWING,
  ledgerIndex,
  startLedger,
  startNew,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import { coneOf, milestoneAt } from '../support/network/network-model.ts';
import { SteadyNetwork } from '../support/network/steady-network.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { indexEveryKind } from '../support/nft-list/listed-ledger.ts';

const db = env.LEDGER;

const RATE = { blocks: 60, transactions: 10, nfts: 5 };

/** Of the follower, in the time of a milestone. */
const PASSES = 5;

interface Following {
  context: FollowerContext;
  network: SyntheticNetwork;
}

/** How blocks and milestones come in. */
interface Way {
  /** What happens in a second, before its pass. */
  second(following: Following): Promise<void>;
  /** What happens when the milestone is there. */
  milestone(following: Following, index: number): Promise<void>;
}

const nothing = async () => {};

const byPolling: Way = { second: nothing, milestone: nothing };

/** What was pushed is stored every other second. */
function byFeed(): Way {
  const pushed = new Set<string>();
  let seconds = 0;
  return {
    async second({ context, network }) {
      for (const { id, bytes } of network.blocks.values()) {
        if (!pushed.has(id)) takePushed(context.memory, 'block', bytes);
        pushed.add(id);
      }
      if (seconds++ % 2 === 0) await storePushed(context);
    },
    async milestone({ context, network }, index) {
      takePushed(context.memory, 'milestone', milestoneAt(network, index)!.payload);
      expect(await applyPushed(context)).toBe(1);
    },
  };
}

const WAYS: [most: number, how: string, way: Way, keepsHistory: boolean][] = [
  [165, 'pushed', byFeed(), false],
  [165, 'fetched', byPolling, false],
  [171, 'pushed, with HISTORY all', byFeed(), true],
];

it.each(process.env.SLOW ? WAYS : WAYS.slice(0, 1))(
  'at most %d rows a milestone of 60 blocks, 10 transactions and 5 NFTs, %s',
  async (most, _, way, keepsHistory) => {
    const retention = 1;
    // until tables of IDs are dropped, each of which holds so many milestones; then over four of them
    const [warmUp, counted] = [6 * retention, 4 * retention];
    const steady = new SteadyNetwork('rows written', RATE);
    const { network } = steady;
    network.milestone();
    const rig = await startLedger(db, network, 0, { retention });
    const { db: billed, counts } = countedDatabase(db);
    let clock = 1_700_000_000_000;
    const context: FollowerContext = {
      ...rig.following,
      db: billed,
      keepsHistory,
      ledgerParts: MODULES.flatMap(({ ledger }) => ledger ?? []),
      isFed: () => way !== byPolling,
      publish: async () =>
        void (await publish(openIndexLedger(billed), env.NFT_INDEX, () => clock, {
          operations: 300,
          statements: 200,
        })),
    };
    const following = { context, network };
    const pass = async () => {
      clock += 1000;
      // its steps come by the real clock
      context.memory.upkeep.scrubbedAt = Date.now();
      await followOnce(context, { deadline: Date.now() + 20_000, milestones: 12 });
    };
    rig.node.confirm(1);
    await pass();
    for (let milestone = 2; milestone <= 1 + warmUp + counted; milestone++) {
      if (milestone === 2 + warmUp) Object.assign(counts, { rowsWritten: 0, rowsRead: 0 });
      await steady.makeMilestone(async (blocks) => {
        if (blocks % (RATE.blocks / PASSES) !== 0) return;
        await way.second(following);
        await pass();
      });
      rig.node.confirm(milestone);
      await way.milestone(following, milestone);
      await pass();
      expect(await ledgerIndex(db)).toBe(milestone);
    }
    const referenced = coneOf(network, 1 + warmUp + counted);
    expect(referenced.length).toBe(RATE.blocks);
    expect(referenced.filter(({ referenced: by }) => by!.state === 'included')).toHaveLength(
      RATE.transactions,
    );
    const changes = await db
      .prepare('SELECT count(*) AS n FROM nft WHERE changed = ?1')
      .bind(1 + warmUp + counted)
      .first('n');
    expect(changes).toBe(RATE.nfts);
    const rows = counts.rowsWritten / counted;
    console.log(`${rows} rows written a milestone`);
    expect(rows).toBeLessThanOrEqual(most);
    expect(rows).toBeGreaterThan(100);
    const rowsRead = counts.rowsRead / counted;
    console.log(`${rowsRead} rows read a milestone`);
    expect(rowsRead).toBeLessThanOrEqual(3700);

    // what /health, /metrics and info read
    counts.rowsRead = 0;
    await readNodeStatus(billed, FOLLOWING);
    console.log(`${counts.rowsRead} rows read for the status`);
    expect(counts.rowsRead).toBeLessThanOrEqual(20);
  },
);

it.runIf(process.env.SLOW)(
  'at most 3,000 rows for a milestone of 1,000 transfers in chains',
  async () => {
    const { network, rig } = await startNew(db, 'chains');
    const coins = [...network.genesisCoins];
    let last = network.milestoneBlock!;
    for (let i = 0; i < 1000; i++) {
      const wallet = i % coins.length;
      const made = network.transfer(coins[wallet]!, wallet);
      coins[wallet] = made.coins[0]!;
      last = network.attachTransaction(made, [last]);
    }
    network.milestone({ parents: [network.milestoneBlock!, last] });
    const { db: billed, counts } = countedDatabase(db);
    await takeNext(rig, billed);
    expect(await ledgerIndex(db)).toBe(2);
    console.log(`${counts.rowsWritten} rows written`);
    expect(counts.rowsWritten).toBeLessThanOrEqual(3000);
    expect(counts.rowsWritten).toBeGreaterThan(2000);
  },
);

it('where every kind is indexed, 2 more for a basic output that comes, 1 for one that goes', async () => {
  const rowsOf = async (isIndexed: boolean) => {
    const steady = new SteadyNetwork('every kind', RATE);
    steady.network.milestone();
    const rig = await startLedger(db, steady.network, 0);
    if (isIndexed) await indexEveryKind(db);
    await takeNext(rig, db);
    await steady.makeMilestone(async () => {});
    const { db: billed, counts } = countedDatabase(db);
    await takeNext(rig, billed);
    expect(await ledgerIndex(db)).toBe(2);
    return counts.rowsWritten;
  };
  const changed = 2 * RATE.transactions - RATE.nfts;
  expect((await rowsOf(true)) - (await rowsOf(false))).toBe(3 * changed);
});
