/**
 * Tips stored between milestones (src/follower/store/store-tips.ts): open blocks that are more than one
 * pass may fetch are fetched over several passes, and what an upstream makes up is not stored beyond
 * the limits.
 */
import { expect, it, vi } from 'vitest';
import { followOnce } from '../../../src/follower/pass.ts';
import { UNREFERENCED_LIMITS } from '../../../src/ledger/write/drop-blocks.ts';
import { hasProofOfWork } from '../../../src/stardust/crypto/proof-of-work.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { blockId } from '../../../src/stardust/wire/ids.ts';
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
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { blockAround, taggedDataPayload } from '../../support/network/blocks.ts';
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

it('asks upstream about one block each 64 levels of a long walk', async () => {
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
  // 350 levels, over several walks
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.length).toBeLessThanOrEqual(12);
  expect(new Set(asked).size).toBe(asked.length);
});

it('asks upstream about nothing where the walk soon comes down to what is known', async () => {
  const network = networkWithOpenBlocks(120);
  const rig = withOneTip(await startLedger(db, network, network.genesis.index), network);
  await takeNext(rig, db);
  const readReference = () => Promise.reject(new Error('asked'));
  expect(await storeNow({ ...rig, upstream: { ...rig.upstream, readReference } }, db)).toBe(121);
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

it.each(['a tip', 'below a tip'])(
  'does not give a block up that parameters admit which come later: %s',
  async (where) => {
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
    const cheap = network.attachTransaction(
      network.transaction(
        [{ coin: coin!, by }],
        [basic(by, { amount: 1000n }), basic(by, { amount: COIN_AMOUNT - 1000n })],
      ),
    );
    if (where === 'below a tip') network.note([cheap]);
    // the upstream confirms it between being asked for its heads and for its tips
    rig.node.confirm(2);
    const newest = [...network.blocks.keys()].at(-1)!.slice(2);
    const ofTip = { ...rig, upstream: { ...rig.upstream, readTips: async () => [newest] } };
    await storeNow(ofTip, db);
    await followTo(rig, 2);
    await storeNow(ofTip, db);
    const { request, response } = network.propose();
    expect(await ask(rig, request)).toEqual(response);
  },
);

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

/** An upstream that names, as its only tip, the last of the blocks that it made up. */
function makesUp(rig: Rig, minScore: number) {
  const { upstream } = rig;
  const made = new Map<string, Uint8Array>();
  let tries = 0;
  /** A block upon the last one, or upon this one; with or without the work that the network wants. */
  const add = (parent: string, hasWork: boolean): string => {
    for (;;) {
      const data = new TextEncoder().encode(`${tries++}`);
      const bytes = blockAround([parent], taggedDataPayload(new Uint8Array(), data));
      if (hasProofOfWork(bytes, minScore) !== hasWork) continue;
      const id = `0x${blockId(bytes).toHex()}`;
      made.set(id.slice(2), bytes);
      return id;
    }
  };
  const lying = {
    ...upstream,
    readTips: async () => [[...made.keys()].at(-1)!],
    readBlock: async (id: string) => made.get(id) ?? upstream.readBlock(id),
  };
  return { made, add, lying };
}

const withWork = (seed: string, minPowScore: number) => {
  const { parameters } = new SyntheticNetwork({ seed }).genesis;
  return new SyntheticNetwork({ seed, parameters: { ...parameters, minPowScore } });
};

it('C-6: stores a tip with proof of work, and what it leads to, and no other tip', async () => {
  const network = withWork('work', 1);
  network.milestone();
  const rig = await startLedger(db, network, network.genesis.index);
  await takeNext(rig, db);
  const { made, add, lying } = makesUp(rig, 1);
  const first = add(network.milestoneBlock!, false);
  const second = add(first, false);
  expect(await storeNow({ ...rig, upstream: lying }, db)).toBe(0);
  // the reference requests what is below a block that it admits, and C-6 exempts that
  add(second, true);
  expect(await storeNow({ ...rig, upstream: lying }, db)).toBe(1 + made.size);
});

it('stores no more than one and a half times the limit, whatever one upstream of two names as its tips', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const before = { ...UNREFERENCED_LIMITS };
  UNREFERENCED_LIMITS.blocks = 40;
  try {
    const network = new SyntheticNetwork({ seed: 'made up' });
    network.milestone();
    const rig = await startLedger(db, network, network.genesis.index);
    await followTo(rig, 1);
    const { add, lying } = makesUp(rig, 0);
    let last = network.milestoneBlock!;
    const upstreams = [lying, { ...rig.upstream, name: 'honest' }];
    const { memory } = rig.following;
    for (let passes = 0; passes < 8; passes++) {
      for (let i = 0; i < 25; i++) last = add(last, true);
      memory.tips.hasLooseEnds = true;
      await pass({ ...rig, following: { ...rig.following, upstreams } });
      const open = (await storedBlocks(db)).filter(({ milestone }) => milestone === null);
      expect(open.length).toBeLessThanOrEqual(60);
    }
    // and the milestone is applied all the same
    network.milestone({ parents: [network.milestoneBlock!, network.note()] });
    await followTo(rig, 2);
  } finally {
    Object.assign(UNREFERENCED_LIMITS, before);
    vi.restoreAllMocks();
  }
});

it('stores nothing on the word of one upstream while another one takes long to answer', async () => {
  const network = new SyntheticNetwork({ seed: 'late word' });
  const note = (parents: string[], text: string) =>
    network.note(parents, new TextEncoder().encode(text));
  network.milestone();
  const below = note([network.milestoneBlock!], 'below');
  const old = note([below], 'old');
  network.milestone({ parents: [note([old, note([below], 'beside')], 'top')] });
  // an unreferenced child makes `below` an entry point; `old` is referenced and not known here
  note([below], 'child');
  const rig = await startLedger(db, network, 2);
  const tip = note([old], 'tip');
  const said = rig.upstream.readReference;
  const lying = {
    ...rig.upstream,
    readTips: async () => [tip.slice(2)],
    readReference: async (id: string) => ((await said(id)) === undefined ? undefined : null),
  };
  const honest = {
    ...rig.upstream,
    readReference: async (id: string) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return said(id);
    },
  };
  await storeNow({ ...rig, upstream: lying }, db, [honest]);
  const stored = (await storedBlocks(db)).map(({ id }) => id);
  expect([old, tip].filter((id) => stored.includes(id.slice(2)))).toEqual([]);
});
