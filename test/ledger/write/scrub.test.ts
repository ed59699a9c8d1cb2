/**
 * The scrub and the fingerprints (src/ledger/write/scrub.ts): after any history the fingerprint is
 * that of the rows, however scrubbing and milestones take turns; and whatever is damaged is found.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { chainIdOf, decodeOutput } from '../../../src/stardust/wire/ids.ts';
import {
  disturbed,
  followTo,
  ledgerIndex,
  startLedger,
  storeNow,
  takeNext,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import { lastIndex, ledgerAt, type Network } from '../../support/network/network-model.ts';
import { randomNetwork } from '../../support/network/random-network.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { indexEveryKind } from '../../support/nft-list/listed-ledger.ts';
import { basic, metadata, nft } from '../../support/payloads/outputs.ts';

const MODULUS = 2n ** 52n;

/** Digits in words of ten, as numbers, and how many they are; anything else is told by its own sum. */
const words = (hex: string) =>
  (hex.match(/.{1,10}/g) ?? []).reduce(
    (sum, word) => sum + BigInt(`0x${word}`),
    BigInt(hex.length),
  );

/** By the model of the network: nothing of the ledger's code. */
function expectedFingerprint(network: Network, index: number): number {
  let sum = 0n;
  for (const output of ledgerAt(network, index)) {
    sum += words(Buffer.from(output.outputId).toString('hex'));
    sum += words(Buffer.from(output.blockId).toString('hex'));
    const chain = chainIdOf(decodeOutput(output.bytes), output.outputId);
    sum += words(Buffer.from(chain ?? []).toString('hex'));
    sum += BigInt(output.bookedIndex) + BigInt(output.bookedTimestamp);
  }
  return Number(sum % MODULUS);
}

async function fingerprints(db: Database): Promise<Record<string, number>> {
  return { ...(await readHead(db))!.integrity.fingerprints };
}

/** A whole round from wherever the scrub stands: the rest of this one, and the next. */
async function scrubAll(db: Database, most = 7): Promise<void> {
  for (let rounds = 0; rounds < 2; ) if (await scrub(db, most)) rounds++;
}

it('milestones, imports and scrubs come to the same fingerprints', async () => {
  const steps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(fc.nat(), steps, async (seed, rows) => {
      const network = randomNetwork({ seed: `scrub ${seed}`, milestones: 10, events: 20 });
      const db = await openMemory();
      // tables of IDs begin and end within the history
      const rig = await startLedger(db, network, network.genesis.index, { retention: 2 });
      for (let index = network.genesis.index + 1; index <= lastIndex(network); index++) {
        await followTo(rig, index);
        expect((await fingerprints(db)).output).toBe(expectedFingerprint(network, index));
        const most = rows[index % rows.length]!;
        if (most > 0) await scrub(db, most);
      }
      const moved = await fingerprints(db);
      await scrubAll(db);
      expect(await fingerprints(db)).toEqual(moved);

      const imported = await openMemory();
      await startLedger(imported, network, lastIndex(network));
      expect((await fingerprints(imported)).output).toBe(moved.output);
      await scrubAll(imported);
    }),
    { numRuns: 3 },
  );
});

const NETWORKS = process.env.SLOW
  ? (['network-a', 'network-n', 'network-k'] as const)
  : (['network-k'] as const);

it.each(NETWORKS)('%s with each kind indexed', async (name) => {
  const network = recordedNetwork(name);
  const db = await openMemory();
  const { index } = network.genesis;
  const rig = await startLedger(db, network, index);
  await indexEveryKind(db);
  for (let to = index + 3; to <= Math.min(index + 45, lastIndex(network)); to += 5) {
    await followTo(rig, to);
    await scrub(db, 11);
    expect((await fingerprints(db)).output).toBe(expectedFingerprint(network, to));
  }
  await scrubAll(db);
});

