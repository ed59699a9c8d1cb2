/** A view of many milestones: each page reads the names of all of their packs. */
import { expect, it } from 'vitest';
import { MAX_SPAN } from '../../../src/ledger/packs/view-pages.ts';
import { readView } from '../../../src/ledger/view/consistent-view.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

it('is refused beyond a number of milestones', async () => {
  const network = new SyntheticNetwork({ seed: 'long span' });
  const last = MAX_SPAN + 3;
  for (let index = 1; index <= last; index++) network.milestone();
  const db = await openMemory();
  await followTo(await startLedger(db, network, 0), last);
  const [{ id } = { id: '' }] = [...network.blocks.values()].filter(
    ({ referenced }) => referenced?.index === last,
  );
  const read = (index: number) => readView(db, { index, named: [id.slice(2)] });
  await expect(read(last - MAX_SPAN - 1)).rejects.toThrow(`more than ${MAX_SPAN} milestones`);
  expect((await read(last - MAX_SPAN))?.cone.size).toBeGreaterThan(MAX_SPAN);
});
