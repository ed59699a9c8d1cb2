/**
 * What a white-flag request about a past milestone reads before it is refused
 * (src/ledger/packs/view-pages.ts).
 */
import { expect, it } from 'vitest';
import { ConeUnavailable } from '../../src/ledger/intake/block-source.ts';
import { MAX_CONE_BLOCKS, PAGE, PAGE_WITH_IDS } from '../../src/ledger/packs/view-pages.ts';
import { readView } from '../../src/ledger/view/consistent-view.ts';
import { inputsAt, outputsAt } from '../../src/stardust/white-flag/cone.ts';
import {
  ask,
  disturbed,
  issue,
  type Question,
  questionOf,
  type Rig,
  startNew,
  storeNow,
  withSplitPacks,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import { oracleAnswer } from '../support/network/oracle-view.ts';

const db = await openMemory();

/** A milestone whose blocks are in more packs than a page has, and the question about it. */
async function startLarge() {
  const { network, rig, root } = await startNew(db, 'large');
  const splitting = withSplitPacks(rig);
  let last = root;
  for (let i = 0; i < PAGE + 5; i++) {
    last = network.note([last]);
    await storeNow(withTips(splitting, last), db);
  }
  await issue(rig, network, [last]);
  return { rig, ...questionOf(network, 2) };
}

/** The answer, and how many packs were read for it. */
async function askCounting(rig: Rig, question: Question) {
  let packs = 0;
  const count = async (_: string, __: number, batch: readonly D1Result[]) => {
    const rows = batch.flatMap(({ results }) => results as { records?: unknown }[]);
    packs += rows.filter(({ records }) => records).length;
  };
  const counted = disturbed(db, async () => {}, count);
  return { answer: await ask(rig, question, { db: counted }), packs };
}

it('a request with a made-up previous milestone reads one page', async () => {
  const { rig, question, answer } = await startLarge();
  expect(await askCounting(rig, question)).toEqual({ answer, packs: PAGE + 5 });
  const previousMilestoneId = `0x${'11'.repeat(32)}`;
  for (const wrong of [{ previousMilestoneId }, { timestamp: 1 }])
    expect(await askCounting(rig, { ...question, ...wrong })).toEqual({ answer: 400, packs: PAGE });
});

it('a request over more blocks than may be walked reads none of them', async () => {
  const { rig, question } = await startLarge();
  await db
    .prepare('UPDATE milestone SET blocks = ?1 WHERE idx = 2')
    .bind(MAX_CONE_BLOCKS + 1)
    .run();
  await sealRows(db, 'milestone');
  expect(await askCounting(rig, question)).toEqual({ answer: 500, packs: 0 });
});

it('a request over several milestones reads few packs at once, and not any number of outputs', async () => {
  const { network, rig, root } = await startNew(db, 'several');
  const splitting = withSplitPacks(rig);
  let last = root;
  let [coin] = network.genesisCoins;
  for (let i = 0; i < 2 * PAGE_WITH_IDS; i++) {
    const made = network.transfer(coin!, i + 1);
    [coin] = made.coins;
    last = network.attachTransaction(made, [last]);
    await storeNow(withTips(splitting, last), db);
    if (i === PAGE_WITH_IDS) await issue(rig, network, [last]);
  }
  await issue(rig, network, [network.milestoneBlock!, last]);
  const { question } = questionOf(network, 2);
  const asked = { ...question, parents: [last] };
  const answer = await oracleAnswer(network, asked);
  const pages: number[] = [];
  const count = async (_: string, __: number, batch: readonly D1Result[]) => {
    const rows = batch.flatMap(({ results }) => results as { mentions?: unknown }[]);
    pages.push(rows.filter(({ mentions }) => mentions).length);
  };
  const counted = disturbed(db, async () => {}, count);
  expect(await ask(rig, asked, { db: counted })).toEqual(answer);
  expect(pages).toEqual([PAGE_WITH_IDS, PAGE_WITH_IDS, expect.any(Number)]);
  const named = [last.slice(2)];
  const { cone } = (await readView(db, { index: 2, named }))!;
  let outputs = 0;
  for (let at = 0; at < cone.size; at++)
    outputs += inputsAt(cone, at).length + outputsAt(cone, at).length;
  expect(await readView(db, { index: 2, named, maxMentions: outputs })).toBeDefined();
  const refused = readView(db, { index: 2, named, maxMentions: outputs - 1 });
  await expect(refused).rejects.toThrow(ConeUnavailable);
});
