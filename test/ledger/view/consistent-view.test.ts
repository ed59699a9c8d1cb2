/**
 * A view of more packs than a page has (src/ledger/view/consistent-view.ts) is of one moment,
 * whatever happens between two of its pages.
 */
import { expect, it } from 'vitest';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import { dropUnneeded } from '../../../src/ledger/write/drop-blocks.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { createUnreferencedIndex } from '../../../src/ledger/write/unreferenced-index.ts';
import {
  ask,
  disturbed,
  issue,
  type Question,
  questionOf,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  takeNext,
  withSplitPacks,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { knownBlockIds, storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { oracleAnswer } from '../../support/network/oracle-view.ts';
import type { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const db = await openMemory();

/** More than the packs of a page. */
const PACKS = 140;

interface Paged {
  network: SyntheticNetwork;
  rig: Rig;
  /** The first block in a chain of all the others, and the last one. */
  first: string;
  last: string;
}

/** A ledger with a chain of blocks, each in a pack of its own; every fourth is a transfer. */
async function startPaged(): Promise<Paged> {
  const { network, rig } = await startNew(db, 'paged');
  const splitting = withSplitPacks(rig);
  const chain = [network.milestoneBlock!];
  let [coin] = network.genesisCoins;
  for (let i = 0; chain.length < PACKS; i++) {
    const parents = [chain.at(-1)!];
    if (i % 4 === 0) {
      const made = network.transfer(coin!, i / 4 + 1);
      [coin] = made.coins;
      chain.push(network.attachTransaction(made, parents));
    } else {
      chain.push(network.note(parents));
    }
    await storeNow(withTips(splitting, chain.at(-1)!), db);
  }
  rig.following.memory = createFollowerMemory();
  return { network, rig, first: chain[1]!, last: chain.at(-1)! };
}

/** Asks, while something happens once between the first page and the second. */
async function askWhile(rig: Rig, question: Question, happens: () => Promise<void>) {
  let pages = 0;
  const meddled = disturbed(db, async (sql) => {
    if (sql.includes('reach(ledger') && ++pages === 2) await happens();
  });
  const answer = await ask(rig, question, { db: meddled });
  expect(pages).toBeGreaterThanOrEqual(2);
  return { answer, pages };
}

const countPacks = async () => (await db.prepare('SELECT key FROM pack').all()).results.length;

it('nothing: two pages are one view', async () => {
  const { network, rig, last } = await startPaged();
  expect(await countPacks()).toBe(PACKS - 1);
  const { request, response } = network.propose({ parents: [last] });
  expect(await askWhile(rig, request, async () => {})).toEqual({ answer: response, pages: 2 });
});

it('a block is stored: it is not known to the view', async () => {
  const { network, rig, last } = await startPaged();
  const { request, response } = network.propose({ parents: [last] });
  const child = network.note([last]);
  const store = async () => void (await storeNow(withTips(rig, child), db));
  expect(await askWhile(rig, request, store)).toEqual({ answer: response, pages: 2 });
  expect(await countPacks()).toBe(PACKS - 1);
  expect(await askWhile(rig, request, async () => {})).toEqual({ answer: response, pages: 2 });
  const after = network.propose({ parents: [last, child] });
  expect(await ask(rig, after.request)).toEqual(after.response);
});

it('a named block is stored, of a past milestone: the view begins again', async () => {
  const { network, rig, last } = await startPaged();
  await issue(rig, network, [last]);
  const late = network.note([last]);
  const { question } = questionOf(network, 2);
  const previousMilestoneId = question.previousMilestoneId!;
  const asked = { ...question, previousMilestoneId, parents: [last, late] };
  const store = async () => void (await storeNow(withTips(rig, late), db));
  const { answer, pages } = await askWhile(rig, asked, store);
  expect(answer).toEqual(await oracleAnswer(network, asked));
  expect(pages).toBeGreaterThan(3);
});

it('a milestone is applied: the view begins again', async () => {
  const { network, rig, first, last } = await startPaged();
  const { request, response } = network.propose({ parents: [last] });
  network.milestone({ parents: [network.milestoneBlock!, first] });
  const { answer, pages } = await askWhile(rig, request, () => takeNext(rig, db));
  // about what is a past milestone by then
  expect(answer).toEqual(response);
  expect(pages).toBeGreaterThan(3);
});

it('blocks are dropped: the view begins again', async () => {
  const { network, rig, first, last } = await startPaged();
  const proposals = [last, first].map((id) =>
    network.propose({ parents: [network.milestoneBlock!, id] }),
  );
  const drop = async () => {
    const index = createUnreferencedIndex();
    const tips = async () => [first.slice(2)];
    for (let dropped = 1; dropped > 0; )
      ({ evicted: dropped } = await dropUnneeded(db, index, tips, { blocks: 1, bytes: 1e9 }));
  };
  const { answer } = await askWhile(rig, proposals[0]!.request, drop);
  expect(answer).toBe(404);
  expect((await storedBlocks(db)).length).toBeLessThan(10);
  expect(await ask(rig, proposals[1]!.request)).toEqual(proposals[1]!.response);
});

it('the milestone is pruned: the view is not a part of it', async () => {
  const { network, rig, last } = await startPaged();
  await issue(rig, network, [network.milestoneBlock!, last]);
  const { question, answer } = questionOf(network, 2);
  expect(await askWhile(rig, question, async () => {})).toEqual({ answer, pages: 2 });
  await issue(rig, network, [network.milestoneBlock!]);
  await issue(rig, network, [network.milestoneBlock!]);
  const pruned = await askWhile(rig, question, async () => {
    for (let i = 0; i < 40; i++) await prune(db, 0);
    expect(await countPacks()).toBeLessThan(10);
  });
  expect(pruned.answer).toBe(404);
});

it('the ledger is replaced: nothing of the former one counts', async () => {
  const { network, rig, last } = await startPaged();
  const { request } = network.propose({ parents: [network.milestoneBlock!, last] });
  const replace = async () => void (await startLedger(db, network, 1));
  expect((await askWhile(rig, request, replace)).answer).toBe(404);
  expect((await knownBlockIds(db)).has(last.slice(2))).toBe(false);
});
