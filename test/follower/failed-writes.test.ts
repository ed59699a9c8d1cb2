/**
 * Writes that fail and followers that meet: whatever happens, each milestone is applied once and
 * whole.
 */
import { describe, expect, it, vi } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { followOnce } from '../../src/follower/pass.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { ledgerStateHash } from '../../src/ledger/read/ledger-state-hash.ts';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import {
  disturbed,
  followerState,
  ledgerIndex,
  type Rig,
  startLedger,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { diverging } from '../support/network/direct-upstream.ts';
import { lastIndex, stateHash } from '../support/network/network-model.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = await openMemory();
const network = recordedNetwork('network-a');
const budget = () => ({ deadline: Date.now() + 20_000, milestones: 12 });

/** What changes nothing. That it was run, and its answer lost, is as if it had not been run. */
const isRead = (sql: string) => !/\b(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b/i.test(sql);

/**
 * Fails one batch once, number `failing` from 0: before it is run, or after it, when its answer is
 * lost. After they are run, only batches that write are counted.
 */
function failingOnce(
  failing: number,
  when: 'before' | 'after',
): { db: Database; count: () => number } {
  let batches = 0;
  const lost = (sql: string) => {
    const counts = when === 'before' || !isRead(sql);
    if (counts && batches++ === failing) throw new Error('D1_ERROR: Network connection lost');
  };
  const fail = async (sql: string) => lost(sql);
  const nothing = async () => {};
  return {
    count: () => batches,
    db: when === 'before' ? disturbed(db, fail) : disturbed(db, nothing, fail),
  };
}

async function followAlong(rig: Rig, target: number): Promise<void> {
  rig.node.confirm(target);
  for (let pass = 0; (await ledgerIndex(db)) < target; pass++) {
    if (pass > 50) throw new Error('it does not get there');
    await followOnce(rig.following, budget());
  }
}

it('publishes where passes fail too, as what is not published is not pruned', async () => {
  const rig = await startLedger(db, network, 1);
  rig.node.confirm(2);
  const full = async (sql: string) => {
    if (!isRead(sql)) throw new Error('D1_ERROR: Exceeded maximum DB size');
  };
  const publish = vi.fn(async () => {});
  const following = { ...rig.following, db: disturbed(db, full), publish };
  await expect(followOnce(following, budget())).rejects.toThrow('Exceeded maximum DB size');
  expect(publish).toHaveBeenCalledOnce();
});

async function milestonesApplied(): Promise<number[]> {
  const { results } = await db.prepare('SELECT idx FROM milestone ORDER BY idx').all();
  return results.map(({ idx }) => Number(idx));
}

describe('a batch that fails once', () => {
  const LAST = 12;
  const STEP = process.env.SLOW ? 1 : 3;

  it.each(['before', 'after'] as const)(
    'each batch of two milestones in turn, failing %s it is run',
    async (when) => {
      const due = stateHash(network, LAST);
      let failed = 0;
      for (let failing = 0, reached = true; reached; failing += STEP) {
        const rig = await startLedger(db, network, 10);
        const flaky = failingOnce(failing, when);
        const following = { ...rig.following, db: flaky.db };
        rig.node.confirm(LAST);
        for (let pass = 0; (await ledgerIndex(db)) < LAST; pass++) {
          expect(pass).toBeLessThan(5);
          await followOnce(following, budget()).catch((error: Error) =>
            expect(error.message).toContain('connection lost'),
          );
        }
        expect(await milestonesApplied()).toEqual([10, 11, LAST]);
        expect(toHexDigits(await ledgerStateHash(db))).toBe(due);
        reached = flaky.count() > failing;
        failed += Number(reached);
      }
      expect(failed).toBeGreaterThan((when === 'before' ? 20 : 3) / STEP);
    },
    120_000,
  );
});

describe('two followers at once', () => {
  it('one wins each milestone, and nothing is done twice', async () => {
    const rig = await startLedger(db, network, 0);
    const other: Rig = { ...rig, following: { ...rig.following, memory: createFollowerMemory() } };
    const end = 30;
    for (let target = 3; target <= end; target += 3)
      await Promise.all([followAlong(rig, target), followAlong(other, target)]);
    expect(await milestonesApplied()).toEqual(Array.from({ length: end + 1 }, (_, i) => i));
    expect(toHexDigits(await ledgerStateHash(db))).toBe(stateHash(network, end));
  });
});

describe('two passes in one object', () => {
  it('take turns: milestones are applied while tips are stored, and no tips are lost', async () => {
    const warned = vi.spyOn(console, 'warn');
    const made = new SyntheticNetwork({ seed: 'take turns' });
    made.milestone();
    const rig = await startLedger(db, made, 0);
    for (let index = 1; index <= 12; index++) {
      rig.node.confirm(index);
      const { following } = rig;
      const catchUp = () => followOnce(following, { ...budget(), milestonesOnly: true });
      // one looks at tips of the ledger before while the other applies
      await Promise.all([followOnce(following, budget()), catchUp(), catchUp()]);
      expect(await ledgerIndex(db)).toBe(index);
      for (let i = 0; i < 15; i++) made.note();
      await Promise.all([followOnce(following, budget()), catchUp()]);
      made.milestone();
    }
    const lines = warned.mock.calls.map(([line]) => String(line));
    expect(lines.filter((line) => line.includes('follower.tips-not-stored'))).toEqual([]);
    rig.node.confirm(13);
    await followOnce(rig.following, budget());
    expect(toHexDigits(await ledgerStateHash(db))).toBe(stateHash(made, 13));
    vi.restoreAllMocks();
  });
});

describe('roots that are signed and wrong', () => {
  it.each(['inclusionMerkleRoot', 'appliedMerkleRoot'] as const)(
    '%s: stops, says so, and goes on with an upstream that agrees',
    async (root) => {
      const made = randomNetwork({ seed: root, milestones: 4 });
      const rig = await startLedger(db, made, made.genesis.index);
      rig.node.confirm(lastIndex(made));
      const wrong = diverging(rig.upstream, made.signers, { at: 3, root });
      await followOnce({ ...rig.following, upstreams: [wrong] }, budget());
      expect(await ledgerIndex(db)).toBe(2);
      const reason = expect.stringContaining(root);
      expect(await followerState(db)).toEqual({ state: 'diverged', reason });

      await followOnce({ ...rig.following, upstreams: [wrong, rig.upstream] }, budget());
      expect(await ledgerIndex(db)).toBe(lastIndex(made));
      expect((await followerState(db)).state).toBe('following');
      expect(toHexDigits(await ledgerStateHash(db))).toBe(stateHash(made, lastIndex(made)));
    },
  );
});
