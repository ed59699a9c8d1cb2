/** Long contents of outputs (docs/storage.md#long-contents): made, spent, imported. */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import {
  REST_KEYS,
  splitContents,
  writeOutputBytes,
} from '../../../src/ledger/core/output-bytes.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { output as outputCodec } from '../../../src/stardust/wire/output.ts';
import { followTo, type Rig, startLedger, startNew } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { countRests, strayRests } from '../../support/ledger/stray-rests.ts';
import { lastIndex } from '../../support/network/network-model.ts';
import { stateHashAt } from '../../support/network/state-hash-at.ts';
import { COIN_AMOUNT, type SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import type { Coin } from '../../support/network/transactions.ts';
import { basic, metadata, nft } from '../../support/payloads/outputs.ts';

const SHARE = COIN_AMOUNT / 4n;

const text = (length: number) => metadata(new Uint8Array(length).fill(0x5a));

const coinBytes = ({ output }: Coin) => encode(outputCodec, output);

/** A basic output of account 1 whose contents take so many characters. */
function ofLength(network: SyntheticNetwork, characters: number) {
  const make = (length: number) =>
    basic(network.account(1), { amount: SHARE, features: [text(length)] });
  for (let length = 1; length < 1000; length++) {
    const output = make(length);
    if (writeOutputBytes(encode(outputCodec, output)).length === characters) return output;
  }
  throw new Error(`no output has ${characters} characters`);
}

async function expectTrue({ db, network }: Rig): Promise<void> {
  const due = await stateHashAt(network, lastIndex(network));
  expect((await ledgerStateHash(db)).toHex()).toBe(due);
  expect(await strayRests(db)).toEqual([]);
}

/** A network that has made four outputs of account 1: an NFT, and basic ones. */
async function startLong(seed: string) {
  const db = await openMemory();
  const { network, rig } = await startNew(db, seed);
  const made = network.transaction(
    [{ coin: network.genesisCoins[0]!, by: network.account(0) }],
    [
      nft(network.account(1), { amount: SHARE, immutable: [text(1000)] }),
      ofLength(network, 772),
      ofLength(network, 768),
      basic(network.account(1), { amount: SHARE, features: [text(5000)] }),
    ],
  );
  const block = network.attachTransaction(made, [network.milestoneBlock!]);
  network.milestone({ parents: [network.note([block])] });
  await followTo(rig, lastIndex(network));
  return { db, network, rig, coins: made.coins };
}

it('are beside the row from 769 characters on, and are read whole', async () => {
  const { db, rig, coins } = await startLong('long contents');
  await expectTrue(rig);
  expect(await countRests(db)).toBe(3);
  for (const coin of coins) {
    const found = await readOutput(db, toHexDigits(coin.id));
    expect(found?.bytes.toHex()).toBe(coinBytes(coin).toHex());
  }
});

it('stay where they are when they are spent, and go when the milestone is pruned', async () => {
  const { db, network, rig, coins } = await startLong('spent long contents');
  const by = network.account(1);
  // spent in the milestone that makes it
  const passing = network.transaction(
    [{ coin: coins[3]!, by }],
    [basic(by, { amount: SHARE, features: [text(3000)] })],
  );
  const first = network.attachTransaction(passing, [network.milestoneBlock!]);
  const last = network.transaction(
    [
      { coin: passing.coins[0]!, by },
      { coin: coins[1]!, by },
    ],
    [basic(by, { amount: 2n * SHARE })],
  );
  network.milestone({ parents: [network.note([network.attachTransaction(last, [first])])] });
  await followTo(rig, lastIndex(network));
  await expectTrue(rig);
  expect(await countRests(db)).toBe(4);
  for (const coin of [coins[1]!, coins[3]!, passing.coins[0]!]) {
    const found = await readOutput(db, toHexDigits(coin.id));
    expect(found).toMatchObject({ spent: { index: lastIndex(network) } });
    expect(found?.bytes.toHex()).toBe(coinBytes(coin).toHex());
  }
  await prune(db, 0);
  expect(await countRests(db)).toBe(4);
  network.quietMilestone();
  await followTo(rig, lastIndex(network));
  await prune(db, 0);
  await expectTrue(rig);
  expect(await countRests(db)).toBe(1);
});

it('stay readable where an earlier version moved them to what was spent', async () => {
  const { db, network, rig, coins } = await startLong('moved long contents');
  const by = network.account(1);
  const [, spent] = coins;
  const made = network.transaction([{ coin: spent!, by }], [basic(by, { amount: SHARE })]);
  const block = network.attachTransaction(made, [network.milestoneBlock!]);
  network.milestone({ parents: [network.note([block])] });
  await followTo(rig, lastIndex(network));
  const key = (await db.prepare('SELECT max(key) AS key FROM milestone_part').first('key'))!;
  const read = () => readOutput(db, toHexDigits(spent!.id));
  const before = await read();
  const whole = [writeOutputBytes(coinBytes(spent!))];
  await db
    .prepare(`UPDATE milestone_part SET spent =
      json_remove(json_set(spent, '$[0][1]', ?1 ->> 0), '$[0][8]') WHERE key = ?2`)
    .bind(JSON.stringify(whole), key)
    .run();
  await db
    .prepare('DELETE FROM output_rest WHERE key NOT IN (SELECT rest FROM output WHERE rest > 0)')
    .run();
  expect(await read()).toEqual(before);
  await expectTrue(rig);
});

it('come with an import, behind whose keys the numbers of outputs begin', async () => {
  const { db, network } = await startLong('imported long contents');
  const rig = await startLedger(db, network, lastIndex(network));
  await expectTrue(rig);
  expect(await countRests(db)).toBe(3);
  const { next, first, last } = (await db
    .prepare(
      'SELECT next_output AS next, min(key) AS first, max(key) AS last FROM head, output_rest',
    )
    .first<{ next: number; first: number; last: number }>())!;
  // an earlier version goes on with numbers as keys
  expect(first).toBeGreaterThan(REST_KEYS.from);
  expect(REST_KEYS.from + REST_KEYS.step * next).toBeGreaterThan(last);
});

it('are damaged where the rest is missing, or is that of another output', async () => {
  const { db, coins } = await startLong('lost long contents');
  const [nftId, longId] = [coins[0]!, coins[3]!].map(({ id }) => toHexDigits(id));
  const { rest } = splitContents(writeOutputBytes(coinBytes(coins[3]!)));
  const key = db.prepare('SELECT rest FROM output WHERE id = ?1').bind(nftId);
  const exchange = 'UPDATE output_rest SET bytes = ?1 WHERE key = ?2';
  await db
    .prepare(exchange)
    .bind(rest, await key.first('rest'))
    .run();
  await expect(readOutput(db, nftId!)).rejects.toThrow(LedgerDamaged);
  await db.prepare('DELETE FROM output_rest').run();
  await expect(readOutput(db, longId!)).rejects.toThrow(LedgerDamaged);
});

/** Two outputs beside each other that differ in the rest of their contents alone. */
async function startTwins(isImported: boolean) {
  const db = await openMemory();
  const { network, rig } = await startNew(db, 'twins');
  const made = network.transaction(
    [{ coin: network.genesisCoins[0]!, by: network.account(0) }],
    [1, 2].map((fill) =>
      basic(network.account(1), {
        amount: COIN_AMOUNT / 2n,
        features: [metadata(new Uint8Array(1000).fill(fill))],
      }),
    ),
  );
  const block = network.attachTransaction(made, [network.milestoneBlock!]);
  network.milestone({ parents: [network.note([block])] });
  await followTo(rig, lastIndex(network));
  if (isImported) await startLedger(db, network, lastIndex(network));
  return { db, coins: made.coins };
}

/** Bits of a cell that has a number. */
const BITS = Array.from({ length: 48 }, (_, bit) => 2n ** BigInt(bit));

it.each([
  ['output', 'rest', false],
  ['output', 'rest', true],
  ['output_rest', 'key', false],
  ['output_rest', 'key', true],
] as const)(
  'never are those of another where a bit of %s.%s is flipped',
  async (table, column, isImported) => {
    const { db, coins } = await startTwins(isImported);
    const keys = `SELECT ${column} AS key FROM ${table} WHERE ${column} IS NOT NULL`;
    const { results } = await db.prepare(keys).all<{ key: number }>();
    expect(results).toHaveLength(2);
    const change = (to: bigint, from: bigint) =>
      db.prepare(`UPDATE ${table} SET ${column} = ?1 WHERE ${column} = ?2`).bind(to, from).run();
    let damaged = 0;
    for (const key of results.map((row) => BigInt(row.key)))
      for (const bit of BITS) {
        await change(key ^ bit, key);
        for (const { id, ...coin } of coins) {
          const read = readOutput(db, toHexDigits(id));
          const bytes = await read.then((found) => found?.bytes.toHex()).catch(() => 'damaged');
          expect(['damaged', coinBytes({ id, ...coin }).toHex()]).toContain(bytes);
          if (bytes === 'damaged') damaged++;
        }
        await change(key, key ^ bit);
      }
    expect(damaged).toBe(2 * BITS.length);
  },
);
