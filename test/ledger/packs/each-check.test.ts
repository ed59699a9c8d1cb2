/**
 * Damage that one check alone sees (docs/storage.md#damage-on-disk), at the place where it would
 * make an answer wrong: random flips hit these places too rarely (test/whole/flipped-columns.test.ts).
 */
import { describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { saveFollowerState } from '../../../src/follower/follower-status.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { findReferenced } from '../../../src/ledger/core/id-index.ts';
import { readQuery } from '../../../src/ledger/core/read-batch.ts';
import { PARTS, writeNumbers } from '../../../src/ledger/packs/milestone-part.ts';
import {
  readBlocksWithBytes,
  readMilestoneContents,
} from '../../../src/ledger/read/milestone-contents.ts';
import { readNftOutputs } from '../../../src/ledger/read/nft-outputs.ts';
import { readNodeStatus } from '../../../src/ledger/read/node-status.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { readBlock } from '../../../src/ledger/read/stored-block.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { openNftLedger } from '../../../src/nft-index/nft-sources.ts';
import { publish } from '../../../src/nft-index/publish.ts';
import { beginState } from '../../../src/nft-index/publisher-state.ts';
import { computeWhiteFlag } from '../../../src/node/compute-white-flag.ts';
import {
  ask,
  FOLLOWING,
  followTo,
  issue,
  ledgerIndex,
  questionOf,
  requestOf,
  startLedger,
  startNew,
  storeNow,
  withSplitPacks,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic, nft } from '../../support/payloads/outputs.ts';

const NFT = 'a5'.repeat(32);

/** A ledger with an NFT; what is stored at once goes into a pack of its own. */
async function start() {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'each check', {
    coins: (account) => [
      nft(account(0), { nftId: Uint8Array.fromHex(NFT), amount: COIN_AMOUNT }),
      basic(account(0), { amount: COIN_AMOUNT }),
    ],
  });
  return { db, network, rig: withSplitPacks(rig), root };
}

async function change(db: SqliteDatabase, sql: string, ...values: unknown[]): Promise<void> {
  const statement = db.prepare(sql).bind(...values);
  expect((await statement.run()).meta.changes).toBe(1);
}

const digits = (id: string) => id.slice(2);

/** Three blocks, one upon the other, each in a pack of its own, and the keys of these. */
async function threePacks({ db, network, rig, root }: Awaited<ReturnType<typeof start>>) {
  const blocks: string[] = [];
  for (let i = 0; i < 3; i++) {
    blocks.push(network.note([blocks.at(-1) ?? root]));
    await storeNow(rig, db);
  }
  const sql = 'SELECT key FROM pack WHERE live = 1 ORDER BY key DESC LIMIT 3';
  const { results } = await db.prepare(sql).all<{ key: number }>();
  return { blocks, keys: results.map(({ key }) => key).reverse() };
}

it('the chain of an output that a block creates', async () => {
  const { db, network, rig, root } = await start();
  const [held] = network.genesisCoins;
  const moved = nft(network.account(1), {
    nftId: Uint8Array.fromHex(NFT),
    amount: COIN_AMOUNT,
  });
  const spend = { coin: held!, by: network.account(0) };
  network.attachTransaction(network.transaction([spend], [moved]), [root]);
  await storeNow(rig, db);
  const other = `b${NFT.slice(1)}`;
  await change(
    db,
    `UPDATE pack SET outputs = replace(outputs, ?1, ?2) WHERE instr(outputs, ?1) > 0`,
    NFT,
    other,
  );
  const before = await ledgerIndex(db);
  await expect(issue(rig, network)).rejects.toThrow(LedgerDamaged);
  expect(await ledgerIndex(db)).toBe(before);
});

