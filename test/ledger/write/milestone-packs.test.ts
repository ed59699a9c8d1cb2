/**
 * What a milestone leaves in D1 is the same, whichever of its blocks were stored when it was
 * applied, visible or staged, in whatever packs, and whichever were fetched.
 */
import { describe, expect, it } from 'vitest';
import { blocksBetween } from '../../../bench/tools/network-ledger.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { storeUnreferenced } from '../../../src/follower/store/store-unreferenced.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { outputColumns } from '../../../src/ledger/core/output-bytes.ts';
import { decodeRecord } from '../../../src/ledger/packs/block-record.ts';
import type { OutputRow } from '../../../src/ledger/packs/id-rows.ts';
import { spentIn, spentSql } from '../../../src/ledger/packs/milestone-part.ts';
import { readStates, Statuses } from '../../../src/ledger/packs/pack-columns.ts';
import { fromBase64 } from '../../../src/stardust/encoding/base64.ts';
import {
  ask,
  questionOf,
  startLedger,
  takeNext,
  withSplitPacks,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { indexedIds, storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { parsedBlock } from '../../support/network/blocks.ts';
import { lastIndex, type Network, type NetworkBlock } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

/**
 * What one milestone leaves, with IDs in place of numbers, and without the packs that hold it.
 * Verdicts at other times are left out: one that does not count may be undecided. So are states
 * that outputs got in this milestone or later: a request about it does not count them.
 */
async function leftBy(db: Database, milestone: number): Promise<unknown> {
  const { results: parts } = await db
    .prepare(`
      SELECT json_remove(${spentSql.whole('s.value')}, '$[8]') AS spent FROM ${spentIn('?1')}
      ORDER BY p.key, s.key`)
    .bind(milestone)
    .all<{ spent: string }>();
  const { results: packs } = await db
    .prepare(`SELECT p.statuses, p.states, p.outputs, c.outputs AS contents
      FROM pack p JOIN pack_content c ON c.key = p.key`)
    .all<{ statuses: string; states: string; outputs: string; contents: string }>();
  const outputs = new Map<number, string>();
  const mentioned = new Set<string>();
  const consumed = new Set<number>();
  const states = new Map<string, { created: number; spent: number }>();
  for (const pack of packs) {
    const statuses = new Statuses(fromBase64(pack.statuses));
    const contents = JSON.parse(pack.contents) as (string | null)[][];
    for (const [at, rows] of (JSON.parse(pack.outputs) as OutputRow[][]).entries()) {
      for (const [i, [number, id]] of rows.entries()) {
        outputs.set(number, id);
        if (statuses.milestoneAt(at) !== milestone) continue;
        mentioned.add(id);
        if (contents[at]![i] === null) consumed.add(number);
      }
    }
  }
  for (const pack of packs) {
    readStates(fromBase64(pack.states), (number, created, spent) => {
      if (!consumed.has(number) || created >= milestone) return;
      const id = outputs.get(number)!;
      // another pack may know less
      const known = states.get(id);
      if (known !== undefined) expect(known.created).toBe(created);
      states.set(id, { created, spent: known?.spent || (spent < milestone ? spent : 0) });
    });
  }
  const blocks = await storedBlocks(db);
  const ids = new Map(blocks.map(({ number, id }) => [number, id]));
  return {
    spent: parts.map(({ spent }) => JSON.parse(spent)),
    states: [...states].sort(),
    mentioned: [...mentioned].sort(),
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

/** Keys of rests are numbers, which differ with the order in which blocks came. */
const SELECT_OUTPUTS = `SELECT ${outputColumns('o')}, chain FROM output o ORDER BY id`;

/** What the ledger holds at its end. */
async function held(db: Database): Promise<unknown> {
  const tables = ['nft', 'nft_change', 'output_detail', 'receipt', 'parameters'];
  const selects = tables.map((table) => `SELECT * FROM ${table} ORDER BY 1, 2`);
  const rows = [SELECT_OUTPUTS, ...selects].map((sql) => db.prepare(sql).all());
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

/** Each milestone's blocks are stored in so many passes. */
const PASSES = 3;

interface Stored {
  /** Of the blocks that can be stored before their milestone, how many are. */
  share: number;
  /** The probability that one of them is staged, and with it all upon it. */
  staged?: number;
  /** Whether nothing is appended to packs. */
  splits?: boolean;
}

const COUNT_PACKS = `
  SELECT count(*) AS count FROM pack WHERE live = 1 AND (staged IS NOT NULL) = ?1`;

/** Follows the network. */
async function follow(network: Network, { share, staged = 0, splits = false }: Stored) {
  const db = await openMemory();
  const random = new Random(`stored ${share} ${staged}`);
  const rig = await startLedger(db, network, network.genesis.index);
  const { index: known } = (splits ? withSplitPacks(rig) : rig).following.memory;
  const left: unknown[] = [];
  const stored = new Set<NetworkBlock>();
  const seen = { visible: 0, staged: 0 };
  const count = async (isStaged: number) =>
    Number(await db.prepare(COUNT_PACKS).bind(isStaged).first('count'));
  for (let index = network.genesis.index + 1; index <= lastIndex(network); index++) {
    const some = someOf(network, index, stored, () => random.chance(share));
    for (let pass = 0; pass < PASSES; pass++) {
      const first = Math.ceil((pass * some.length) / PASSES);
      const part = some.slice(first, Math.ceil(((pass + 1) * some.length) / PASSES));
      const { head, rules } = await readPosition(db, rig.following);
      const parsed = part.map(({ id, bytes }) => [id.slice(2), parsedBlock(bytes)] as const);
      const ofMilestone = part.filter(({ referenced }) => referenced!.index === index);
      const toStage = new Set(ofMilestone.map(({ id }) => id.slice(2)));
      const hidden = new Set([...toStage].filter(() => random.chance(staged)));
      const visible = new Set(parsed.map(([id]) => id)).difference(hidden);
      const ids = await storeUnreferenced(db, head, {
        blocks: new Map(parsed),
        rules,
        choose: () => ({ visible, staged: toStage }),
        index: known,
      });
      for (const id of ids) stored.add(network.blocks.get(`0x${id}`)!);
    }
    seen.visible += await count(0);
    seen.staged += await count(1);
    await takeNext(rig, db);
    expect(await count(1)).toBe(0);
    left.push(await leftBy(db, index));
  }
  for (const { index } of network.milestones) {
    const { question, answer } = questionOf(network, index);
    expect([index, await ask(rig, question)]).toEqual([index, answer]);
  }
  return { left: [...left, await held(db)], seen };
}

const WAYS: Stored[] = [
  ...[0.4, 0.9, 1].map((share) => ({ share })),
  ...[0.7, 0.9].map((share) => ({ share, staged: 0.3 })),
  { share: 0.9, splits: true },
  { share: 0.9, staged: 0.3, splits: true },
  { share: 0.9, staged: 1 },
];

describe.each(process.env.SLOW ? [1, 2] : [1])('random network %i', (seed) => {
  it('leaves the same whatever was stored, visible or staged, in whatever packs', async () => {
    const network = randomNetwork({ seed: `milestone packs ${seed}`, milestones: 8, events: 45 });
    const { left: fetched } = await follow(network, { share: 0 });
    for (const way of WAYS) {
      const { left, seen } = await follow(network, way);
      expect(left).toEqual(fetched);
      expect([seen.visible > 0, seen.staged > 0]).toEqual([true, way.staged !== undefined]);
    }
  });
});
