/**
 * Questions about blocks that the follower holds and has not stored yet: it is told to store them,
 * and the question is put again (docs/architecture.md#the-follower).
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { noteLedger } from '../../src/follower/follower-context.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { storePushed } from '../../src/follower/pushed/store-pushed.ts';
import { readView } from '../../src/ledger/view/consistent-view.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { createProposalSource } from '../../src/upstream/fetch-blocks.ts';
import {
  type Question,
  type Rig,
  startNew,
  storeNow,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

async function start(seed: string): Promise<Rig & { network: SyntheticNetwork }> {
  const { rig, network } = await startNew(db, seed);
  noteLedger(rig.following.memory, await readPosition(db, rig.following));
  return { ...rig, network };
}

function pushOpen({ following, network }: Rig): void {
  for (const { referenced, bytes } of network.blocks.values())
    if (referenced === undefined) following.memory.pushed.take('blocks', bytes);
}

/** The roots, or the reason of the refusal; and what was done for them. */
async function ask({ network, upstream }: Rig, question: Question, storeHeld: () => unknown) {
  const done = new Set<string>();
  const request = {
    index: question.index,
    timestamp: question.timestamp,
    parents: question.parents.map((id) => id.slice(2)),
    previousMilestoneId: question.previousMilestoneId!.slice(2),
  };
  const limits = { maxBlocks: 2000, deadline: Date.now() + 10_000 };
  const result = await computeWhiteFlag(db, request, {
    keys: network.keys,
    openSource: ({ ledger }) => {
      const options = { upstreams: [upstream], index: ledger + 1, limits, fetched: new Map() };
      const source = createProposalSource(options);
      const fetch = (ids: readonly string[]) => {
        done.add('fetched');
        return source.fetch(ids);
      };
      return { ...source, fetch };
    },
    storePushed: async () => {
      done.add('stored');
      return (await storeHeld()) === false ? undefined : db;
    },
  });
  if (!result.ok) return { answer: result.reason, done: [...done] };
  const { inclusionMerkleRoot, appliedMerkleRoot } = result;
  const answer = {
    inclusionMerkleRoot: toHex(inclusionMerkleRoot),
    appliedMerkleRoot: toHex(appliedMerkleRoot),
  };
  return { answer, done: [...done] };
}

it('are answered once these are stored, and nothing is fetched', async () => {
  const rig = await start('held');
  const { network } = rig;
  for (let i = 0; i < 20; i++) network.note();
  pushOpen(rig);
  const { request, response } = network.propose();
  const store = () => storePushed(rig.following);
  expect(await ask(rig, request, store)).toEqual({ answer: response, done: ['stored'] });
  // all is stored now
  expect(await ask(rig, request, store)).toEqual({ answer: response, done: [] });
});

it('are answered though a milestone is applied meanwhile', async () => {
  const rig = await start('held and applied');
  const { network } = rig;
  for (let i = 0; i < 20; i++) network.note();
  const { request, response } = network.propose();
  const { answer } = await ask(rig, request, async () => {
    network.milestone(request);
    await takeNext(rig, db);
  });
  expect(answer).toEqual(response);
});

it('are answered though a milestone was applied just before', async () => {
  const rig = await start('applied and held');
  const { network } = rig;
  for (let i = 0; i < 20; i++) network.note();
  const { request, response } = network.propose();
  network.milestone({ parents: [network.milestoneBlock!] });
  await takeNext(rig, db);
  pushOpen(rig);
  const store = () => storePushed(rig.following);
  expect(await ask(rig, request, store)).toEqual({ answer: response, done: ['stored'] });
});

it('are fetched for where the follower has no feed', async () => {
  const rig = await start('not held');
  const { network } = rig;
  for (let i = 0; i < 20; i++) network.note();
  const { request, response } = network.propose();
  const { answer, done } = await ask(rig, request, () => false);
  expect(answer).toEqual(response);
  expect(done).toEqual(['stored', 'fetched']);
});

it('read no packs where a parent is missing, and all of them where none is', async () => {
  const rig = await start('partial');
  const { network } = rig;
  const referenced = network.note();
  network.milestone({ parents: [network.milestoneBlock!, referenced] });
  await takeNext(rig, db);
  const stored = [network.milestoneBlock!, network.note(), network.note(), network.note()];
  await storeNow(rig, db);
  const missing = network.note();
  const read = async (ids: string[], ifKnown: boolean) => {
    const named = ids.map((id) => id.slice(2));
    const { isPartial, cone, named: known } = (await readView(db, { index: 3, named, ifKnown }))!;
    return { isPartial, blocks: cone.size, known: known.size };
  };
  const all = { isPartial: false, blocks: stored.length, known: 2 };
  expect(await read([stored[0]!, stored[3]!], true)).toEqual(all);
  expect(await read([stored[0]!, referenced], true)).toEqual(all);
  expect(await read([stored[0]!, missing], true)).toMatchObject({ isPartial: true, blocks: 0 });
  expect(await read([referenced, missing], true)).toMatchObject({ isPartial: true, blocks: 0 });
  expect(await read([stored[0]!, missing], false)).toEqual({ ...all, known: 1 });
  // about the milestone that is applied the view is whole as ever
  const past = await readView(db, { index: 2, named: [referenced.slice(2)], ifKnown: true });
  expect(past).toMatchObject({ isPartial: false });
  expect(past!.cone.size).toBeGreaterThan(0);
});
