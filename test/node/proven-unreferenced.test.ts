/**
 * Requests that fetch blocks ask upstream only about those that their parents do not prove
 * unreferenced
 * (src/ledger/intake/prove-unreferenced.ts). Whatever the ledger has imported and forgotten, the
 * answer is the oracle's, or 404 where the past reaches what is not known here.
 */
import { describe, expect, it } from 'vitest';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { expectRoots } from '../support/ledger/expect-roots.ts';
import {
  ask,
  ledgerIndex,
  type Rig,
  startLedger,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import { storedBlocks } from '../support/ledger/stored-blocks.ts';
import { parsedBlock } from '../support/network/blocks.ts';
import { listening } from '../support/network/direct-upstream.ts';
import { lastIndex, type Network, ZERO_ID } from '../support/network/network-model.ts';
import { oracleAnswer } from '../support/network/oracle-view.ts';
import { Random } from '../support/network/random.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { stopClock } from '../support/stopped-clock.ts';

stopClock();

const db = await openMemory();

/** As pruning does (src/ledger/core/id-index.ts): all IDs of all milestones up to this one. */
async function forgetUpTo(milestone: number): Promise<void> {
  await db.batch([
    db.prepare('DELETE FROM id_0 WHERE milestone <= ?1').bind(milestone),
    db.prepare('UPDATE head SET forgotten = ?1').bind(milestone),
  ]);
  await sealRows(db, 'head');
}

async function takeAll(rig: Rig): Promise<void> {
  while ((await ledgerIndex(db)) < lastIndex(rig.network)) await takeNext(rig, db);
}

/** Whether the walk from these blocks ends only at blocks that are known or stored here. */
async function isWithinReach(network: Network, parents: readonly string[]): Promise<boolean> {
  const { results } = await db.prepare('SELECT id FROM id_0').all<{ id: string }>();
  const known = new Set(results.map(({ id }) => id));
  const blocks = await storedBlocks(db);
  const stored = new Set(blocks.filter(({ milestone }) => milestone === null).map(({ id }) => id));
  const met = new Set(parents);
  for (const id of met) {
    if (stored.has(id.slice(2))) continue;
    const block = network.blocks.get(id);
    if (known.has(id.slice(2)) && block?.referenced !== undefined) continue;
    if (block === undefined ? !known.has(id.slice(2)) : block.referenced !== undefined)
      return false;
    for (const parent of block?.parents ?? []) met.add(parent);
  }
  return true;
}

describe('random networks', () => {
  const seen = { answered: 0, unasked: 0, refused: 0, read: 0, asked: 0 };

  it.each([0, 1, 2, 3])('%i', async (i) => {
    const network = randomNetwork({ seed: `proven open ${i}`, milestones: 8, events: 30 });
    const random = new Random(`ask ${i}`);
    const start = i % 2 === 0 ? 0 : random.between(1, 5);
    if (start > 0) {
      // half of all blocks are entry points: the others look open, and their parents are known
      for (const id of [ZERO_ID, ...network.blocks.keys()])
        if (random.chance(0.5)) network.note([id]);
    }
    const rig = await startLedger(db, network, start);
    await takeAll(rig);
    const last = network.milestones.at(-1)!;
    const ids = [...network.blocks.keys()];
    const isOpen = (id: string) => network.blocks.get(id)!.referenced === undefined;
    // upon what is open, upon the last milestone, and upon anything there ever was
    const fresh = Array.from({ length: 30 }, () => {
      const pool = random.chance(0.25) ? ids : ids.filter(isOpen);
      const id = network.note(random.sample(pool, random.between(1, 3)));
      if (pool !== ids) ids.push(id);
      return id;
    });
    for (let turn = 0; turn < 60; turn++) {
      if (turn === 15) await forgetUpTo(random.between(3, last.index));
      const parents = random.sample(fresh, random.between(1, 3));
      if (random.chance(0.8)) parents.push(network.milestoneBlock!);
      const question = {
        index: last.index + 1,
        timestamp: last.timestamp + 5,
        parents,
        previousMilestoneId: last.id,
      };
      const { upstream, asked, read } = listening(rig.upstream);
      const isWithin = await isWithinReach(network, parents);
      const answer = await ask(rig, question, { upstreams: [upstream] });
      const told = `${i}, turn ${turn}: ${parents}`;
      if (isWithin) {
        expect(answer, told).toEqual(await oracleAnswer(network, question));
        seen.answered++;
        if (asked.length === 0) seen.unasked++;
      } else {
        expect(answer, told).toBe(404);
        seen.refused++;
      }
      expect(asked.length, told).toBeLessThanOrEqual(network.blocks.size);
      seen.read += read.length;
      seen.asked += asked.length;
    }
  });

  it('were asked about in every way', () => {
    expect(seen.answered).toBeGreaterThan(30);
    expect(seen.unasked).toBeGreaterThan(15);
    expect(seen.refused).toBeGreaterThan(15);
    expect(seen.asked).toBeLessThan(seen.read);
  });
});

describe('upstream is asked', () => {
  const started = async () => {
    const network = new SyntheticNetwork({ seed: 'proven' });
    network.milestone();
    network.milestone();
    const rig = await startLedger(db, network, 0);
    await takeAll(rig);
    return { network, rig, ...listening(rig.upstream) };
  };

  it('about nothing where the parents prove what is fetched', async () => {
    const { network, rig, upstream, asked, read } = await started();
    for (let i = 0; i < 50; i++) network.note();
    await expectRoots(rig, network, undefined, { upstreams: [upstream] });
    expect(read.length).toBeGreaterThan(40);
    expect(asked).toEqual([]);
  });

  it('about a block at hand once the IDs of its parents are forgotten', async () => {
    const { network, rig, upstream, asked } = await started();
    const old = network.note([network.milestoneBlock!]);
    const { memory } = rig.following;
    memory.pool.set(digits(old), parsedBlock(network.blocks.get(old)!.bytes));
    network.milestone({ parents: [old] });
    network.milestone({ parents: [network.milestoneBlock!] });
    await takeAll(rig);
    const options = { upstreams: [upstream] };
    const known = network.propose({ parents: [network.milestoneBlock!, network.note([old])] });
    expect(await ask(rig, known.request, options)).toEqual(known.response);
    expect(asked).toEqual([]);
    // the old block is unknown from now on, and its bytes say nothing
    await forgetUpTo(3);
    const again = network.propose({ parents: [network.milestoneBlock!, network.note([old])] });
    expect(await ask(rig, again.request, options)).toBe(404);
    expect(asked).toEqual([]);
  });

  /**
   * Imported at milestone 2; upon an entry point stand a block from before, and an unreferenced
   * one.
   */
  const imported = async () => {
    const network = new SyntheticNetwork({ seed: 'imported' });
    network.milestone();
    const point = network.note([network.milestoneBlock!]);
    const old = network.note([point]);
    network.milestone({ parents: [network.milestoneBlock!, network.note([old])] });
    const fresh = network.note([point]);
    const rig = await startLedger(db, network, 2);
    return { network, rig, old, fresh, ...listening(rig.upstream) };
  };

  it('about children of entry points, and once about each', async () => {
    const { network, rig, old, fresh, upstream, asked } = await imported();
    const options = { upstreams: [upstream] };
    const above = network.note([network.note([fresh])]);
    const whole = network.propose({ parents: [network.milestoneBlock!, above] });
    for (let i = 0; i < 2; i++)
      expect(await ask(rig, whole.request, options)).toEqual(whole.response);
    expect(asked.toSorted()).toEqual([fresh, network.milestoneBlock!].map(digits).sort());

    const trap = network.propose({ parents: [network.milestoneBlock!, network.note([old])] });
    expect(await ask(rig, trap.request, options)).toBe(404);
    expect(asked).toContain(digits(old));
  });

  it('about the state before the milestone, whatever was applied since', async () => {
    const { network, rig, fresh, upstream } = await imported();
    const { request, response } = network.propose({ parents: [network.milestoneBlock!, fresh] });
    network.milestone({ parents: request.parents });
    let applied = false;
    const meanwhile: Upstream = {
      ...upstream,
      async readReference(id) {
        if (!applied) await takeNext(rig, db);
        applied = true;
        return upstream.readReference(id);
      },
    };
    expect(await ask(rig, request, { upstreams: [meanwhile] })).toEqual(response);
    expect(applied).toBe(true);
  });

  it('after 16 levels, so that a walk below the import comes to an end', async () => {
    const network = new SyntheticNetwork({ seed: 'deep' });
    network.milestone();
    let chain = network.milestoneBlock!;
    for (let i = 0; i < 100; i++) chain = network.note([chain]);
    network.milestone({ parents: [chain] });
    const rig = await startLedger(db, network, 2);
    const { upstream, asked, read } = listening(rig.upstream);
    const { request } = network.propose({
      parents: [network.milestoneBlock!, network.note([chain])],
    });
    const below = network.blocks.get(chain)!.parents[0]!;
    const question = { ...request, parents: [network.milestoneBlock!, network.note([below])] };
    expect(await ask(rig, question, { upstreams: [upstream] })).toBe(404);
    expect(read.length).toBeLessThan(24);
    // about the 16th block below, and about the milestone's own
    expect(asked.length).toBe(2);
    expect(request.previousMilestoneId).not.toBe(ZERO_ID);
  });
});

function digits(id: string): string {
  return id.slice(2);
}
