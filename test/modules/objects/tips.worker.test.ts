/** Tips (src/modules/objects/routes/tips.ts): which of the open blocks, how many, in which order. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { readTips } from '../../../src/modules/objects/routes/tips.ts';
import { issue, startNew, storeNow, withTips } from '../../support/ledger/ledger-harness.ts';

const db = env.LEDGER;

it('are open blocks that no stored block approves, the newest eight', async () => {
  const { network, rig } = await startNew(db, 'tips');
  expect(await readTips(db)).toEqual({ blockIds: [], ledgerIndex: 1 });

  const store = (id: string) => storeNow(withTips(rig, id), db);
  const tips = async () => (await readTips(db))!.blockIds.map((id) => `0x${id}`);

  const base = network.milestoneBlock!;
  const inner = network.note([base]);
  const [first, second] = [network.note([inner]), network.note([inner, base])];
  await store(first);
  expect(await tips()).toEqual([first]);
  await store(second);
  expect(await tips()).toEqual([second, first]);
  const child = network.note([first]);
  await store(child);
  expect(await tips()).toEqual([child, second]);

  const more = Array.from({ length: 9 }, () => network.note([second]));
  for (const id of more) await store(id);
  expect(await tips()).toEqual(more.toReversed().slice(0, 8));

  await issue(rig, network, [base, ...more.slice(0, 7)]);
  expect(new Set(await tips())).toEqual(new Set([...more.slice(7), child]));
});

it('are not known without a ledger', async () => {
  await db.prepare('DELETE FROM head').run();
  expect(await readTips(db)).toBeUndefined();
});
