/**
 * A bit of an ID of an output that was flipped on disk hides rows from every lookup, in the table of
 * outputs or in one that is derived of it. A scrub finds that, and from then on no roots leave the
 * output out (docs/storage.md#damage-on-disk).
 */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { ask, startNew, storeNow } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { Random } from '../../support/network/random.ts';

const FLIPS = 150;

it('is found by one round of the scrub, and nothing is answered or stored any more', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'hidden');
  const spend = network.transfer(network.genesisCoins[0]!, 1);
  const ids = (await db.prepare('SELECT id FROM output').all<{ id: string }>()).results;
  const block = network.attachTransaction(spend, [root]);
  const { request, response } = network.propose({ parents: [block] });
  const image = Buffer.from(db.serialize());
  const random = new Random('hidden');
  for (let flip = 0; flip < FLIPS; flip++) {
    const damaged = Buffer.from(image);
    const victim = ids[random.below(ids.length)]!.id;
    const places: number[] = [];
    for (let at = image.indexOf(victim); at >= 0; at = image.indexOf(victim, at + 1))
      places.push(at);
    const place = places[random.below(places.length)]! + random.below(victim.length);
    damaged[place]! ^= 1 << random.below(7);
    db.deserialize(damaged);
    const round = async () => {
      while (!(await scrub(db, 5)));
    };
    await expect(round(), `flip ${flip}`).rejects.toThrow(LedgerDamaged);
    await expect(storeNow(rig, db), `flip ${flip}`).rejects.toThrow(LedgerDamaged);
    await expect(ask(rig, request), `flip ${flip}`).rejects.toThrow(LedgerDamaged);
  }
  db.deserialize(image);
  await storeNow(rig, db);
  expect(await ask(rig, request)).toEqual(response);
});
