/**
 * A ledger that moves while a request reads it: the request is answered, refused, or fails with
 * LedgerMoved, and never with an error about what it no longer found.
 */
import { expect, it, vi } from 'vitest';
import { LedgerMoved } from '../../src/ledger/core/fence.ts';
import { dropUnneeded } from '../../src/ledger/write/drop-blocks.ts';
import { createUnreferencedIndex } from '../../src/ledger/write/unreferenced-index.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import {
  ask,
  disturbed,
  startLedger,
  startNew,
  storeNow,
  takeNext,
  withoutVerdicts,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

vi.spyOn(console, 'warn').mockImplementation(() => {});

const db = await openMemory();

/** A proposal over a transaction whose verdict the request has to make, and how it moves on. */
async function startUndecided() {
  const { network, rig, root } = await startNew(db, 'moved');
  const made = network.transfer(network.genesisCoins[0]!, 1);
  const producer = network.attachTransaction(made, [root]);
  const waiting = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
  const kept = network.note([root]);
  const dying = withoutVerdicts(db);
  for (const id of [waiting, producer, kept])
    await storeNow(withTips(rig, id), dying).catch((error) => expect(error.message).toBe('killed'));
  network.milestone({ parents: [root, producer] });
  await takeNext(rig, dying);
  const { request, response } = network.propose({ parents: [network.milestoneBlock!, waiting] });
  await storeNow(withTips(rig, network.milestoneBlock!), dying);
  const moves = {
    replaced: () => startLedger(db, network, network.genesis.index),
    evicted: () =>
      dropUnneeded(db, createUnreferencedIndex(), async () => [kept.slice(2)], {
        blocks: 1,
        bytes: 1e9,
      }),
  };
  return { rig, request, response, moves };
}

it.each(['replaced', 'evicted'] as const)('is never taken for damage: %s', async (move) => {
  const outcomes = new Set<unknown>();
  // before each batch in turn, and once after the last
  let batches = 1;
  for (let at = 1; batches >= at - 1; at++) {
    batches = 0;
    const { rig, request, response, moves } = await startUndecided();
    const meanwhile = disturbed(db, async (_, batch) => {
      batches = batch;
      if (batch === at) await moves[move]();
    });
    const answer = await ask(rig, request, { db: meanwhile }).catch((error) => {
      expect(error).toBeInstanceOf(LedgerMoved);
      return 'moved';
    });
    if (typeof answer === 'object') expect(answer).toEqual(response);
    outcomes.add(typeof answer === 'object' ? 'answered' : answer);
  }
  expect(outcomes).toContain('answered');
  expect(outcomes).toContain(404);
});

it('is asked again for what an import took away while it was brought', async () => {
  const { network, root } = await startNew(db, 'brought');
  const { request } = network.propose({ parents: [root, network.note([root])] });
  const parents = request.parents.map((id) => id.slice(2));
  const asked = { ...request, parents, previousMilestoneId: request.previousMilestoneId!.slice(2) };
  const given = [undefined, { fault: 'upstream-failed', detail: 'down' }] as const;
  let times = 0;
  const bring = async () => {
    const notBrought = given[times++];
    if (notBrought === undefined) await startLedger(db, network, request.index - 1);
    return { db, notBrought };
  };
  const rules = { keys: network.keys, verify: verifySignature };
  const answer = await computeWhiteFlag(db, asked, { rules, bring });
  expect([times, answer]).toEqual([2, { ok: false, reason: 'failed', detail: 'down' }]);
});