it('rounds end though each step finds new milestones and outputs of NFTs, and find what vanished', async () => {
  const network = new SyntheticNetwork({ seed: 'live' });
  network.milestone();
  const owner = network.account(0);
  let [coin] = network.genesisCoins;
  for (let i = 0; i < 90; i++) {
    const rest = basic(owner, { amount: coin!.output.amount - 1_000_000n });
    const made = network.transaction(
      [network.spendOf(coin!)],
      [rest, nft(owner, { amount: 1_000_000n })],
    );
    coin = made.coins[0];
    network.milestone({ parents: [network.attachTransaction(made, [network.milestoneBlock!])] });
  }
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  await indexEveryKind(db);
  let rounds = 0;
  for (let i = 0; i < 60; i++) {
    await takeNext(rig, db);
    if (await scrub(db)) rounds++;
  }
  expect(rounds).toBeGreaterThan(2);
  await db.prepare('DELETE FROM output WHERE id = (SELECT min(id) FROM output)').run();
  const goOn = async () => {
    for (let i = 0; i < 30; i++) {
      await scrub(db);
      await takeNext(rig, db);
    }
  };
  await expect(goOn()).rejects.toThrow(LedgerDamaged);
});

it('an end before any batch leaves a scrub that goes on', async () => {
  const network = randomNetwork({ seed: 'ends', milestones: 5, events: 30 });
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  await followTo(rig, 4);
  const image = Buffer.from(db.serialize());
  for (let end = 1; end <= 40; end++) {
    db.deserialize(image);
    const dying = disturbed(db, async (_, batch) => {
      if (batch === end) throw new Error('the end');
    });
    await scrubAll(dying).catch((error: Error) => expect(error.message).toBe('the end'));
    await scrubAll(db);
    expect((await fingerprints(db)).output).toBe(expectedFingerprint(network, 4));
  }
});

it('a milestone that comes within a step makes it fail, and damages nothing', async () => {
  const network = randomNetwork({ seed: 'within', milestones: 8, events: 30 });
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  for (let index = 1; index <= 8; index++) {
    const beside = disturbed(db, async (sql) => {
      if (sql.includes('UPDATE head')) await followTo(rig, index);
    });
    await expect(scrub(beside, 5)).rejects.toThrow(LedgerMoved);
    await scrub(db, 9);
    expect((await fingerprints(db)).output).toBe(expectedFingerprint(network, index));
  }
  await scrubAll(db);
});

/** A ledger whose first round has begun, made once. */
const scrubbed = once(async () => {
  const network = recordedNetwork('network-n');
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  await indexEveryKind(db);
  rig.following.memory.upkeep.scrubbedAt = Date.now();
  await followTo(rig, network.genesis.index + 30);
  await scrub(db, 5);
  return { network, image: Buffer.from(db.serialize()) };
});

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Changes the first digit. */
const flip = (column: string) =>
  `iif(substr(${column}, 1, 1) = '0', '1', '0') || substr(${column}, 2)`;
const someRow = (table: string, key: string) =>
  `${key} = (SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT 1 OFFSET 3)`;
const someNft = 'output = (SELECT output FROM nft WHERE output IS NOT NULL LIMIT 1 OFFSET 1)';

const someListed =
  'output = (SELECT unhex(output) FROM nft WHERE output IS NOT NULL LIMIT 1 OFFSET 1)';