it.each([
  ['details', `replace(details, '[6,', '[4,')`],
  ['outputs', `replace(outputs, '"Bg', '"Cg')`],
])('the kind of an output that a block creates, in %s', async (column, flipped) => {
  const { db, network, rig, root } = await start();
  const moved = nft(network.account(1), {
    nftId: Uint8Array.fromHex(NFT),
    amount: COIN_AMOUNT,
  });
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  network.attachTransaction(network.transaction([spend], [moved]), [root]);
  await storeNow(rig, db);
  await change(db, `UPDATE pack_content SET ${column} = ${flipped} WHERE ${column} <> ${flipped}`);
  const before = await ledgerIndex(db);
  await expect(issue(rig, network)).rejects.toThrow(LedgerDamaged);
  expect(await ledgerIndex(db)).toBe(before);
});

it.each([
  ['number', (number: number, id: string) => [number ^ 1, id]],
  [
    'ID',
    (number: number, id: string) => [number, `${id.slice(0, -1)}${id.at(-1) === 'a' ? 'b' : 'a'}`],
  ],
])('the %s of an output that a block creates', async (_, flipped) => {
  const { db, network, rig, root } = await start();
  const made = network.transfer(network.genesisCoins[1]!, 1);
  network.attachTransaction(made, [root]);
  await storeNow(rig, db);
  const { outputs } = (await db.prepare("SELECT outputs FROM pack WHERE outputs <> '[]'").first<{
    outputs: string;
  }>())!;
  const created = made.coins[0]!.id.toHex();
  const [, number] = new RegExp(`\\[(\\d+),"${created}"`).exec(outputs)!;
  const [before, after] = [[Number(number), created], flipped(Number(number), created)].map(
    (each) => JSON.stringify(each).slice(0, -1),
  );
  await change(
    db,
    'UPDATE pack SET outputs = replace(outputs, ?1, ?2) WHERE instr(outputs, ?1) > 0',
    before,
    after,
  );
  await expect(issue(rig, network)).rejects.toThrow(LedgerDamaged);
});

it('the number of a block that a milestone references', async () => {
  const { db, network, rig, root } = await start();
  const block = network.note([network.note([root])]);
  const other = network.note([root]);
  await storeNow(rig, db);
  const sql = 'SELECT blocks FROM pack WHERE instr(blocks, ?1) > 0';
  const { blocks } = (await db.prepare(sql).bind(digits(block)).first<{ blocks: string }>())!;
  const number = Number(new RegExp(`\\[(\\d+),"${digits(block)}`).exec(blocks)![1]);
  await change(
    db,
    'UPDATE pack SET blocks = replace(blocks, ?1, ?2) WHERE instr(blocks, ?1) > 0',
    `[${number},"${digits(block)}`,
    `[${number ^ 1},"${digits(block)}`,
  );
  await expect(issue(rig, network, [block, other])).rejects.toThrow(LedgerDamaged);
});

it('the ID of a block that a milestone references, in its pack', async () => {
  const { db, network, rig, root } = await start();
  const block = digits(network.note([root]));
  await issue(rig, network);
  const flipped = `${block.slice(0, -1)}${block.endsWith('a') ? 'b' : 'a'}`;
  expect((await readBlock(db, block))?.referenced?.index).toBe(2);
  const sql = 'UPDATE pack SET blocks = replace(blocks, ?1, ?2) WHERE instr(blocks, ?1) > 0';
  await change(db, sql, block, flipped);
  // not pruned: that its milestone references it is known, and every pack of this is there
  await expect(readBlock(db, block)).rejects.toThrow(LedgerDamaged);
});

it('the first bracket of a pack, by which slots are counted', async () => {
  const { db, network, rig, root } = await start();
  await issue(rig, network);
  const sql = "UPDATE pack SET blocks = 'x' || substr(blocks, 2) WHERE instr(blocks, ?1) > 0";
  await change(db, sql, digits(root));
  await expect(readBlock(db, digits(root))).rejects.toThrow(LedgerDamaged);
});

it('the time of an output of an NFT that moves', async () => {
  const { db, network, rig, root } = await start();
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const moved = nft(network.account(1), { nftId: Uint8Array.fromHex(NFT), amount: COIN_AMOUNT });
  network.attachTransaction(network.transaction([spend], [moved]), [root]);
  await change(db, 'UPDATE output SET created_time = created_time + 1 WHERE chain = ?1', NFT);
  await expect(issue(rig, network)).rejects.toThrow('rows of the table output');
});

