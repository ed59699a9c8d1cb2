/**
 * What could stop a node, against the built Worker as `npm run serve` runs it: a forged milestone
 * below large conflicting transactions, many small stores without a milestone, and numbers beyond
 * 32 bits. `npm run test:slow -- hostile` has what takes longer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { openDatabase } from '../support/edge/d1-file.ts';
import {
  askRoots,
  type Fed,
  followFeed,
  issueMilestone,
  SUBSCRIBE_MS,
} from '../support/edge/follow-feed.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import { forgedSignature, signMilestone } from '../support/network/milestones.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { metadata, nft } from '../support/payloads/outputs.ts';

async function expectRoots(fed: Fed, parents: readonly string[]): Promise<void> {
  const { request, response } = fed.network.propose({ parents });
  const { told } = await askRoots(fed, request);
  expect(told).toEqual({ status: 200, detail: null, body: response });
}

/** A block with a milestone payload that nobody signed: it needs no proof of work. */
function attachForged(network: SyntheticNetwork, below: string): string {
  const payload = signMilestone(
    {
      type: 7,
      index: 4_000_000_000,
      timestamp: network.nextTimestamp,
      protocolVersion: 2,
      previousMilestoneId: new Uint8Array(32),
      parents: [fromHex(below)],
      inclusionMerkleRoot: new Uint8Array(32),
      appliedMerkleRoot: new Uint8Array(32),
      metadata: new Uint8Array(),
      options: [],
    },
    network.signers,
  );
  return network.attachMilestone(forgedSignature(payload), [below]);
}

it('blocks upon a forged milestone are stored, and a new isolate need not fetch them', async () => {
  await using running = await followFeed('forged');
  const { network, double: node } = running;
  let last = attachForged(network, network.note([network.milestoneBlock!]));
  for (let i = 0; i < 10; i++) last = network.note([last]);
  await node.mqtt!.pushNews();
  await vi.waitFor(() => expectRoots(running, [last]), { timeout: 300_000, interval: 500 });
  await running.restart();
  node.forget();
  await expectRoots(running, [last]);
  expect(node.requests.filter(({ route }) => route.name === 'block')).toEqual([]);
});

/** Transactions of 25 KB that consume one coin. */
const CONFLICTS = 200;

it('a milestone is applied that references large conflicts upon a forged milestone', async () => {
  await using running = await followFeed('conflicts');
  const { network, double: node } = running;
  let last = attachForged(network, network.note([network.milestoneBlock!]));
  for (let i = 0; i < CONFLICTS; i++) {
    const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
    const outputs = [0, 1, 2].map(() =>
      nft(network.account(1), {
        amount: 100_000_000n,
        immutable: [metadata(network.random.bytes(8100))],
      }),
    );
    last = network.attachTransaction(network.transaction([spend], outputs), [last]);
  }
  await node.mqtt!.pushNews();
  await issueMilestone(running, [last]);
  await expectRoots(running, [network.milestoneBlock!]);
});

/** Each makes the follower store a block by itself. */
const STORES = 60;

it('many small stores between two milestones leave few packs', async () => {
  await using running = await followFeed('stores');
  const { network, double: node, persistTo } = running;
  let last = network.milestoneBlock!;
  for (let i = 0; i < STORES; i++) {
    last = network.note([last]);
    await node.mqtt!.pushNews();
    await expectRoots(running, [last]);
  }
  using db = openDatabase(persistTo);
  const { packs, blocks } = db.prepare(COUNT_PACKS).get()!;
  expect(Number(blocks)).toBeGreaterThanOrEqual(STORES);
  expect(Number(packs)).toBeLessThanOrEqual(2);
});

const COUNT_PACKS = `
  SELECT count(*) AS packs, sum(length(statuses)) / 8 AS blocks FROM pack WHERE live = 1`;

it.each([2 ** 32 - 5, 2 ** 53 - 1000])(
  'blocks and outputs with numbers from %i on get the right roots',
  async (first) => {
    await using running = await followFeed('numbers', {}, async (folder) => {
      using db = openDatabase(folder);
      db.exec(`UPDATE head SET next_block = ${first}, next_output = ${first}`);
      const ledger = new SqliteDatabase(db.location()!);
      await sealRows(ledger, 'head');
      ledger.close();
    });
    const { network, double: node } = running;
    const transfer = (i: number, parent: string) => {
      return network.attachTransaction(network.transfer(network.genesisCoins[i]!, i + 1), [parent]);
    };
    let last = network.milestoneBlock!;
    for (let i = 0; i < 8; i++) last = transfer(i, last);
    await node.mqtt!.pushNews();
    await sleep(SUBSCRIBE_MS);
    await expectRoots(running, [last]);
    // not pushed: it has to be fetched
    const side = network.note([network.milestoneBlock!]);
    await expectRoots(running, [last, side]);
    await expectRoots(running, [side, last]);
    await issueMilestone(running, [last, side]);
    await issueMilestone(running, [transfer(8, network.milestoneBlock!)]);
    await expectRoots(running, [network.milestoneBlock!]);
  },
);
