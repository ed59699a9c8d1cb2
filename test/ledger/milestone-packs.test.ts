/**
 * What a milestone leaves in D1 is the same, whichever of its blocks stood in open packs when it was
 * applied, and whichever were fetched.
 */
import { describe, expect, it } from 'vitest';
import { blocksBetween, storeBlocks } from '../../bench/tools/network-ledger.ts';
import { type Mention, packKey, readStates } from '../../src/ledger/packs.ts';
import { decodeRecord } from '../../src/stardust/white-flag/block-record.ts';
import { startLedger, takeNext } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { indexedIds, storedBlocks } from '../support/ledger/stored-blocks.ts';
import { lastIndex, type Network, type NetworkBlock } from '../support/network/network-model.ts';
import { Random } from '../support/network/random.ts';
import { randomNetwork } from '../support/network/random-network.ts';

/**
 * What one milestone leaves, with IDs in place of numbers. Verdicts at other times are left out: one
 * that does not count may be undecided.
 */
async function leftBy(db: D1Database, milestone: number): Promise<unknown> {
  const { results } = await db
    .prepare('SELECT * FROM pack WHERE key >= ?1 AND key < ?2 ORDER BY key')
    .bind(packKey(milestone, 0), packKey(milestone + 1, 0))
    .all<Record<string, string>>();
  const outputs = new Map<number, string>();
  const states: [string, number, number][] = [];
  const spent: unknown[] = [];
  for (const pack of results) {
    for (const [number, id] of JSON.parse(pack.mentions!) as Mention[]) outputs.set(number, id);
    readStates(pack.states!, (number, created, gone) =>
      states.push([outputs.get(number)!, created, gone]),
    );
    spent.push(...(JSON.parse(pack.spent!) as unknown[]));
  }
  const blocks = await storedBlocks(db);
  const ids = new Map(blocks.map(({ number, id }) => [number, id]));
  return {
    spent,
    states: states.sort(),
    mentions: [...outputs.values()].sort(),
    blocks: blocks
      .filter((block) => block.milestone === milestone)
      .map(({ record, number, ...block }) => {
        const { parents, transaction, ...facts } = decodeRecord(record);
        return {
          ...block,
          ...facts,
          number: ids.get(number),
          parents: parents.map((parent) => ids.get(parent)),
          inputs: transaction?.inputs.map((output) => outputs.get(output)),
          outputs: transaction?.outputs.map((output) => outputs.get(output)),
        };
      }),
  };
}

/** What the ledger holds at its end. */
async function held(db: D1Database): Promise<unknown> {
  const tables = ['output', 'nft', 'nft_change', 'nft_detail', 'receipt', 'parameters'];
  const rows = tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
  const ids = [...(await indexedIds(db))].sort();
  return [ids, ...(await Promise.all(rows)).map(({ results }) => results)];
}

/** Blocks to be stored next, parents first: some of the milestone's and of the one behind it. */
function someOf(
  network: Network,
  milestone: number,
  stored: ReadonlySet<NetworkBlock>,
  isWanted: () => boolean,
): NetworkBlock[] {
  const later = blocksBetween(network, milestone - 1, lastIndex(network));
  const unknown = new Set(later.filter((block) => !stored.has(block)).map(({ id }) => id));
  return blocksBetween(network, milestone - 1, milestone + 1).filter(({ id, parents }) => {
    if (!unknown.has(id) || parents.some((parent) => unknown.has(parent))) return false;
    return isWanted() && unknown.delete(id);
  });
}

/** In so many passes each milestone's blocks are stored. */
const PASSES = 3;

/** Follows the network; `share`: of the blocks that are stored before, where they can be. */
async function follow(network: Network, share: number): Promise<unknown[]> {
  const db = (await openMemory()) as unknown as D1Database;
  const random = new Random(`stored ${share}`);
  const rig = await startLedger(db, network, network.genesis.index);
  const left: unknown[] = [];
  const stored = new Set<NetworkBlock>();
  for (let index = network.genesis.index + 1; index <= lastIndex(network); index++) {
    const some = someOf(network, index, stored, () => random.chance(share));
    for (let pass = 0; pass < PASSES; pass++) {
      const first = Math.ceil((pass * some.length) / PASSES);
      await storeBlocks(
        db,
        network,
        some.slice(first, Math.ceil(((pass + 1) * some.length) / PASSES)),
      );
    }
    for (const block of some) stored.add(block);
    await takeNext(rig, db);
    left.push(await leftBy(db, index));
  }
  return [...left, await held(db)];
}

describe.each([1, 2])('random network %i', (seed) => {
  it('leaves the same whatever was stored', async () => {
    const network = randomNetwork({ seed: `milestone packs ${seed}`, milestones: 8, events: 45 });
    const fetched = await follow(network, 0);
    for (const share of [0.4, 0.9, 1]) expect(await follow(network, share)).toEqual(fetched);
  });
});
