/**
 * A bit of a key of `output` that was flipped on disk hides the row. "Not found" is never the answer
 * then (src/ledger/intake/known-outputs.ts, FIND_LACKING).
 */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { readQuery } from '../../../src/ledger/core/read-batch.ts';
import { findLedgerOutputs } from '../../../src/ledger/intake/known-outputs.ts';
import { ask, startNew, storeNow } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { Random } from '../../support/network/random.ts';

const FLIPS = 150;

it('a block that consumes a hidden output is not stored, and no roots leave it out', async () => {
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'hidden');
  const spend = network.transfer(network.genesisCoins[0]!, 1);
  const id = spend.inputs[0]!.slice(2);
  const others = (await db.prepare('SELECT id FROM output').all<{ id: string }>()).results;
  const block = network.attachTransaction(spend, [root]);
  const { request } = network.propose({ parents: [block] });
  const image = Buffer.from(db.serialize());
  const random = new Random('hidden');
  let hidden = 0;
  for (let flip = 0; flip < FLIPS; flip++) {
    const damaged = Buffer.from(image);
    // any of the rows: one that hides also misleads the search for others
    const victim = others[random.below(others.length)]!.id;
    const places: number[] = [];
    for (let at = image.indexOf(victim); at >= 0; at = image.indexOf(victim, at + 1))
      places.push(at);
    const place = places[random.below(places.length)]! + random.below(victim.length);
    damaged[place]! ^= 1 << random.below(7);
    db.deserialize(damaged);
    for (const wanted of [id, victim]) {
      const isThere = (await db.prepare('SELECT 1 FROM output WHERE id = ?1').bind(wanted).all())
        .results;
      if (isThere.length > 0) continue;
      hidden++;
      const finding = readQuery(db, findLedgerOutputs(db, [wanted]));
      await expect(finding, `flip ${flip}`).rejects.toThrow(LedgerDamaged);
      if (wanted !== id) continue;
      await expect(storeNow(rig, db), `flip ${flip}`).rejects.toThrow(LedgerDamaged);
      expect(await ask(rig, request)).toBe(404);
    }
  }
  expect(hidden).toBeGreaterThan(20);
});