it.each([
  ['a row of output vanished', 'output', `DELETE FROM output WHERE ${someRow('output', 'id')}`],
  [
    'a key of output',
    'output',
    `UPDATE output SET id = ${flip('id')} WHERE ${someRow('output', 'id')}`,
  ],
  [
    'a row of output has another block',
    'output',
    `UPDATE output SET block = ${flip('block')} WHERE ${someRow('output', 'id')}`,
  ],
  [
    'the contents of an output',
    'contents of output',
    `UPDATE output SET bytes = substr(bytes, 1, 20) || iif(substr(bytes, 21, 1) = 'A', 'B', 'A') ||
      substr(bytes, 22) WHERE ${someRow('output', 'id')}`,
  ],
  [
    'the chain of an NFT',
    'output',
    // the last one, which the round has before it comes to the table nft
    `UPDATE output SET chain = ${flip('chain')} WHERE id = (SELECT max(output) FROM nft)`,
  ],
  ['a row of nft vanished', 'nft', `DELETE FROM nft WHERE ${someNft}`],
  ['a key of nft', 'nft', `UPDATE nft SET id = ${flip('id')} WHERE ${someNft}`],
  ['the last change of an NFT', 'nft', `UPDATE nft SET changed = changed + 1 WHERE ${someNft}`],
  ['a list lacks an NFT', 'output_detail', `DELETE FROM output_detail WHERE ${someListed}`],
  [
    'a list has an NFT elsewhere',
    'output_detail',
    `UPDATE output_detail SET created_time = created_time + 1 WHERE ${someListed}`,
  ],
  [
    'a list lacks an output',
    'output_detail',
    'DELETE FROM output_detail WHERE output = (SELECT max(output) FROM output_detail)',
  ],
  [
    'changes of a milestone vanished',
    'nft_change',
    'DELETE FROM nft_change WHERE milestone = (SELECT max(milestone) FROM nft_change)',
  ],
  [
    'changes name another NFT',
    'nft_change',
    `UPDATE nft_change SET nfts = replace(nfts, '["', '["00') WHERE milestone = (
      SELECT max(milestone) FROM nft_change)`,
  ],
  ['parameters vanished', 'parameters', 'DELETE FROM parameters'],
  ['an ID vanished', 'id_0', `DELETE FROM id_0 WHERE ${someRow('id_0', 'id')}`],
  [
    'an ID of the index',
    'id_0',
    `UPDATE id_0 SET id = ${flip('id')} WHERE ${someRow('id_0', 'id')}`,
  ],
  [
    'the milestone of an ID',
    'id',
    `UPDATE id_0 SET milestone = milestone + 1 WHERE ${someRow('id_0', 'id')}`,
  ],
])('%s: found within a round, and an error from then on', async (_, what, sql) => {
  const { network, image } = await scrubbed();
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  db.deserialize(image);
  const { meta } = await db.prepare(sql).run();
  expect(meta.changes).toBe(1);
  await expect(scrubAll(db)).rejects.toThrow(LedgerDamaged);
  const { integrity } = (await db.prepare('SELECT integrity FROM head').first<{
    integrity: string;
  }>())!;
  expect(JSON.parse(integrity).damaged).toContain(what);
  const before = await ledgerIndex(db);
  await expect(readOutput(db, '00'.repeat(34))).rejects.toThrow(what);
  await expect(followTo(rig, before + 1)).rejects.toThrow(LedgerDamaged);
  expect(await ledgerIndex(db)).toBe(before);
  // an import replaces what was damaged
  await startLedger(db, network, network.genesis.index + 30);
  await scrubAll(db);
});

it('a row of output that vanished is found where no list has it', async () => {
  const network = recordedNetwork('network-n');
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  await followTo(rig, network.genesis.index + 30);
  const basic = 'id = (SELECT id FROM output WHERE chain IS NULL LIMIT 1)';
  const { meta } = await db.prepare(`DELETE FROM output WHERE ${basic}`).run();
  expect(meta.changes).toBe(1);
  await expect(scrubAll(db)).rejects.toThrow('rows of the table output are');
});

/** A ledger with a receipt. */
async function ledgerWithReceipt(before = 'SELECT 1') {
  const network = recordedNetwork('network-a');
  const at = network.milestones.findIndex(({ receipt }) => receipt !== undefined);
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  await db.exec(before);
  await sealRows(db, 'head');
  await followTo(rig, network.milestones[at]!.index);
  return db;
}

it('a receipt that vanished is found', async () => {
  const db = await ledgerWithReceipt();
  await scrubAll(db);
  expect((await db.prepare('DELETE FROM receipt').run()).meta.changes).toBe(1);
  await expect(scrubAll(db)).rejects.toThrow('rows of the table receipt are');
});

it('a row of a thousand small ones that changed is found', async () => {
  const db = await ledgerWithReceipt();
  const copies = 'json_each(?1) j WHERE true';
  const sql = `INSERT INTO receipt SELECT 9, j.value, 'AA==', 0 FROM ${copies}`;
  await db
    .prepare(sql)
    .bind(JSON.stringify(Array.from({ length: 1000 }, (_, i) => i)))
    .run();
  await sealRows(db, 'receipt');
  // what an earlier version wrote: the first round counts the rows
  await db.prepare("UPDATE head SET integrity = json_remove(integrity, '$.smallAt')").run();
  await sealRows(db, 'head');
  await scrubAll(db);
  await scrubAll(db);
  const last = 'migrated_at = (SELECT max(migrated_at) FROM receipt)';
  await db.prepare(`UPDATE receipt SET milestone = 5000 WHERE ${last}`).run();
  await expect(scrubAll(db)).rejects.toThrow('rows of the table receipt are');
});

