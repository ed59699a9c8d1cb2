/**
 * What the follower remembers of unreferenced blocks is what is stored
 * (src/ledger/write/unreferenced-index.ts), whoever changes it.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { followOnce } from '../../../src/follower/pass.ts';
import { storeUnreferenced } from '../../../src/follower/store/store-unreferenced.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { measureDatabase } from '../../../src/ledger/core/wrap-database.ts';
import { outputsToFind } from '../../../src/ledger/intake/prepare-blocks.ts';
import { dropUnneeded } from '../../../src/ledger/write/drop-blocks.ts';
import {
  createUnreferencedIndex,
  type UnreferencedIndex,
} from '../../../src/ledger/write/unreferenced-index.ts';
import { pause } from '../../../src/platform/clock.ts';
import {
  disturbed,
  issue,
  ledgerIndex,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  withSplitPacks,
} from '../../support/ledger/ledger-harness.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { parsedBlock } from '../../support/network/blocks.ts';
import { Random } from '../../support/network/random.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic } from '../../support/payloads/outputs.ts';

const db = env.LEDGER;

const SELECT_TAKEN = `
  SELECT max(next_output) AS taken
  FROM (SELECT next_output FROM head UNION ALL SELECT next_output FROM pack WHERE live = 1)`;

const idsOf = ({ blocks }: Rig['network']) => [...blocks.keys()].map((id) => id.slice(2));

/** All that an index says of every block and output that the network ever had. */
async function tell(index: UnreferencedIndex, { network }: Rig) {
  const head = (await readHead(db))!;
  const blocks = [...network.blocks.values()].map(({ bytes }) => parsedBlock(bytes));
  const named = idsOf(network);
  const view = await index.view(db, head, named, outputsToFind(blocks));
  const { outputs, nextBlock } = view.numbering;
  const taken = Number(await db.prepare(SELECT_TAKEN).first('taken'));
  // the numbers of outputs that no unreferenced block mentions are free to choose
  const contents = [...outputs].map(
    ([id, { number, ...known }]) => [id, { ...known, ...(number < taken && { number }) }] as const,
  );
  return {
    ledger: view.head.ledger,
    last: view.last,
    named: new Map([...view.named].sort()),
    stored: view.stored,
    unreferenced: view.findUnreferenced(named),
    staged: new Map(named.map((id) => [id, view.stagedNumber(id)])),
    outputs: new Map(contents.sort()),
    nextBlock,
  };
}

/** Compared with an index that is loaded now. */
async function expectTrue(rig: Rig): Promise<void> {
  const remembered = await tell(rig.following.memory.index, rig);
  expect(remembered).toEqual(await tell(createUnreferencedIndex(), rig));
}

/** How often the index is loaded, by the statement that only loading has. */
function countLoads(db: D1Database): { counted: Database; loads: () => number } {
  let loads = 0;
  const counted = disturbed(db, async (sql) => {
    if (sql.includes('p.key > ?1 ORDER BY p.key LIMIT')) loads++;
  });
  return { counted, loads: () => loads };
}

/** One that remembers nothing: the same ledger, another follower. */
function another(rig: Rig): Rig {
  const memory = createFollowerMemory();
  return { ...rig, following: { ...rig.following, memory } };
}

const noTips = async () => [];

/** By the index that is remembered. */
async function applyNext({ upstream, node, following }: Rig, where: Database): Promise<void> {
  node.confirm((await ledgerIndex(db)) + 1);
  const context = { ...following, db: where, upstreams: [{ ...upstream, readTips: noTips }] };
  const budget = { deadline: Date.now() + 20_000, milestones: 1, milestonesOnly: true };
  expect(await followOnce(context, budget)).toMatchObject({ applied: 1 });
}

async function dropped(): Promise<number> {
  return Number(await db.prepare('SELECT dropped FROM head').first('dropped'));
}

/**
 * Fetches some of what is unreferenced as the next milestone's cone and stages it, or some of it.
 */
async function stage({ network, following }: Rig, isStaged: (id: string) => boolean) {
  const { head, rules } = await readPosition(db, following);
  const unreferenced = [...network.blocks.values()].filter(({ referenced }) => !referenced);
  const blocks = new Map(
    unreferenced.map(({ id, bytes }) => [id.slice(2), parsedBlock(bytes)] as const),
  );
  const staged = new Set(blocks.keys());
  const visible = new Set([...staged].filter((id) => !isStaged(id)));
  const choose = () => ({ visible, staged });
  await storeUnreferenced(db, head, { blocks, rules, choose, index: following.memory.index });
}

