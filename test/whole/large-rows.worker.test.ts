/**
 * Milestones that need more than one row: none of them comes near the 2,000,000 bytes that D1
 * allows, and all that is kept of them is found (src/ledger/packs/pack-columns.ts).
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { ledgerStateHash } from '../../src/ledger/read/ledger-state-hash.ts';
import { readOutput } from '../../src/ledger/read/output-status.ts';
import { explainMilestone, proveBlock } from '../../src/modules/proofs/applied-milestone.ts';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { expectAudit } from '../support/ledger/expect-roots.ts';
import {
  issue,
  startLedger,
  startNew,
  storeNow,
  takeNext,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { coneOf, stateHash } from '../support/network/network-model.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { basic, metadata, nft } from '../support/payloads/outputs.ts';
import { stopClock } from '../support/stopped-clock.ts';

const db = env.LEDGER;

stopClock();

/** Of each row of a table, the bytes of all its columns. */
async function rowSizes(table: string, columns: readonly string[]): Promise<number[]> {
  const sum = columns.map((name) => `octet_length(${name})`).join(' + ');
  const { results } = await db
    .prepare(`SELECT ${sum} AS size FROM ${table} ORDER BY key`)
    .all<{ size: number }>();
  return results.map(({ size }) => size);
}

const PACK = ['sums', 'records', 'statuses', 'states', 'unresolved', 'blocks', 'outputs'];
const CONTENT = ['bytes', 'outputs', 'details'];
const PART = ['packs', 'blocks', 'spent'];

/** Below what D1 allows, with room for what is counted otherwise. */
const MOST = 1_800_000;

it('two transactions that consume 130 outputs of 8 KB', async () => {
  const network = new SyntheticNetwork({
    seed: 'large outputs',
    coins: (account) =>
      Array.from({ length: 130 }, (_, i) => {
        const nftId = new Uint8Array(32).fill(i + 1);
        const immutable = [metadata(new Uint8Array(8192).fill(i))];
        return nft(account(0), { amount: COIN_AMOUNT, nftId, immutable });
      }),
  });
  network.milestone();
  const by = network.account(0);
  const burn = (from: number, to: number) => {
    const inputs = network.genesisCoins.slice(from, to).map((coin) => ({ coin, by }));
    const amount = BigInt(inputs.length) * COIN_AMOUNT;
    return network.transaction(inputs, [basic(by, { amount })]);
  };
  const burns = [burn(0, 128), burn(128, 130)];
  const blocks = burns.map((each) => network.attachTransaction(each, [network.milestoneBlock!]));
  network.milestone({ parents: [network.milestoneBlock!, ...blocks] });
  const rig = await startLedger(db, network, 0);
  await takeNext(rig, db);
  await takeNext(rig, db);

  // milestone 2 has its blocks and the first 128 outputs in one row, and another for the others
  const sizes = await rowSizes('milestone_part', PART);
  expect(sizes.length).toBeGreaterThan(1);
  for (const [table, columns] of [
    ['pack', PACK],
    ['pack_content', CONTENT],
  ] as const)
    expect(Math.max(...(await rowSizes(table, columns)))).toBeLessThan(MOST);
  expect(Math.max(...sizes)).toBeLessThan(MOST);
  expect((await ledgerStateHash(db)).toHex()).toBe(stateHash(network, 2));
  for (const [i, { id, bytes }] of network.genesisCoins.entries()) {
    const transactionId = toHexDigits(burns[Math.floor(i / 128)]!.id);
    const output = await readOutput(db, toHexDigits(id));
    expect(output?.bytes).toEqual(bytes);
    expect(output?.spent).toMatchObject({ index: 2, transactionId });
  }
  const explained = await explainMilestone(db, 2);
  expect(explained?.blocks.map(({ blockId, reason }) => [blockId, reason])).toEqual(
    expect.arrayContaining(blocks.map((block) => [block.slice(2), 0])),
  );
  await expectAudit(rig, 2);
});

it('1,500 blocks, some of them of 32 KB, stored before and not', async () => {
  const { network, rig } = await startNew(db, 'many blocks');
  const large = new Uint8Array(32_000).fill(7);
  let last = network.milestoneBlock!;
  const add = (count: number): string[] => {
    const added: string[] = [];
    for (let i = 0; i < count; i++) {
      const data = i % 20 === 0 ? large.slice(i) : new Uint8Array([i, i >> 8]);
      last = network.note([last], data);
      added.push(last);
    }
    return added;
  };
  for (let pass = 0; pass < 3; pass++) {
    const tips = add(250);
    await storeNow(withTips(rig, ...tips), db);
  }
  const stored = await rowSizes('pack_content', CONTENT);
  expect(stored.length).toBeGreaterThan(2);
  expect(Math.max(...stored)).toBeLessThan(MOST);
  add(750);
  await issue(rig, network, [last]);
  const sizes = await rowSizes('pack_content', CONTENT);
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.max(...sizes)).toBeLessThan(MOST);

  const cone = coneOf(network, 2);
  expect(cone).toHaveLength(1501);
  const explained = await explainMilestone(db, 2);
  expect(explained?.blocks.map(({ blockId }) => `0x${blockId}`)).toEqual(cone.map(({ id }) => id));
  for (const position of [0, 1, 255, 256, 700, 701, 1499, 1500]) {
    const proof = await proveBlock(db, cone[position]!.id.slice(2));
    expect([position, proof?.position]).toEqual([position, position]);
    expect(proof?.block).toEqual(new Uint8Array(cone[position]!.bytes));
  }
  await expectAudit(rig, 2);
  // the milestone's own block comes with the next pass
  const live = await db.prepare('SELECT count(*) AS count FROM pack WHERE live = 1').first('count');
  expect(live).toBe(0);
});
