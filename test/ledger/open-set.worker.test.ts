/**
 * What the follower remembers of open blocks is what is stored (src/ledger/open-set.ts), whoever
 * changes it.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { LedgerMoved } from '../../src/ledger/fence.ts';
import { headFromRow, SELECT_HEAD } from '../../src/ledger/head.ts';
import { createOpenSet, type OpenSet } from '../../src/ledger/open-set.ts';
import { dropOrphans } from '../../src/ledger/orphans.ts';
import { outputsToFind } from '../../src/ledger/prepare-blocks.ts';
import {
  ledgerIndex,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import { parsedBlock } from '../support/network/blocks.ts';
import { basic } from '../support/network/outputs.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import type { Spend } from '../support/network/transactions.ts';

const db = env.LEDGER;

const SELECT_TAKEN = `
  SELECT max(next_output) AS taken
  FROM (SELECT next_output FROM head UNION ALL SELECT next_output FROM open)`;

/** All that a set says of every block and output that the network ever had. */
async function tell(set: OpenSet, { network }: Rig) {
  const head = headFromRow((await db.prepare(SELECT_HEAD).bind(null).first())!);
  const blocks = [...network.blocks.values()].map(({ bytes }) => parsedBlock(bytes));
  const named = [...network.blocks.keys()].map((id) => id.slice(2));
  const view = await set.view(db, head, named, outputsToFind(blocks));
  const { outputs, nextBlock } = view.numbering;
  const taken = Number(await db.prepare(SELECT_TAKEN).first('taken'));
  // the numbers of outputs that no open block mentions are free to choose
  const contents = [...outputs].map(
    ([id, { number, ...known }]) => [id, { ...known, ...(number < taken && { number }) }] as const,
  );
  return {
    ledger: view.head.ledger,
    size: view.size,
    last: view.last,
    named: new Map([...view.named].sort()),
    open: view.findOpen(named),
    outputs: new Map(contents.sort()),
    nextBlock,
  };
}

/** Beside a set that remembers: one that reads packs anew, and one that remembers nothing. */
async function expectTrue(rig: Rig): Promise<void> {
  const remembered = await tell(rig.following.memory.openSet, rig);
  expect(remembered).toEqual(await tell(createOpenSet(1e9), rig));
  expect(remembered).toEqual(await tell(createOpenSet(0), rig));
}

it('tells what is stored, after blocks, milestones, orphans and imports', async () => {
  const network = new SyntheticNetwork({ seed: 'open set', parameters: { belowMaxDepth: 2 } });
  network.milestone();
  let rig = await startLedger(db, network, 0);
  await takeNext(rig, db);
  await expectTrue(rig);
  const { random } = network;
  const spends: Spend[] = network.genesisCoins.map((coin, i) => ({ coin, by: network.account(i) }));
  const pay = () => {
    const spend = spends.shift()!;
    const made = network.transaction([spend], [basic(spend.by, COIN_AMOUNT)]);
    // sometimes what it makes is spent before it is there
    if (random.chance(0.3)) {
      const again = { coin: made.coins[0]!, by: spend.by };
      network.attachTransaction(network.transaction([again], [basic(spend.by, COIN_AMOUNT)]));
    }
    network.attachTransaction(made);
    spends.push({ coin: made.coins[0]!, by: spend.by });
  };
  let dropped = 0;
  for (let step = 0; step < 40; step++) {
    const what = random.below(10);
    if (what < 4) pay();
    if (what < 7) {
      network.note();
      await storeNow(rig, db);
    } else if (what === 7) {
      network.milestone();
      await takeNext(rig, db);
    } else if (what === 8) {
      // behind the set's back
      network.note();
      await storeNow({ ...rig, following: (await startAgain(rig)).following }, db);
    } else {
      await dropOrphans(db, 1000).catch((error) => expect(error).toBeInstanceOf(LedgerMoved));
      dropped = Number(await db.prepare('SELECT dropped FROM head').first('dropped'));
    }
    await expectTrue(rig);
  }
  // what nobody builds upon becomes an orphan
  const orphan = network.note([network.milestoneBlock!]);
  await storeNow(rig, db);
  for (let i = 0; i < 16; i++) {
    network.milestone({ parents: [network.milestoneBlock!] });
    await takeNext(rig, db);
  }
  await expectTrue(rig);
  await dropOrphans(db, 1000);
  expect(Number(await db.prepare('SELECT dropped FROM head').first('dropped'))).toBeGreaterThan(
    dropped,
  );
  await expectTrue(rig);
  expect((await tell(rig.following.memory.openSet, rig)).open.has(orphan.slice(2))).toBe(false);

  const { memory } = rig.following;
  rig = await startLedger(db, network, await ledgerIndex(db));
  await expectTrue({ ...rig, following: { ...rig.following, memory } });
});

/** Another follower of the same ledger. */
async function startAgain({ following }: Rig): Promise<Pick<Rig, 'following'>> {
  return {
    following: { ...following, memory: { ...following.memory, openSet: createOpenSet(1e9) } },
  };
}
