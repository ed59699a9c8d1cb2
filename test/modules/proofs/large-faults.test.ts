/** What an explanation holds of transactions that are judged again: an isolate has 128 MB. */
import { expect, it } from 'vitest';
import { measureDatabase } from '../../../src/ledger/core/wrap-database.ts';
import { explainWhiteFlag } from '../../../src/modules/proofs/explain-white-flag.ts';
import { requestOf, startNew, storeNow, withTips } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { basic, expiration, metadata, tag } from '../../support/payloads/outputs.ts';
import { usedBytes } from '../../support/used-bytes.ts';

const BLOCKS = 100;
/** The most that a transaction has; such a block has 31 KB. */
const OUTPUTS = 127;
const AMOUNT = 1_000_000_000n;
/** Of the calls of D1, one in so many: it takes long. */
const MEASURED = 5;

it('does not hold all of them, though each has one input', { timeout: 60_000 }, async () => {
  const { network, rig, root } = await startNew(await openMemory(), 'large faults', {
    coins: (account) => Array.from({ length: BLOCKS }, () => basic(account(0), { amount: AMOUNT })),
  });
  const [owner, other] = [network.account(1), network.account(2)];
  let top = root;
  for (const [i, spend] of network.genesisSpends.entries()) {
    const features = [tag(...new Uint8Array(64).fill(i)), metadata(new Uint8Array(90))];
    const conditions = [expiration(other, 2_000_000_000)];
    const more = { amount: 1_000_000n, conditions, features };
    const outputs = Array.from({ length: OUTPUTS }, () => basic(owner, more));
    outputs[0]!.amount = AMOUNT - 1_000_000n * BigInt(OUTPUTS - 1);
    top = network.attachTransaction(network.transaction([spend], outputs, 'signature'), [top]);
  }
  const { request } = network.propose({ parents: [top] });
  while ((await storeNow(withTips(rig, top), rig.db)) === 0);
  rig.following.memory.pool.clear();
  const before = await usedBytes();
  let [held, calls] = [0, 0];
  const db = measureDatabase(
    rig.db,
    () => {},
    async (run) => {
      const result = await run;
      if (++calls % MEASURED === 0) held = Math.max(held, (await usedBytes()) - before);
      return result;
    },
  );
  const explained = await explainWhiteFlag(db, requestOf(request), { rules: rig.following });
  if (!explained.ok) throw new Error(explained.detail);
  expect(explained.blocks.filter(({ decided }) => decided).length).toBe(BLOCKS);
  expect(held).toBeLessThan(11_000_000);
});
