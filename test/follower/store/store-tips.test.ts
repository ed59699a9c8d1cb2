/**
 * Tips stored between milestones (src/follower/store/store-tips.ts): open blocks that are more than one
 * pass may fetch are fetched over several passes.
 */
import { expect, it } from 'vitest';
import { followOnce } from '../../../src/follower/pass.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import {
  ask,
  followTo,
  ledgerIndex,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic } from '../../support/payloads/outputs.ts';

const db = await openMemory();

/** Each block has the two before it as parents, so that only the last one is a tip. */
function networkWithOpenBlocks(count: number): SyntheticNetwork {
  const network = new SyntheticNetwork({ seed: 'tips' });
  network.milestone();
  let newest = [network.milestoneBlock!];
  for (let i = 0; i < count; i++) newest = [network.note(newest), newest[0]!];
  return network;
}

/** The double names all open blocks; this one names the newest. */
function withOneTip(rig: Rig, network: SyntheticNetwork): Rig {
  const newest = [...network.blocks.keys()].at(-1)!.slice(2);
  return { ...rig, upstream: { ...rig.upstream, readTips: async () => [newest] } };
}

it('stores 1,000 open blocks in a few passes, then answers without upstream', async () => {
  const network = networkWithOpenBlocks(1000);
  const rig = withOneTip(await startLedger(db, network, network.genesis.index), network);
  await takeNext(rig, db);
  const stored: number[] = [];
  while (stored.reduce((sum, each) => sum + each, 0) < 1001 && stored.length < 12)
    stored.push(await storeNow(rig, db));
  // the fourth pass reaches the last of them, and the milestone's block; a late one somewhat later
  expect(stored.length).toBeGreaterThanOrEqual(4);
  expect(stored.at(-1)).toBe(1001);
  expect(await storeNow(rig, db)).toBe(0);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);
});

it('asks upstream about the lowest blocks of a long walk only, which prove the others', async () => {
  const network = networkWithOpenBlocks(700);
  const rig = withOneTip(await startLedger(db, network, network.genesis.index), network);
  await takeNext(rig, db);
  const asked: string[] = [];
  const upstream = {
    ...rig.upstream,
    readReference: (id: string) => {
      asked.push(id);
      return rig.upstream.readReference(id);
    },
  };
  const stored: number[] = [];
  for (let i = 0; i < 4; i++) stored.push(await storeNow({ ...rig, upstream }, db));
  expect(stored.reduce((sum, each) => sum + each)).toBe(701);
  // of two walks that did not come down to what is known: the lowest block of each
  expect(asked).toHaveLength(2);
  expect(new Set(asked).size).toBe(2);
});

it('asks upstream about nothing where the walk comes down to what is known', async () => {
  const network = networkWithOpenBlocks(250);
  const rig = withOneTip(await startLedger(db, network, network.genesis.index), network);
  await takeNext(rig, db);
  const readReference = () => Promise.reject(new Error('asked'));
  expect(await storeNow({ ...rig, upstream: { ...rig.upstream, readReference } }, db)).toBe(251);
});

it('does not store a block that a milestone has referenced meanwhile', async () => {
  const network = networkWithOpenBlocks(500);
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  expect(await storeNow(withOneTip(rig, network), db)).toBe(0);
  network.milestone();
  await takeNext(rig, db);
  network.note();
  const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
  expect(open.length).toBeLessThan(300);
  expect(await storeNow(rig, db)).toBe(open.length);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);
});

const pass = ({ following }: Rig) =>
  followOnce(following, { deadline: Date.now() + 20_000, milestones: 12 });

it('does not record a milestone as any other block whose key is not configured yet', async () => {
  const network = new SyntheticNetwork({ seed: 'rotation', keyCount: 4, threshold: 2 });
  const [first, second, , added] = network.signers;
  network.milestone({ signers: [first!, second!] });
  network.note();
  const rig = await startLedger(db, network, network.genesis.index);
  const keys = network.keys.keys.filter(
    ({ publicKey }) => publicKey.toHex() !== added!.publicKey.toHex(),
  );
  rig.following.keys = { ...network.keys, keys };
  await followTo(rig, 1);
  network.milestone({ signers: [first!, added!] });
  // its block is among the tips before the upstream has confirmed it
  rig.node.confirm(1, 2);
  await pass(rig);
  rig.node.confirm(2);
  await pass(rig);
  expect(await ledgerIndex(db)).toBe(1);

  rig.following.keys = network.keys;
  await followTo(rig, 2);
  await storeNow(rig, db);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);
  network.milestone({ signers: [first!, added!] });
  await followTo(rig, 3);
});

it('does not record a block as inadmissible whose parameters are not announced yet', async () => {
  const network = new SyntheticNetwork({ seed: 'cheaper' });
  const { parameters } = network.genesis;
  const cheaper = {
    ...parameters,
    rentStructure: { vByteCost: 1, vByteFactorData: 1, vByteFactorKey: 10 },
  };
  network.milestone();
  network.note();
  const rig = await startLedger(db, network, network.genesis.index);
  await followTo(rig, 1);
  const protocolVersion = parameters.version;
  const announce = {
    type: 1 as const,
    targetMilestoneIndex: 2,
    protocolVersion,
    parameters: encode(protocolParameters, cheaper),
  };
  network.milestone({ announce });
  const by = network.account(0);
  const [coin] = network.genesisCoins;
  network.attachTransaction(
    network.transaction(
      [{ coin: coin!, by }],
      [basic(by, { amount: 1000n }), basic(by, { amount: COIN_AMOUNT - 1000n })],
    ),
  );
  // the upstream confirms it between being asked for its heads and for its tips
  rig.node.confirm(2);
  await storeNow(rig, db);
  await followTo(rig, 2);
  await storeNow(rig, db);
  const { request, response } = network.propose();
  expect(await ask(rig, request)).toEqual(response);
});

it('stores a chain of 121 blocks at once, parents first', async () => {
  const network = new SyntheticNetwork({ seed: 'chain' });
  network.milestone();
  let last = network.milestoneBlock!;
  for (let i = 0; i < 120; i++) last = network.note([last]);
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  expect(
    await storeNow(
      { ...rig, upstream: { ...rig.upstream, readTips: async () => [last.slice(2)] } },
      db,
    ),
  ).toBe(121);
});
