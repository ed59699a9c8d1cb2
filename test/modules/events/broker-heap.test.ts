/** What the broker holds of clients and of a milestone: its object has 128 MB for both. */
import { expect, it } from 'vitest';
import { SHARED_LIMITS } from '../../../src/modules/events/accounts.ts';
import {
  addMessage,
  heldBytes,
  newClient,
  takePacket,
} from '../../../src/modules/events/client.ts';
import { createClients } from '../../../src/modules/events/clients.ts';
import { createPublisher } from '../../../src/modules/events/publisher.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic, idOf, metadata, nft } from '../../support/payloads/outputs.ts';
import { usedBytes } from '../../support/used-bytes.ts';

/** Spent outputs are read 512 at once: some 5 MB of these. */
const NFTS = 1024;
const METADATA_BYTES = 8000;
const OF_TRANSACTION = 128;

it('does not hold the outputs of all chains that a milestone ends', async () => {
  const data = new Uint8Array(METADATA_BYTES);
  const network = new SyntheticNetwork({
    seed: 'ended chains',
    coins: (account) =>
      Array.from({ length: NFTS }, (_, i) =>
        nft(account(0), { nftId: idOf(`nft ${i}`), features: [metadata(data)] }),
      ),
  });
  network.milestone();
  const blocks = Array.from({ length: NFTS / OF_TRANSACTION }, (_, i) => {
    const spends = network.genesisSpends.slice(i * OF_TRANSACTION, (i + 1) * OF_TRANSACTION);
    const amount = spends.reduce((sum, { coin }) => sum + coin.output.amount, 0n);
    const burn = network.transaction(spends, [basic(network.account(1), { amount })]);
    return network.attachTransaction(burn, [network.milestoneBlock!]);
  });
  network.milestone({ parents: blocks });
  const rig = await startLedger(await openMemory(), network, 1);
  const storage = { get() {}, put() {}, delete() {} } as unknown as SyncKvStorage;
  const publisher = createPublisher(rig.db, storage, network.keys);
  await publisher.begin();
  await followTo(rig, 2);
  const before = await usedBytes();
  let held = 0;
  let ended = 0;
  const audience = {
    hasAny: () => true,
    has: (topic: string) => topic.startsWith('outputs/nft/'),
    async tell(topic: string) {
      if (!topic.startsWith('outputs/nft/')) return;
      if (ended === 0) held = (await usedBytes()) - before;
      ended++;
    },
    prefix: 'tst',
  };
  while (await publisher.publishNext(audience));
  expect(ended).toBe(NFTS);
  expect(held).toBeLessThan(0.8 * NFTS * METADATA_BYTES);
});

/** Bytes of a packet of 65,535, without its last, that come in two messages: its buffer grows once. */
const FIRST_BYTES = 32_900;
const TOPICS_OF_CLIENT = 400;

it('leaves room for its work where clients use all that they may', async () => {
  const before = await usedBytes();
  const clients = createClients({ messages: 0, closes: {} });
  const socket = () => ({ close() {} }) as unknown as WebSocket;
  const all = Array.from({ length: SHARED_LIMITS.connections }, (_, i) => {
    const client = newClient(socket(), `192.0.2.${i}`, Date.now());
    clients.open(client);
    clients.name(client, `${i}`.padStart(128, '0'));
    return client;
  });
  for (let i = 0; i < SHARED_LIMITS.topics; i++) {
    const id = i.toString(16).padStart(68, '0');
    clients.listen(all[Math.floor(i / TOPICS_OF_CLIENT)]!, `outputs/0x${id}`, 'tst');
  }
  const packet = Uint8Array.of(0x30, 0xfc, 0xff, 0x03, ...new Uint8Array(FIRST_BYTES));
  for (const client of all.slice(SHARED_LIMITS.topics / TOPICS_OF_CLIENT)) {
    for (const part of [packet.slice(0, FIRST_BYTES), packet.slice(FIRST_BYTES)]) {
      addMessage(client, part);
      expect(takePacket(client)).toBeUndefined();
    }
    // half of its buffer is free
    expect(heldBytes(client)).toBeGreaterThanOrEqual(2 * FIRST_BYTES);
    clients.hold(client);
    if (clients.size < all.length) break;
  }
  expect((await usedBytes()) - before).toBeLessThan(100_000_000);
});
