/**
 * Questions about blocks that are not stored: the follower stores what it holds or fetches, and D1
 * is read again (docs/architecture.md#the-follower).
 */

import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { bring } from '../../src/follower/bring/bring-blocks.ts';
import { noteLedger, takePushed } from '../../src/follower/follower-context.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { readView } from '../../src/ledger/view/consistent-view.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import {
  issue,
  type Question,
  type Rig,
  requestOf,
  rootsOf,
  startNew,
  storeNow,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import { listening } from '../support/network/direct-upstream.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

async function start(seed: string): Promise<Rig & { network: SyntheticNetwork }> {
  const { rig, network } = await startNew(db, seed);
  noteLedger(rig.following.memory, await readPosition(db, rig.following));
  return { ...rig, network };
}

/** With 20 blocks that no milestone references. */
async function startOpen(seed: string) {
  const rig = await start(seed);
  const { network } = rig;
  for (let i = 0; i < 20; i++) network.note();
  return { rig, network };
}

function pushOpen({ following, network }: Rig): void {
  for (const { referenced, bytes } of network.blocks.values())
    if (referenced === undefined) takePushed(following.memory, 'block', bytes);
}

/** The roots, or the reason of the refusal; and how many blocks were fetched for them. */
async function ask(rig: Rig, question: Question, { isFed = true, waits = async () => {} } = {}) {
  const { upstream, read } = listening(rig.upstream);
  const context = { ...rig.following, upstreams: [upstream], isFed: () => isFed };
  const result = await computeWhiteFlag(db, requestOf(question), {
    rules: { keys: rig.network.keys, verify: verifySignature },
    async bring(wanted) {
      await waits();
      return { db, notBrought: await bring(context, wanted) };
    },
  });
  return { answer: result.ok ? rootsOf(result) : result.reason, fetched: read.length };
}

it('are answered once these are stored, and nothing is fetched', async () => {
  const { rig, network } = await startOpen('held');
  pushOpen(rig);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual({ answer: response, fetched: 0 });
  expect(rig.following.memory.pool.pushed()).toEqual([]);
});

it('are answered though a milestone is applied meanwhile', async () => {
  const { rig, network } = await startOpen('held and applied');
  pushOpen(rig);
  const { request, response } = network.propose();
  const waits = async () => {
    network.milestone(request);
    await takeNext(rig, db);
  };
  expect((await ask(rig, request, { waits })).answer).toEqual(response);
});

it('are answered though a milestone was applied just before', async () => {
  const { rig, network } = await startOpen('applied and held');
  const { request, response } = network.propose();
  await issue(rig, network, [network.milestoneBlock!]);
  pushOpen(rig);
  expect(await ask(rig, request)).toEqual({ answer: response, fetched: 0 });
});

it('are fetched where the follower has no feed, and stored', async () => {
  const { rig, network } = await startOpen('not held');
  const { request, response } = network.propose();
  const first = await ask(rig, request, { isFed: false });
  expect(first.answer).toEqual(response);
  expect(first.fetched).toBeGreaterThan(15);
  expect(await ask(rig, request, { isFed: false })).toEqual({ answer: response, fetched: 0 });
});

it('are waited for where the feed brings them a moment later', async () => {
  const { rig, network } = await startOpen('on their way');
  const { request, response } = network.propose();
  setTimeout(() => pushOpen(rig), 15);
  expect(await ask(rig, request)).toEqual({ answer: response, fetched: 0 });
});

it('read no packs where a parent is missing, and all of them where none is', async () => {
  const rig = await start('partial');
  const { network } = rig;
  const referenced = network.note();
  await issue(rig, network, [network.milestoneBlock!, referenced]);
  const stored = [network.milestoneBlock!, network.note(), network.note(), network.note()];
  await storeNow(rig, db);
  const missing = network.note();
  const read = async (ids: string[], withStaged = false) => {
    const named = ids.map((id) => id.slice(2));
    const { cone, named: known } = (await readView(db, { index: 3, named, withStaged }))!;
    return { blocks: cone.size, known: known.size };
  };
  const all = { blocks: stored.length, known: 2 };
  expect(await read([stored[0]!, stored[3]!])).toEqual(all);
  expect(await read([stored[0]!, referenced])).toEqual(all);
  expect(await read([stored[0]!, missing])).toMatchObject({ blocks: 0 });
  expect(await read([referenced, missing])).toMatchObject({ blocks: 0 });
  // to apply a milestone all are read: a parent may be staged
  expect(await read([stored[0]!, missing], true)).toEqual({ ...all, known: 1 });
  // about the milestone that is applied the view is whole as ever
  const past = await readView(db, { index: 2, named: [referenced.slice(2)] });
  expect(past!.cone.size).toBeGreaterThan(0);
});