it('an output that is gone before a milestone spends it', async () => {
  const { db, network, rig, root } = await start();
  const [, spent] = network.genesisCoins;
  const spend = { coin: spent!, by: network.account(0) };
  const paid = basic(network.account(1), { amount: COIN_AMOUNT });
  network.attachTransaction(network.transaction([spend], [paid]), [root]);
  await storeNow(rig, db);
  await change(db, 'DELETE FROM output WHERE id = ?1', spent!.id.toHex());
  await expect(issue(rig, network)).rejects.toThrow('rows of the table output');
});

it('a burned NFT that a list names is not searched for in lists again', async () => {
  const { db, network, rig, root } = await start();
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const burned = basic(network.account(1), { amount: COIN_AMOUNT });
  network.attachTransaction(network.transaction([spend], [burned]), [root]);
  await issue(rig, network);
  await change(db, 'UPDATE nft SET changed = 0 WHERE id = ?1 AND output IS NULL', NFT);
  const { rows } = (await openIndexLedger(db).readWindow(
    { generation: '', from: 1, token: undefined },
    100,
  ))!;
  expect(rows).toEqual([{ nft: NFT, output: null }]);
});

it('an NFT that seems burned', async () => {
  const { db } = await start();
  await change(db, 'UPDATE nft SET output = NULL WHERE id = ?1', NFT);
  const ledger = openNftLedger({ withSession: () => db } as unknown as D1Database);
  await expect(ledger.readNft(NFT, true)).rejects.toThrow(LedgerDamaged);
});

it.each([
  ['chain', 'output SET chain = ?1 WHERE chain = ?2'],
  ['kind', "output SET bytes = 'C' || substr(bytes, 2) WHERE chain = ?2 AND chain <> ?1"],
  ['row of the NFT', 'nft SET output = ?1 || substr(output, 65) WHERE id = ?2'],
])('the %s of an output of an NFT that is burned', async (_, damage) => {
  const { db, network, rig, root } = await start();
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const burned = basic(network.account(1), { amount: COIN_AMOUNT });
  network.attachTransaction(network.transaction([spend], [burned]), [root]);
  await storeNow(rig, db);
  await change(db, `UPDATE ${damage}`, `b${NFT.slice(1)}`, NFT);
  await expect(issue(rig, network)).rejects.toThrow(LedgerDamaged);
});

it('free numbers of the last pack', async () => {
  const { db, network, rig, root } = await start();
  network.attachTransaction(network.transfer(network.genesisCoins[1]!, 1), [root]);
  await storeNow(rig, db);
  await change(
    db,
    `UPDATE pack SET next_output = next_output - 1
    WHERE key = (SELECT max(key) FROM pack WHERE live = 1)`,
  );
  network.note([root]);
  await expect(storeNow(rig, db)).rejects.toThrow('next numbers of packs');
});

it.each([
  ['seems to live no more', 'live'],
  ['seems staged', 'staged'],
])('a live pack that others lead past and that %s', async (_, column) => {
  const ledger = await start();
  const { db, network, rig } = ledger;
  const { blocks, keys } = await threePacks(ledger);
  const { request, response } = network.propose({ parents: [blocks[2]!, blocks[0]!] });
  expect(await ask(rig, request)).toEqual(response);
  await change(db, `UPDATE pack SET ${column} = 0 WHERE key = ?1`, keys[1]);
  await expect(ask(rig, request)).rejects.toThrow('the names of packs');
});

it('packs of a milestone, one of which others lead past', async () => {
  const ledger = await start();
  const { db, network, rig } = ledger;
  const { blocks, keys } = await threePacks(ledger);
  await issue(rig, network, [blocks[2]!, blocks[0]!]);
  const { question, answer } = questionOf(network, 2);
  expect(await ask(rig, question)).toEqual(answer);
  const packs = JSON.stringify([keys[0], keys[0], keys[2]]);
  await change(
    db,
    'UPDATE milestone_part SET packs = ?1 WHERE packs = ?2',
    packs,
    JSON.stringify(keys),
  );
  await expect(ask(rig, question)).rejects.toThrow('the names of packs');
});

