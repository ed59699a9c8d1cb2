/** What is read of D1 for one block of a large milestone: anybody may ask for any of them. */
import { expect, it, vi } from 'vitest';
import { readBlock } from '../../../src/ledger/read/stored-block.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { ZERO_ID } from '../../support/network/network-model.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('is its pack, and nothing but the numbers of all others', async () => {
  const network = new SyntheticNetwork({ seed: 'large milestone' });
  let tops = Array.from({ length: 1400 }, (_, i) =>
    network.note([ZERO_ID], Uint8Array.of(i >> 8, i & 0xff)),
  );
  const [first] = tops;
  while (tops.length > 8)
    tops = Array.from({ length: Math.ceil(tops.length / 8) }, (_, i) =>
      network.note(tops.slice(8 * i, 8 * i + 8)),
    );
  network.milestone({ parents: tops });
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), 1);
  const batch = vi.spyOn(db, 'batch');
  const found = await readBlock(db, first!.slice(2));
  const { index, whiteFlagIndex } = network.blocks.get(first!)!.referenced!;
  expect(found?.referenced).toEqual({ index, whiteFlagIndex, reason: undefined });
  const read = await Promise.all(batch.mock.results.map(({ value }) => value));
  // 7 bytes of each number in base64; some 110 characters of each block of a pack
  expect(JSON.stringify(read).length).toBeLessThan(10 * network.blocks.size + 120 * 256);
});