it.runIf(process.env.SLOW)(
  'tells what is stored, after blocks, milestones, drops and imports',
  async () => {
    const started = await startNew(db, 'open set', { parameters: { belowMaxDepth: 2 } });
    const { network } = started;
    let { rig } = started;
    await expectTrue(rig);
    const random = new Random('unreferenced index');
    const coins = [...network.genesisCoins];
    const pay = () => {
      const made = network.transfer(coins.shift()!, 0);
      coins.push(made.coins[0]!);
      // sometimes what it makes is spent before it is there
      if (random.chance(0.3)) network.attachTransaction(network.transfer(made.coins[0]!, 1));
      network.attachTransaction(made);
    };
    let staged = 0;
    for (let step = 0; step < 60; step++) {
      const what = random.below(12);
      if (what < 4) pay();
      if (what < 7) {
        network.note();
        await storeNow(rig, db);
      } else if (what === 7) {
        await issue(rig, network);
      } else if (what === 8) {
        network.milestone();
        await applyNext(rig, db);
      } else if (what === 9) {
        // behind the index's back
        network.note();
        await storeNow(another(rig), db);
      } else if (what === 10) {
        for (let i = 0; i < 3; i++) network.note();
        await stage(rig, () => random.chance(0.5));
        staged += Number(await db.prepare(COUNT_STAGED).first('count'));
      } else {
        const { index } = random.chance(0.5) ? rig.following.memory : another(rig).following.memory;
        const limits = { blocks: 6, bytes: 1e9 };
        const oldest = (await storedBlocks(db)).find(({ milestone }) => milestone === null);
        const tips = async () => (oldest ? [oldest.id] : []);
        const dropping = dropUnneeded(db, index, tips, limits);
        await dropping.catch((error: Error) => expect(error).toBeInstanceOf(LedgerMoved));
      }
      await expectTrue(rig);
    }
    expect(staged).toBeGreaterThan(0);
    expect(await dropped()).toBeGreaterThan(0);
    // what nobody builds upon becomes an orphan
    const orphan = network.note([network.milestoneBlock!]);
    await storeNow(rig, db);
    for (let i = 0; i < 16; i++) {
      await issue(rig, network, [network.milestoneBlock!]);
    }
    await expectTrue(rig);
    const droppedBefore = await dropped();
    await dropUnneeded(db, rig.following.memory.index, noTips);
    expect(await dropped()).toBeGreaterThan(droppedBefore);
    await expectTrue(rig);
    const { unreferenced } = await tell(rig.following.memory.index, rig);
    expect(unreferenced.has(orphan.slice(2))).toBe(false);

    const { memory } = rig.following;
    rig = await startLedger(db, network, await ledgerIndex(db));
    await expectTrue({ ...rig, following: { ...rig.following, memory } });
  },
);

const COUNT_STAGED = 'SELECT count(*) AS count FROM pack WHERE staged IS NOT NULL';

it('has no staged blocks any more once a milestone left them out', async () => {
  const network = new SyntheticNetwork({ seed: 'left out' });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await applyNext(rig, db);
  const root = network.milestoneBlock!;
  // a pack has blocks that are left out alone; where the milestone needs others they come into it
  for (const [isStored, others] of [
    [true, 0],
    [false, 0],
    [false, 1],
  ] as const) {
    if (isStored) await storeNow(rig, db);
    const parents = [root, ...Array.from({ length: others }, () => network.note([root]))];
    const out = network.note(parents);
    await stage(rig, () => true);
    expect(await db.prepare(COUNT_STAGED).first('count')).toBe(1);
    network.milestone({ parents: [network.milestoneBlock!, ...parents.slice(1)] });
    await applyNext(rig, db);
    expect(await db.prepare(COUNT_STAGED).first('count')).toBe(0);
    await expectTrue(rig);
    // whoever stands upon it is stored with it
    const child = network.note([out]);
    await stage(rig, () => true);
    const ids = (await storedBlocks(db)).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([out.slice(2), child.slice(2)]));
    await expectTrue(rig);
    network.milestone({ parents: [network.milestoneBlock!, child] });
    await applyNext(rig, db);
    await expectTrue(rig);
  }
});

it('forgets outputs with the blocks that create them', async () => {
  const { network, rig } = await startNew(db, 'outputs');
  const { index } = rig.following.memory;
  const made = network.transfer(network.genesisCoins[0]!, 0);
  network.attachTransaction(made);
  await storeNow(rig, db);
  const findCreator = async () => {
    const { creatorOf } = await index.view(db, (await readHead(db))!, []);
    return creatorOf(made.coins[0]!.id.toHex());
  };
  expect(await findCreator()).toBeDefined();
  network.milestone();
  await applyNext(rig, db);
  expect(await findCreator()).toBeUndefined();
});