it.each([
  ['the first milestone', 1],
  ['another milestone', 2],
])('the only pack of %s', async (_, index) => {
  const db = await openMemory();
  const network = new SyntheticNetwork({ seed: 'only pack' });
  network.milestone({ parents: [network.note()] });
  network.milestone();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 2);
  const { question, answer } = questionOf(network, index);
  expect(await ask(rig, question)).toEqual(answer);
  await change(db, `UPDATE milestone_part SET packs = '[77]' WHERE key = ?1`, index * PARTS);
  await expect(ask(rig, question)).rejects.toThrow('the names of packs');
});

it('the list of blocks of a milestone', async () => {
  const { db, network, rig, root } = await start();
  const first = network.note([root]);
  const second = network.note([first]);
  await issue(rig, network, [second]);
  const { referenced } = (await readBlock(db, digits(second)))!;
  expect(referenced?.whiteFlagIndex).toBe(2);
  const sql = 'SELECT block AS number FROM id_0 WHERE id IN (?1, ?2) ORDER BY block';
  const { results } = await db
    .prepare(sql)
    .bind(digits(root), digits(second))
    .all<{ number: number }>();
  const [a, b] = results.map(({ number }) => number);
  // the last is the first again
  await change(
    db,
    'UPDATE milestone_part SET blocks = ?1 WHERE key = 8192',
    writeNumbers([b!, a!, b!]),
  );
  await expect(readBlock(db, digits(second))).rejects.toThrow('rows of the table milestone_part');
});

it('a pack as it was before a milestone referenced its blocks', async () => {
  const { db, network, rig, root } = await start();
  const block = network.note([root]);
  await storeNow(rig, db);
  const sql = 'SELECT * FROM pack WHERE instr(blocks, ?1) > 0';
  const { key, statuses, sums } = (await db
    .prepare(sql)
    .bind(digits(block))
    .first<Record<string, string>>())!;
  await issue(rig, network, [block]);
  const index = await ledgerIndex(db);
  const reads = [() => readMilestoneContents(db, index, true), () => readBlock(db, digits(block))];
  for (const read of reads) expect(await read()).toBeDefined();
  await change(db, 'UPDATE pack SET statuses = ?2, sums = ?3 WHERE key = ?1', key, statuses, sums);
  for (const read of reads) await expect(read()).rejects.toThrow(LedgerDamaged);
});

it('an output that is unspent again', async () => {
  const { db, network, rig, root } = await start();
  const coin = network.genesisCoins[1]!;
  const id = coin.id.toHex();
  const row = (await db.prepare('SELECT * FROM output WHERE id = ?1').bind(id).first())!;
  await issue(rig, network, [network.attachTransaction(network.transfer(coin, 1), [root])]);
  expect((await readOutput(db, id))?.spent).toBeDefined();
  const places = Object.keys(row).map((_, i) => `?${i + 1}`);
  await change(db, `INSERT INTO output VALUES (${places})`, ...Object.values(row));
  await expect(readOutput(db, id)).rejects.toThrow(LedgerDamaged);
});

it('bytes of a block that are no base64 any more', async () => {
  const { db, network, rig, root } = await start();
  const applied = network.note([root]);
  await issue(rig, network, [applied]);
  const open = network.note([applied]);
  await storeNow(rig, db);
  await db.prepare(`UPDATE pack_content SET bytes = replace(bytes, 'A', '@')`).run();
  await expect(readBlock(db, digits(open))).rejects.toThrow(LedgerDamaged);
  const { contents } = await readMilestoneContents(db, 2, true);
  const blocks = readBlocksWithBytes(db, contents!, new Map());
  await expect(blocks.next()).rejects.toThrow(LedgerDamaged);
});

