/**
 * How long a big milestone takes the follower, once all of its blocks are fetched.
 *
 * Times are taken where the requests arrive: a milestone is asked for as soon as the one before is committed.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqliteDatabase } from '../../scripts/lib/sqlite-database.ts';
import { lastIndex, ledgerAt, type Network } from '../../test/network/model.ts';
import { NodeDouble } from '../../test/upstream/double.ts';
import type { Bench, BenchCase } from '../case.ts';
import { busyNetwork } from '../tools/busy-network.ts';
import { fillLedger, withNewFolder } from '../tools/ledger.ts';
import { median } from '../tools/measure.ts';
import { importNetwork } from '../tools/network-ledger.ts';
import { withEdge } from '../tools/servers.ts';

/** Milliseconds after which it gives up. */
const PATIENCE = 120_000;

/** The first milestones of a Worker just started are not counted. */
const WARM_UP = 4;

const COUNT = 11;

interface Asked {
  path: string;
  at: number;
}

/** Has a new Worker follow the network from its genesis to its end. Returns what it asked for. */
async function follow({ worker: folder }: Bench, network: Network): Promise<Asked[]> {
  const asked: Asked[] = [];
  await withNewFolder(async (persistTo) => {
    await fillLedger(persistTo, (db) => importNetwork(db, network, network.genesis.index));
    await using double = await NodeDouble.start(network, {
      confirmed: lastIndex(network),
      fault: ({ path }) => {
        asked.push({ path, at: performance.now() });
        return undefined;
      },
    });
    const vars = {
      UPSTREAM_URL: double.url,
      MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
      MILESTONE_THRESHOLD: String(network.keys.threshold),
    };
    await withEdge({ folder, persistTo, vars }, async (edge) => {
      // any request wakes the follower
      await fetch(`${edge.url}/health`);
      const start = performance.now();
      // the tips are asked for when nothing is left to take in
      while (!asked.some(({ path }) => path.endsWith('/tips'))) {
        assert.ok(performance.now() - start < PATIENCE, 'the follower does not come to the end');
        await sleep(10);
      }
    });
    await fillLedger(persistTo, (db) => assertLedger(db, network));
  });
  return asked;
}

const SELECT_UNSPENT = 'SELECT id FROM output WHERE created IS NOT NULL AND spent IS NULL ORDER BY id';

/** That it holds what the network's does at the end. */
async function assertLedger(db: SqliteDatabase, network: Network): Promise<void> {
  const { results } = await db.prepare(SELECT_UNSPENT).all<{ id: string }>();
  const due = ledgerAt(network, lastIndex(network)).map(({ outputId }) => outputId.toHex());
  assert.deepEqual(
    results.map(({ id }) => id),
    due,
  );
}

export const intakeCases: readonly BenchCase[] = [
  {
    name: 'taking in 1,000 transfers',
    about: `From the request for the last block of a milestone to the first one behind its commit; median of ${COUNT - 1} milestones.`,
    run: async (bench) => {
      const network = busyNetwork({ milestones: WARM_UP + COUNT, blocksEach: 1001, transferEvery: 1 });
      const asked = await follow(bench, network);
      const times = asked.flatMap(({ path, at }, i) =>
        i > 0 && path.includes('/milestones/by-index/') ? [at - asked[i - 1]!.at] : [],
      );
      // the request for a milestone ends the one before; passes begin with other requests in between
      const taken = times.slice(WARM_UP).filter((ms) => ms > 20);
      bench.report({ name: 'a milestone of 1,000 transfers', value: median(taken), unit: 'ms', target: { most: 200 } });
    },
  },
];
