/** The publisher over a ledger: its first milestone, and a change of the address prefix. */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { rowSum } from '../../../src/ledger/core/row-sum.ts';
import { PARTS } from '../../../src/ledger/packs/milestone-part.ts';
import { type EventMessage, tellInitial } from '../../../src/modules/events/initial-events.ts';
import { createPublisher } from '../../../src/modules/events/publisher.ts';
import { packTopic } from '../../../src/mqtt/topics.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { forgedCopy } from '../../support/network/forged-copy.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const TARGET = 4;

function publisherOf(db: Database, keys?: MilestoneKeys, values = new Map<string, unknown>()) {
  const storage = {
    get: (key: string) => values.get(key),
    put: (key: string, value: unknown) => void values.set(key, value),
    delete: (key: string) => values.delete(key),
  } as unknown as SyncKvStorage;
  return createPublisher(db, storage, keys);
}

it('names the milestone of its own block, not of a copy with a bad signature', async () => {
  const { network, real, forged } = forgedCopy();
  const db = await openMemory();
  const rig = await startLedger(db, network, 1);
  const publisher = publisherOf(db, network.keys);
  await publisher.begin();
  await followTo(rig, 2);
  const told: unknown[] = [];
  const tell = async (topic: string, payload: Uint8Array) => {
    if (topic !== 'block-metadata/referenced') return;
    const { blockId, milestoneIndex } = JSON.parse(new TextDecoder().decode(payload));
    told.push([blockId, milestoneIndex]);
  };
  const audience = { hasAny: () => true, has: () => true, tell, prefix: 'tst' };
  while (await publisher.publishNext(audience));
  expect(told).toContainEqual([real, 1]);
  expect(told).toContainEqual([forged, undefined]);
  const initial: EventMessage[] = [];
  const topics = [`block-metadata/${real}`];
  for await (const messages of tellInitial(db, topics, network.keys)) initial.push(...messages);
  expect(JSON.parse(new TextDecoder().decode(initial[0]!.payload)).milestoneIndex).toBe(1);
});

it('tells the first milestone of a network, which references no block', async () => {
  const network = new SyntheticNetwork({ seed: 'first' });
  network.milestone();
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  const publisher = publisherOf(db);
  await publisher.begin();
  await followTo(rig, 1);
  const told: string[] = [];
  const tell = async (topic: string) => {
    told.push(topic);
  };
  const audience = { hasAny: () => true, has: () => true, tell, prefix: 'tst' };
  while (await publisher.publishNext(audience));
  expect(told).toEqual(['milestones', 'milestone-info/latest', 'milestone-info/confirmed']);
});

it('tells addresses with the prefix that is in force at the milestone', async () => {
  const network = new SyntheticNetwork({ seed: 'prefix' });
  const parameters = { ...network.genesis.parameters, bech32Hrp: 'new' };
  network.milestone();
  network.milestone({
    announce: {
      type: 1,
      targetMilestoneIndex: TARGET,
      protocolVersion: 2,
      parameters: encode(protocolParameters, parameters),
    },
  });
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 2);
  const publisher = publisherOf(db);
  await publisher.begin();
  const told: string[] = [];
  const audience = {
    hasAny: () => true,
    has: () => true,
    async tell(topic: string) {
      told.push(topic);
    },
    get prefix() {
      return publisher.last()!.prefix;
    },
  };
  for (let index = 3; index <= 6; index++) {
    const to = network.account(index).address;
    const parents = [network.milestoneBlock!];
    const transfer = network.transfer(network.genesisCoins[index]!, index);
    network.milestone({ parents: [...parents, network.attachTransaction(transfer, parents)] });
    await followTo(rig, index);
    told.length = 0;
    if (index === TARGET) {
      // so that listeners to the old prefix can be closed before anything is told
      expect(await publisher.publishNext(audience)).toBe(true);
      expect([publisher.last(), told]).toMatchObject([{ index: TARGET - 1, prefix: 'new' }, []]);
    }
    while (await publisher.publishNext(audience));
    const topic = `outputs/unlock/address/${toBech32(index < TARGET ? 'tst' : 'new', to)}`;
    expect(told).toContain(topic);
    expect(packTopic(topic, audience.prefix)).toBeDefined();
    expect(publisher.last()!.index).toBe(index);
  }
});