it('the milestone of an ID', async () => {
  const { db, network, rig, root } = await start();
  await issue(rig, network);
  const find = () => readQuery(db, findReferenced(db, [digits(root)]));
  expect((await find())[0]?.[1].milestone).toBe(2);
  await change(db, 'UPDATE id_0 SET milestone = 3 WHERE id = ?1', digits(root));
  await expect(find()).rejects.toThrow('rows of the table id');
});

it('the milestone of a change of NFTs', async () => {
  const { db, network, rig, root } = await start();
  const index = openIndexLedger(db);
  const { generation, ledgerIndex: from, changes } = (await index.readState()).head!;
  const since = { generation, from, changes, token: undefined };
  const readWindow = (other = {}) => index.readWindow({ ...since, ...other }, 100);
  const spend = { coin: network.genesisCoins[0]!, by: network.account(0) };
  const burned = basic(network.account(1), { amount: COIN_AMOUNT });
  network.attachTransaction(network.transaction([spend], [burned]), [root]);
  await issue(rig, network);
  expect((await readWindow())?.rows).toEqual([{ nft: NFT, output: null }]);
  const after = await ledgerIndex(db);
  network.note();
  await issue(rig, network);
  // the milestone of the change is pruned before its change leaves the window
  await db.prepare('DELETE FROM milestone WHERE idx <= ?1').bind(after).run();
  expect((await readWindow())?.rows).toEqual([{ nft: NFT, output: null }]);
  await change(db, 'UPDATE nft_change SET milestone = 0');
  await expect(readWindow()).rejects.toThrow(LedgerDamaged);
  // of another ledger, or of another publisher's state, it says nothing
  for (const other of [{ generation: 'other' }, { token: 'other' }])
    expect(await readWindow(other)).toMatchObject({ generation });
});

it('the state of the NFT index', async () => {
  const { db } = await start();
  const index = openIndexLedger(db);
  const { head, stored } = await index.readState();
  await index.swap(stored?.token, {
    token: 'next',
    state: beginState({ generation: head!.generation, ledgerIndex: 1 }),
  });
  await index.readState();
  // as if all entries had been put
  await change(db, `UPDATE nft_index SET state = replace(state, '"upTo":""', '"upTo":"f"')`);
  expect((await index.readState()).stored).toEqual({ token: 'next', state: undefined });
  // nobody has to mend it: pruning reads it too, and the publisher begins anew
  await change(db, 'UPDATE nft_index SET state = substr(state, 2), token = CAST(token AS BLOB)');
  await change(db, "INSERT INTO nft_change (milestone, part, nfts) VALUES (0, 0, '[]')");
  await prune(db, 100);
  const kv = new Map<string, string>();
  const store = {
    get: async (key: string) => kv.get(key) ?? null,
    put: async (key: string, value: string) => void kv.set(key, value),
  };
  await publish(index, store, Date.now, { operations: 100, statements: 100 });
  expect((await index.readState()).stored?.state?.entries.kind).toBe('complete');
});

/** A row that is the only one of its table has another key: SQLite checks keys when it writes. */
async function rename(db: SqliteDatabase, table: string): Promise<void> {
  db.exec('PRAGMA ignore_check_constraints = ON');
  await change(db, `UPDATE ${table} SET one = 0`);
  db.exec('PRAGMA ignore_check_constraints = OFF');
}

it('the key of the state of the NFT index: the publisher begins anew, and goes on', async () => {
  const { db, network, rig } = await start();
  const kv = new Map<string, string>();
  const store = {
    get: async (key: string) => kv.get(key) ?? null,
    put: async (key: string, value: string) => void kv.set(key, value),
  };
  let now = 1.8e12;
  const publishIndex = () => {
    now += 10_000;
    return publish(openIndexLedger(db), store, () => now, { operations: 100, statements: 100 });
  };
  expect(await publishIndex()).toMatchObject({ stops: [], ledgerIndex: 1 });
  await rename(db, 'nft_index');
  for (let index = 2; index < 5; index++) {
    await issue(rig, network, [network.note([network.milestoneBlock!])]);
    expect(await publishIndex()).toMatchObject({ stops: [], ledgerIndex: index });
  }
  // the changes of the renamed row's window are not kept for good
  await change(db, "INSERT INTO nft_change (milestone, part, nfts) VALUES (0, 0, '[]')");
  await prune(db, 2);
  expect(await db.prepare('SELECT count(*) AS n FROM nft_change').first('n')).toBe(0);
});

