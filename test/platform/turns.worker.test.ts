/**
 * Long work on D1 and KV lets come in between what waits for the event loop, as requests do
 * (src/platform/clock.ts).
 */

import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { createFollowerMemory, watchDatabase } from '../../src/follower/follower-context.ts';
import { createWorkLimit } from '../../src/http/access/limits.ts';
import { readHead } from '../../src/ledger/core/head.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import type { IndexStore } from '../../src/nft-index/ports.ts';
import { publish } from '../../src/nft-index/publish.ts';
import { openNode } from '../../src/node/edge-node.ts';
import { madeSnapshot } from '../support/cli/made-snapshot.ts';
import { defaultSettings } from '../support/default-settings.ts';
import { asFile } from '../support/ledger/ledger-harness.ts';

const MOST_CALLS = 500;
const BUDGET = { operations: 300, statements: 200 };

/** Calls until something that waits gets its turn. */
async function countCalls(call: () => Promise<unknown>): Promise<number> {
  let [calls, waits] = [0, true];
  setTimeout(() => {
    waits = false;
  });
  while (waits && calls < MOST_CALLS) {
    await call();
    calls++;
  }
  return calls;
}

test('without turns nothing else would come before the calls end', async () => {
  expect(await countCalls(() => env.LEDGER.prepare('SELECT 1').all())).toBe(MOST_CALLS);
  expect(await countCalls(() => env.NFT_INDEX.put('key', 'value'))).toBe(MOST_CALLS);
});

test('between two calls of the follower to D1', async () => {
  const db = watchDatabase(env.LEDGER, createFollowerMemory());
  expect(await countCalls(() => db.prepare('SELECT 1').all())).toBeLessThan(MOST_CALLS);
});

const id = 'ab'.repeat(32);
const node = openNode({
  ...defaultSettings({ LEDGER: env.LEDGER, NFT_INDEX: env.NFT_INDEX, FOLLOWER: env.FOLLOWER }),
  oneIsolate: true,
});

/** Reads that have several steps, or of which many may be asked for at once. */
const READS: Readonly<Record<string, () => Promise<unknown>>> = {
  session: () => readHead(node.session()),
  'answer to a proposal': () =>
    node.answerProposal(
      { index: 1, timestamp: 1, parents: [id], previousMilestoneId: '0'.repeat(64) },
      '192.0.2.1',
      async (db) => {
        await readHead(db);
        return { ok: true };
      },
    ),
};

test.each(Object.entries(READS))('between two calls of a read: %s', async (_, read) => {
  expect(await countCalls(read)).toBeLessThan(MOST_CALLS);
});

test.each(['scan', 'explanation', 'gallery'] as const)('before long work: %s', async (kind) => {
  const limit = createWorkLimit(Date.now, kind);
  const request = new Request('https://edge.invalid/');
  expect(await countCalls(() => limit(request, async () => {}))).toBeLessThanOrEqual(1);
});

test('between two puts of the publisher', async () => {
  await loadSnapshot(env.LEDGER, asFile(madeSnapshot(10 * BUDGET.operations)), undefined);
  let puts = 0;
  let putsBefore: number | undefined;
  const store: IndexStore = {
    get: (...request) => env.NFT_INDEX.get(...request),
    async put(...pair) {
      await env.NFT_INDEX.put(...pair);
      puts++;
    },
  };
  setTimeout(() => {
    putsBefore = puts;
  });
  await publish(openIndexLedger(env.LEDGER), store, Date.now, BUDGET);
  expect(puts).toBeGreaterThan(BUDGET.operations / 2);
  expect(putsBefore).toBeLessThan(puts);
});
