/** The refusal of a proposal with a parent that is not known (src/node/compute-white-flag.ts). */
import { expect, it } from 'vitest';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { startNew, storeNow } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

it('names this parent, wherever it is among others that are known', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'unknown parent');
  const known = [network.note([root]), network.note([root], Uint8Array.of(1))];
  await storeNow(rig, db);
  const unknown = `0x${'ab'.repeat(32)}`;
  const rules = { keys: network.keys, verify: verifySignature };
  for (let place = 0; place <= 3; place++) {
    const named = [root, ...known].toSpliced(place, 0, unknown);
    const { request } = network.propose({ parents: [root, ...known] });
    const parents = named.map((id) => id.slice(2));
    const previousMilestoneId = request.previousMilestoneId!.slice(2);
    const asked = { ...request, parents, previousMilestoneId };
    expect(await computeWhiteFlag(db, asked, { rules })).toMatchObject({
      reason: 'unknown',
      detail: expect.stringMatching(`^not all of these blocks are known here: .*${unknown}`),
    });
  }
});