describe('the state of the follower', () => {
  const upstream = { index: 7, timestamp: 1_700_000_000, milestoneId: 'ab'.repeat(32) };
  const said = { state: 'following', upstream, progress: 'a milestone' } as const;

  it.each([
    ['upstream_id', `replace(upstream_id, 'ab', 'ac')`],
    ['upstream_timestamp', 'CAST(upstream_timestamp AS BLOB)'],
    ['upstream_timestamp', 'NULL'],
    ['state', 'CAST(state AS BLOB)'],
    ['reason', 'CAST(reason AS BLOB)'],
  ])('is written again where %s became %s', async (column, value) => {
    const { db } = await start();
    await saveFollowerState(db, said);
    const before = await readNodeStatus(db, FOLLOWING);
    expect(before?.upstream).toEqual(upstream);
    await change(db, `UPDATE follower SET ${column} = ${value}`);
    await saveFollowerState(db, said);
    expect(await readNodeStatus(db, FOLLOWING)).toEqual(before);
    // and once
    const sql = 'SELECT total_changes() AS changes';
    const written = await db.prepare(sql).first('changes');
    await saveFollowerState(db, said);
    expect(await db.prepare(sql).first('changes')).toBe(written);
  });

  it('is of one row', async () => {
    const { db } = await start();
    await saveFollowerState(db, said);
    await rename(db, 'follower');
    await saveFollowerState(db, { state: 'failing', reason: 'for a test' });
    const { follower } = (await readNodeStatus(db, FOLLOWING))!;
    expect(follower).toEqual({ state: 'failing', reason: 'for a test' });
  });

  it('is not read where nothing is followed', async () => {
    const { db } = await start();
    await saveFollowerState(db, said);
    await change(db, "UPDATE follower SET state = 'followinh'");
    await expect(readNodeStatus(db, FOLLOWING)).rejects.toThrow(LedgerDamaged);
    const { follower } = (await readNodeStatus(db, { ...FOLLOWING, follows: false }))!;
    expect(follower).toEqual({ state: 'off' });
  });
});

it('the only row of parameters, which vanished', async () => {
  const { db } = await start();
  await change(db, 'DELETE FROM parameters');
  await expect(readNodeStatus(db, FOLLOWING)).rejects.toThrow(LedgerDamaged);
});

it('the number of a block in the index of IDs, in bits that its sum does not have', async () => {
  const { db, network, rig, root } = await start();
  const block = network.note([root]);
  await issue(rig, network, [network.note([block])]);
  await issue(rig, network);
  const asked = { ...questionOf(network, 2).question, parents: [block] };
  const answer = await ask(rig, asked);
  expect(answer).toMatchObject({ inclusionMerkleRoot: expect.any(String) });
  await change(db, `UPDATE id_0 SET block = block + ${2 ** 32} WHERE id = ?1`, digits(block));
  expect(await ask(rig, asked)).toEqual(answer);
});

it("the key of the ledger's own milestone: it is no ledger that was never imported", async () => {
  const { db, network, rig } = await start();
  const { request } = network.propose({ parents: [network.milestoneBlock!] });
  const reads = {
    status: () => readNodeStatus(db, FOLLOWING),
    nfts: () => readNftOutputs(db, [NFT]),
    'white flag': () => computeWhiteFlag(db, requestOf(request), { rules: rig.following }),
    position: () => readPosition(db, rig.following),
    'NFT index': () => openIndexLedger(db).readState(),
  };
  for (const read of Object.values(reads)) expect(await read()).toBeDefined();
  await change(db, 'UPDATE milestone SET idx = 129 WHERE idx = 1');
  for (const [name, read] of Object.entries(reads))
    await expect(read(), name).rejects.toThrow('rows of the table milestone');
});