it('is loaded once, as long as nobody else writes', async () => {
  const network = new SyntheticNetwork({ seed: 'loads' });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  const { counted, loads } = countLoads(db);
  await applyNext(rig, counted);
  const { index } = rig.following.memory;
  for (let i = 0; i < 4; i++) {
    network.note();
    network.note();
    await storeNow(rig, counted);
    await stage(rig, () => false);
    network.milestone();
    await applyNext(rig, counted);
    network.note();
    await storeNow(rig, counted);
    await dropUnneeded(counted, index, async () => [network.milestoneBlock!.slice(2)], {
      blocks: 1,
      bytes: 1e9,
    });
    await expectTrue(rig);
  }
  expect(await dropped()).toBeGreaterThan(0);
  expect(loads()).toBe(1);
  network.note();
  await storeNow(another(rig), db);
  await storeNow(rig, counted);
  expect(loads()).toBe(2);
});

it('is loaded once for all who need it at once, and again where that failed', async () => {
  const { network, rig } = await startNew(db, 'at once');
  network.note();
  await storeNow(rig, db);
  const head = (await readHead(db))!;
  const { counted, loads } = countLoads(db);
  const index = createUnreferencedIndex();
  const viewAll = (where: Database) =>
    Promise.allSettled(Array.from({ length: 8 }, () => index.view(where, head, [])));
  const lost = disturbed(db, () => Promise.reject(new Error('Network connection lost')));
  expect((await viewAll(lost)).map(({ status }) => status)).toEqual(Array(8).fill('rejected'));
  const views = await viewAll(counted);
  const sizes = views.map(
    (view) => view.status === 'fulfilled' && view.value.findUnreferenced(idsOf(network)).size,
  );
  expect(sizes).toEqual(Array(8).fill(2));
  expect(loads()).toBe(1);
  // what answers late what was there before must not have it loaded again
  network.note();
  await storeNow(another(rig), db);
  let late = 0;
  const slow = disturbed(
    counted,
    async () => {},
    (_, batch) => (batch > 8 ? Promise.resolve() : pause(20 * late++)),
  );
  await viewAll(slow);
  expect(loads()).toBe(2);
});

it('has all live packs, however many pages they take', async () => {
  const { network, rig } = await startNew(db, 'pages');
  for (let i = 0; i < 130; i++) {
    network.note();
    await storeNow(withSplitPacks(rig), db);
  }
  const packs = await db
    .prepare('SELECT count(*) AS count FROM pack WHERE live = 1')
    .first('count');
  expect(packs).toBe(130);
  await expectTrue(rig);
  expect((await tell(createUnreferencedIndex(), rig)).unreferenced.size).toBe(131);

  // and of one moment: what is stored between two pages makes it begin again
  let pages = 0;
  const meddled = disturbed(db, async (sql) => {
    if (!sql.includes('p.key > ?1 ORDER BY p.key LIMIT') || ++pages !== 2) return;
    network.note();
    await storeNow(another(rig), db);
  });
  const head = (await readHead(db))!;
  const view = await createUnreferencedIndex().view(meddled, head, []);
  expect(pages).toBeGreaterThan(3);
  expect(view.findUnreferenced(idsOf(network)).size).toBe(132);
});

it('reads what a transaction consumes from the pack that creates it alone, however many there are', async () => {
  const { network, rig } = await startNew(db, 'contents');
  let spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const reads: number[] = [];
  for (let i = 0; i < 40; i++) {
    const made = network.transaction([spend], [basic(spend.by, { amount: COIN_AMOUNT })]);
    spend = { coin: made.coins[0]!, by: spend.by };
    network.attachTransaction(made);
    let rows = 0;
    const counted = measureDatabase(db, ({ rows_read }) => {
      rows += rows_read;
    });
    await storeNow(withSplitPacks(rig), counted);
    reads.push(rows);
  }
  const { results } = await db.prepare('SELECT unresolved FROM pack WHERE live = 1').all();
  expect(results).toEqual(Array.from({ length: 40 }, () => ({ unresolved: '[]' })));
  expect(reads.at(-1)! - reads[4]!).toBeLessThan(10);
});

it('knows a block that the next milestone references while the index is read', async () => {
  const { network, rig, root } = await startNew(db, 'taken meanwhile');
  const note = network.note([root]);
  expect(await storeNow(rig, db)).toBeGreaterThan(0);
  network.milestone({ parents: [root, note] });
  const head = (await readHead(db))!;
  const { index } = rig.following.memory;
  await index.view(db, head, []);
  let isApplied = false;
  const { counted, loads } = countLoads(db);
  const overtaken = disturbed(counted, async () => {
    if (isApplied) return;
    isApplied = true;
    await applyNext(rig, db);
  });
  const { named } = await index.view(overtaken, head, [note.slice(2)]);
  expect(named.get(note.slice(2))?.milestone).toBe(head.ledger + 1);
  // D1 has what the index has
  expect(loads()).toBe(0);
});