it.each([
  [
    'before an earlier version knew them',
    "json_remove(integrity, '$.fingerprints.receipt', '$.smallAt')",
  ],
  [
    'of before that has applied milestones',
    "json_set(integrity, '$.fingerprints.receipt', 5, '$.smallAt', 999)",
  ],
])('fingerprints of a ledger %s are right after a round', async (_, integrity) => {
  const db = await ledgerWithReceipt(`UPDATE head SET integrity = ${integrity}`);
  const all = await fingerprints(await ledgerWithReceipt());
  expect(await fingerprints(db)).not.toEqual(all);
  await scrubAll(db);
  expect(await fingerprints(db)).toEqual(all);
  expect((await db.prepare('DELETE FROM receipt').run()).meta.changes).toBe(1);
  await expect(scrubAll(db)).rejects.toThrow('rows of the table receipt are');
});

it.each([
  ['output', 'UPDATE output SET id = CAST(id AS BLOB) WHERE id = (SELECT min(id) FROM output)'],
  [
    'output_detail',
    'UPDATE output_detail SET address = CAST(address AS TEXT) WHERE output = (SELECT min(output) FROM output_detail)',
  ],
])('a cell of the table %s that became of another type is found', async (table, flip) => {
  const db = await openMemory();
  const network = recordedNetwork('network-n');
  await followTo(await startLedger(db, network, network.genesis.index), 20);
  // to the end of a round, as the next one begins with outputs
  for (let isRound = false; !isRound; ) isRound = await scrub(db);
  expect((await db.prepare(flip).run()).meta.changes).toBe(1);
  await expect(scrubAll(db)).rejects.toThrow(`rows of the table ${table}`);
  await expect(readHead(db)).rejects.toThrow(LedgerDamaged);
});

it('a key of a list that became bytes is found from where the round stands', async () => {
  const network = recordedNetwork('network-n');
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  await indexEveryKind(db);
  await followTo(rig, network.genesis.index + 30);
  const table = async () => (await readHead(db))!.integrity.scrub?.table;
  while ((await table()) !== 'output_detail') await scrub(db, 1000);
  const last = '(SELECT max(output) FROM output_detail)';
  await db.prepare(`UPDATE output_detail SET created_time = x'' WHERE output = ${last}`).run();
  await expect(scrubAll(db, 1000)).rejects.toThrow(LedgerDamaged);
  await expect(readHead(db)).rejects.toThrow(LedgerDamaged);
});

it('contents that became bytes are damage to the milestone that spends them', async () => {
  const network = new SyntheticNetwork({ seed: 'spent bytes' });
  network.milestone();
  const [coin] = network.genesisCoins;
  const block = network.attachTransaction(network.transfer(coin!, 1), [network.milestoneBlock!]);
  network.milestone({ parents: [block] });
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  await storeNow(withTips(rig, block), db);
  await db
    .prepare('UPDATE output SET bytes = CAST(bytes AS BLOB) WHERE id = ?1')
    .bind(coin!.id.toHex())
    .run();
  await expect(followTo(rig, 2)).rejects.toThrow(LedgerDamaged);
});

it('what comes wrong once, and is whole on the disk, is no damage', async () => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'misread' });
  for (let i = 0; i < 3; i++) network.milestone();
  await followTo(await startLedger(db, network, 0), lastIndex(network));
  let misreads = 0;
  const misread = disturbed(
    db,
    async () => {},
    async (sql, _, results) => {
      const [row] = results[0]!.results as { created_time: number }[];
      if (!/FROM output o WHERE o.id > /.test(sql) || row === undefined || misreads > 0) return;
      misreads++;
      row.created_time += 1;
    },
  );
  await scrubAll(misread);
  expect(misreads).toBe(1);
  expect((await readHead(db))!.integrity.damaged).toBeUndefined();
});

it('reads no more contents at once than fit into the memory beside all else', async () => {
  const long = new Uint8Array(8192);
  const network = new SyntheticNetwork({
    seed: 'long outputs',
    coins: (account) =>
      Array.from({ length: 900 }, () => basic(account(0), { features: [metadata(long)] })),
  });
  const db = await openMemory();
  await startLedger(db, network, 0);
  const lengths: number[] = [];
  const counted = disturbed(
    db,
    async () => {},
    async (_, __, results) => {
      lengths.push(JSON.stringify(results).length);
    },
  );
  for (let isRound = false; !isRound; ) isRound = await scrub(counted);
  expect(Math.max(...lengths)).toBeGreaterThan(7_000_000);
  expect(Math.max(...lengths)).toBeLessThan(9_000_000);
});