it('begins with the ledger as it is where what was published last cannot be read', async () => {
  const network = new SyntheticNetwork({ seed: 'unreadable' });
  network.milestone();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), 1);
  const storage = {
    get() {
      throw new Error('Unable to deserialize cloned data.');
    },
    put() {},
  } as unknown as SyncKvStorage;
  const publisher = createPublisher(db, storage, network.keys);
  expect(publisher.last()).toBeUndefined();
  expect(await publisher.begin()).toMatchObject({ index: 1 });
});

it('tells the outputs of all parts of a milestone, or ends in an error', async () => {
  const network = new SyntheticNetwork({ seed: 'parts' });
  network.milestone();
  const spent = network.genesisCoins[0]!;
  const block = network.attachTransaction(network.transfer(spent, 1), [network.milestoneBlock!]);
  network.milestone({ parents: [block] });
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  const publishers = [publisherOf(db), publisherOf(db)] as const;
  for (const publisher of publishers) await publisher.begin();
  await followTo(rig, 2);
  // as if what it spends did not fit into the part with its blocks
  const last = 2 * PARTS + 1;
  await db.batch([
    db
      .prepare(`INSERT INTO milestone_part (key, packs, blocks, spent, sum)
        SELECT ?1, '[]', '', spent, ?2 FROM milestone_part WHERE key = ?1 - 1`)
      .bind(last, rowSum([last, '[]', ''])),
    db.prepare("UPDATE milestone_part SET spent = '[]' WHERE key = ?1").bind(last - 1),
  ]);
  const told: string[] = [];
  const tell = async (topic: string) => {
    told.push(topic);
  };
  const audience = { hasAny: () => true, has: () => true, tell, prefix: 'tst' };
  while (await publishers[0].publishNext(audience));
  expect(told).toContain(`outputs/0x${spent.id.toHex()}`);
  expect(told).toContain('milestones');
  told.length = 0;
  await db.prepare('DELETE FROM milestone_part WHERE key = ?1').bind(last).run();
  const failure: Error = await publishers[1].publishNext(audience).catch((error) => error);
  expect(failure.cause).toMatchObject({
    message: expect.stringContaining('outputs that were spent'),
  });
  expect(told).not.toContain('milestones');
});

it('calls a block damaged whose text is no base64: its listeners are closed for that', async () => {
  const network = new SyntheticNetwork({ seed: 'no base64' });
  network.milestone();
  const block = network.attachTransaction(network.transfer(network.genesisCoins[0]!, 1), [
    network.milestoneBlock!,
  ]);
  network.milestone({ parents: [block] });
  const db = await openMemory();
  const rig = await startLedger(db, network, 0);
  await followTo(rig, 1);
  const publisher = publisherOf(db);
  await publisher.begin();
  await followTo(rig, 2);
  await db.prepare("UPDATE pack_content SET bytes = replace(bytes, 'A', '!')").run();
  const audience = { hasAny: () => true, has: () => false, tell: async () => {}, prefix: 'tst' };
  await expect(publisher.publishNext(audience)).rejects.toThrow(LedgerDamaged);
});

it('once nobody listens any more another object begins with the ledger as it is', async () => {
  const network = new SyntheticNetwork({ seed: 'left' });
  for (let i = 0; i < 2; i++) network.milestone();
  const db = await openMemory();
  const rig = await startLedger(db, network, 1);
  const values = new Map<string, unknown>();
  const publisher = publisherOf(db, network.keys, values);
  expect(await publisher.begin()).toMatchObject({ index: 1 });
  publisher.forget();
  await followTo(rig, 2);
  expect(await publisherOf(db, network.keys, values).begin()).toMatchObject({ index: 2 });
});
