/** What the publisher holds of a milestone does not grow with it: the broker has 128 MB for all. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createUnlockTopics } from '../../../src/modules/events/milestone-events.ts';
import { createPublisher } from '../../../src/modules/events/publisher.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic, idOf, metadata, nft } from '../../support/payloads/outputs.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

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
  const before = heldBytes();
  let held = 0;
  let ended = 0;
  const audience = {
    hasAny: () => true,
    has: (topic: string) => topic.startsWith('outputs/nft/'),
    async tell(topic: string) {
      if (!topic.startsWith('outputs/nft/')) return;
      if (ended === 0) held = heldBytes() - before;
      ended++;
    },
    prefix: 'tst',
  };
  while (await publisher.publishNext(audience));
  expect(ended).toBe(NFTS);
  expect(held).toBeLessThan(0.8 * NFTS * METADATA_BYTES);
});

it('does not hold the addresses of all outputs of a milestone', () => {
  const unlockTopics = createUnlockTopics({ hasAny: () => true, prefix: 'tst' });
  const tell = (i: number) => unlockTopics(basic({ type: 0, id: idOf(`address ${i}`) }), false);
  const first = tell(0);
  const before = heldBytes();
  for (let i = 1; i < 40_000; i++) tell(i);
  expect(heldBytes() - before).toBeLessThan(5_000_000);
  expect(tell(0)).toEqual(first);
});
