/**
 * Histories with HISTORY `all` on D1: a follower that keeps three states and is killed again and again
 * loses no change. More of it: nft-history.test.ts.
 */

import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { pastTable } from '../../../src/modules/histories/held-outputs.ts';
import { histories } from '../../../src/modules/histories/module.ts';
import { readNftHistory } from '../../../src/modules/histories/nft-history.ts';
import { ownerAt } from '../../../src/stardust/output.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import {
  disturbed,
  ledgerIndex,
  passOnce,
  startLedger,
} from '../../support/ledger/ledger-harness.ts';
import { eventsOfLives, nftLives } from '../../support/network/nft-lives.ts';
import { Random } from '../../support/network/random.ts';

const MILESTONES = 24;
const kept = { keepsHistory: true, ledgerParts: [histories.ledger!] };
const RETENTION = 3;

it('a follower that is killed again and again loses no change', async () => {
  const network = nftLives('histories on D1', MILESTONES);
  const random = new Random('who is killed when');
  const db = env.LEDGER;
  const { node, following } = await startLedger(db, network, 0, { retention: RETENTION });
  let kills = 0;
  for (let index = 1; index <= MILESTONES; ) {
    node.confirm(index);
    const last = random.between(1, 30);
    const die = async (batch: number) => {
      if (batch < last) return;
      kills++;
      throw new Error('killed');
    };
    const isAfter = random.chance(0.5);
    const dying = disturbed(
      db,
      (_, batch) => (isAfter ? die(batch - 1) : die(batch)),
      (_, batch) => (isAfter ? die(batch) : Promise.resolve()),
    );
    const context = { ...following, db: dying, memory: createFollowerMemory(), ...kept };
    await passOnce({ following: context }).catch((error: Error) => {
      expect(error.message).toBe('killed');
    });
    index = (await ledgerIndex(db)) + 1;
  }
  await passOnce({ following: { ...following, ...kept } });
  expect(kills).toBeGreaterThan(10);
  expect(await db.prepare('SELECT min(idx) AS idx FROM milestone').first('idx')).toBe(
    MILESTONES - RETENTION,
  );
  const kinds = new Set<string>();
  for (const [nft, events] of eventsOfLives(network)) {
    const found = await readNftHistory(db, nft, 100);
    if (!found?.ok) throw new Error(`no history of ${nft}`);
    const changes = found.changes.map(({ held, ...facts }) => ({
      ...facts,
      outputId: held?.outputId,
      owner: held && addressKey(ownerAt(held, facts.timestamp).address),
    }));
    expect([found.since, found.complete, changes]).toEqual([
      1,
      events[0]?.kind === 'minted',
      events.toReversed(),
    ]);
    for (const { kind, index } of events) if (index < MILESTONES - RETENTION) kinds.add(kind);
  }
  expect([...kinds].sort()).toEqual(['burned', 'changed', 'minted', 'transferred']);
  while (!(await scrub(db, undefined, [pastTable])));
});
