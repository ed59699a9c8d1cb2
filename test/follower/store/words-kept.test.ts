/**
 * What an upstream says about blocks that a milestone may leave out is kept until it has said all
 * (src/follower/complete-milestone.ts), whoever staged the cone: else one that refuses some of the
 * queries, by its rate limit, never gets to the end of them.
 */
import { expect, it } from 'vitest';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import {
  ledgerIndex,
  passOnce,
  type Rig,
  startLedger,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const BLOCKS = 150;
/** Of so many requests the upstream refuses one. */
const ONE_OF = 60;

/** Blocks on top of one, and the milestone's parent that has them all in its past. */
function attachMany(network: SyntheticNetwork, below: string, most = BLOCKS): string {
  let level = Array.from({ length: most }, () => network.note([below], network.random.bytes(16)));
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 8) }, (_, n) =>
      network.note(level.slice(8 * n, 8 * n + 8)),
    );
  return level[0]!;
}

function limited({ upstream }: Rig): Upstream {
  let asked = 0;
  const refusing =
    <T>(read: (id: string) => Promise<T>) =>
    async (id: string) => {
      if (++asked % ONE_OF === 0) throw new UpstreamFailure('status 429', true);
      return read(id);
    };
  return {
    ...upstream,
    readTips: async () => [],
    readBlock: refusing(upstream.readBlock),
    readReference: refusing(upstream.readReference),
  };
}

async function passesTo(rig: Rig, index: number, after: () => Promise<void> = async () => {}) {
  for (let passes = 1; passes < 20; passes++) {
    await passOnce(rig);
    if ((await ledgerIndex(rig.db)) === index) return;
    await after();
  }
  throw new Error('no pass gets there');
}

it('by a limited upstream, after a liar has staged the cone and gone', async () => {
  const network = new SyntheticNetwork({ seed: 'wide' });
  for (let i = 0; i < 3; i++) network.milestone();
  const db = await openMemory();
  const rig = await startLedger(db, network, 3);
  network.milestone();
  rig.node.confirm(4);
  await passOnce(rig, { milestonesOnly: true });
  const last = network.milestoneBlock!;
  const below = network.note([last]);
  network.milestone({ parents: [last, attachMany(network, below)] });
  rig.node.confirm(5);
  const { upstream } = rig;
  const isBelow = (id: string) => `0x${id}` === below;
  const liar: Upstream = {
    ...upstream,
    name: 'liar',
    readTips: async () => [],
    readBlock: async (id) => (isBelow(id) ? undefined : upstream.readBlock(id)),
    async readReference(id) {
      if (isBelow(id)) return 1;
      throw new UpstreamFailure('down');
    },
  };
  rig.following.upstreams = [liar];
  for (let i = 0; i < 3; i++) await passOnce(rig);
  rig.following.upstreams = [limited(rig)];
  await passesTo(rig, 5);
});

/** A network whose snapshot names one of two blocks below its third milestone, and the other one. */
function networkUponOld() {
  const network = new SyntheticNetwork({ seed: 'restart' });
  network.milestone();
  network.milestone({ parents: [network.note([network.milestoneBlock!])] });
  const entry = network.note([network.milestoneBlock!]);
  const old = network.note([entry]);
  network.milestone({ parents: [network.note([old, network.note([entry])])] });
  network.note([entry]);
  return { network, old };
}

/** Has so many statements in each pass, as an invocation has 1,000. */
function withStatements(db: Database, most: number) {
  const left = { statements: most };
  const batch: Database['batch'] = async (statements) => {
    left.statements -= statements.length;
    if (left.statements < 0) throw new Error('too many statements');
    return db.batch(statements);
  };
  return { left, limited: { prepare: (sql: string) => db.prepare(sql), batch } };
}

it('words of earlier passes take no statements', async () => {
  const { network, old } = networkUponOld();
  const db = await openMemory();
  const rig = await startLedger(db, network, 3);
  network.milestone({ parents: [network.milestoneBlock!, attachMany(network, old, 2000)].sort() });
  rig.node.confirm(4);
  rig.following.upstreams = [{ ...rig.upstream, readTips: async () => [] }];
  const staged = 'SELECT count(*) AS n FROM pack WHERE staged IS NOT NULL';
  while (Number(await db.prepare(staged).first('n')) < 8)
    await passOnce(rig, { milestonesOnly: true, fetches: 500 });
  rig.following.memory = createFollowerMemory();
  const { left, limited } = withStatements(db, 80);
  rig.following.db = limited;
  for (let passes = 0; passes < 12 && (await ledgerIndex(db)) < 4; passes++) {
    left.statements = 80;
    await passOnce(rig, { milestonesOnly: true, fetches: 500 }).catch(() => undefined);
  }
  expect(await ledgerIndex(db)).toBe(4);
});

it.each([false, true])('by one alone; the object begins anew: %s', async (isRestarted) => {
  const { network, old } = networkUponOld();
  const db = await openMemory();
  const rig = await startLedger(db, network, 3);
  network.milestone({ parents: [network.milestoneBlock!, attachMany(network, old)] });
  rig.node.confirm(4);
  rig.following.upstreams = [limited(rig)];
  let isDue = isRestarted;
  await passesTo(rig, 4, async () => {
    const staged = await db.prepare('SELECT key FROM pack WHERE staged IS NOT NULL').first();
    if (isDue && staged) {
      rig.following.memory = createFollowerMemory();
      isDue = false;
    }
  });
  expect(isDue).toBe(false);
});
