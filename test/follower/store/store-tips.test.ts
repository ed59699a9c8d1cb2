/**
 * Tips stored between milestones (src/follower/store/store-tips.ts): open blocks that are more than one
 * pass may fetch are fetched over several passes, and what an upstream makes up is not stored beyond
 * the limits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  createFollowerMemory,
  noteLedger,
  takePushed,
} from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { UNREFERENCED_LIMITS } from '../../../src/ledger/write/drop-blocks.ts';
import { hasProofOfWork } from '../../../src/stardust/crypto/proof-of-work.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { blockId } from '../../../src/stardust/wire/ids.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { joinIds } from '../../../src/upstream/block-ids.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { expectRoots } from '../../support/ledger/expect-roots.ts';
import {
  ask,
  disturbed,
  followTo,
  issue,
  ledgerIndex,
  passOnce,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { blockAround, taggedDataPayload } from '../../support/network/blocks.ts';
import { listening } from '../../support/network/direct-upstream.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { basic, metadata } from '../../support/payloads/outputs.ts';

const db = await openMemory();

/**
 * At milestone 1, and so many open blocks. Each has the two before it as parents, so that only the
 * last one is a tip: the double names all open blocks, this upstream the newest.
 */
async function startWithOpen(count: number) {
  const { network, rig: all, root } = await startNew(db, 'tips');
  let newest = [root];
  for (let i = 0; i < count; i++) newest = [network.note(newest), newest[0]!];
  return { network, all, rig: withTips(all, newest[0]!) };
}

it('stores 1,000 open blocks in a few passes, then answers without upstream', async () => {
  const { network, rig } = await startWithOpen(1000);
  const stored: number[] = [];
  while (stored.reduce((sum, each) => sum + each, 0) < 1001 && stored.length < 12)
    stored.push(await storeNow(rig, db));
  // the fourth pass reaches the last of them, and the milestone's block; a late one somewhat later
  expect(stored.length).toBeGreaterThanOrEqual(4);
  expect(stored.at(-1)).toBe(1001);
  expect(await storeNow(rig, db)).toBe(0);
  await expectRoots(rig, network);
});

it('remembers where walks were cut off in 32 bytes for each block', async () => {
  const { rig } = await startWithOpen(700);
  await storeNow(rig, db);
  const { generation, ledger } = (await readHead(db))!;
  const cuts = rig.following.memory.tips.cut(generation, ledger)[0]!;
  // of the tip, and of the two blocks below the last that was fetched
  expect(cuts.map(({ byteLength }) => byteLength)).toEqual([32, 64]);
});

it('asks upstream about one block each 64 levels of a long walk', async () => {
  const { rig } = await startWithOpen(700);
  const { upstream, asked } = listening(rig.upstream);
  const stored: number[] = [];
  for (let i = 0; i < 4; i++) stored.push(await storeNow({ ...rig, upstream }, db));
  expect(stored.reduce((sum, each) => sum + each)).toBe(701);
  // 350 levels, over several walks
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.length).toBeLessThanOrEqual(12);
  expect(new Set(asked).size).toBe(asked.length);
});

it('asks upstream about nothing where the walk soon comes down to what is known', async () => {
  const { rig } = await startWithOpen(120);
  const readReference = () => Promise.reject(new Error('asked'));
  expect(await storeNow({ ...rig, upstream: { ...rig.upstream, readReference } }, db)).toBe(121);
});

it('does not store a block that a milestone has referenced meanwhile', async () => {
  const { network, all: rig, rig: oneTip } = await startWithOpen(500);
  expect(await storeNow(oneTip, db)).toBe(0);
  await issue(rig, network);
  network.note();
  const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
  expect(open.length).toBeLessThan(300);
  expect(await storeNow(rig, db)).toBe(open.length);
  await expectRoots(rig, network);
});

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
  await passOnce(rig);
  rig.node.confirm(2);
  await passOnce(rig);
  expect(await ledgerIndex(db)).toBe(1);

  rig.following.keys = network.keys;
  await followTo(rig, 2);
  await storeNow(rig, db);
  await expectRoots(rig, network);
  network.milestone({ signers: [first!, added!] });
  await followTo(rig, 3);
});

it.each(['a tip', 'below a tip'])(
  'does not give a block up that parameters admit which come later: %s',
  async (where) => {
    const network = new SyntheticNetwork({ seed: 'cheaper' });
    const { parameters } = network.genesis;
    const rentStructure = { vByteCost: 1, vByteFactorData: 1, vByteFactorKey: 10 };
    const cheaper = { ...parameters, rentStructure };
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
    const outputs = [1000n, COIN_AMOUNT - 1000n].map((amount) => basic(by, { amount }));
    const cheap = network.attachTransaction(network.transaction([{ coin: coin!, by }], outputs));
    const tip = where === 'a tip' ? cheap : network.note([cheap]);
    // the upstream confirms it between being asked for its heads and for its tips
    rig.node.confirm(2);
    await storeNow(withTips(rig, tip), db);
    await followTo(rig, 2);
    await storeNow(withTips(rig, tip), db);
    await expectRoots(rig, network);
  },
);

it('stores a chain of 121 blocks at once, parents first', async () => {
  const { network, rig, root } = await startNew(db, 'chain');
  let last = root;
  for (let i = 0; i < 120; i++) last = network.note([last]);
  expect(await storeNow(withTips(rig, last), db)).toBe(121);
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

it('C-6: stores a tip with proof of work, and what it leads to, and no other tip', async () => {
  const { rig, root } = await startNew(db, 'work', { parameters: { minPowScore: 1 } });
  const { made, add, lying } = makesUp(rig, 1);
  const first = add(root, false);
  const second = add(first, false);
  expect(await storeNow({ ...rig, upstream: lying }, db)).toBe(0);
  // the reference requests what is below a block that it admits, and C-6 exempts that
  add(second, true);
  expect(await storeNow({ ...rig, upstream: lying }, db)).toBe(1 + made.size);
});

it('C-6: of more tips than are fetched at once, stores none without proof of work', async () => {
  const { rig, root } = await startNew(db, 'many tips', { parameters: { minPowScore: 1 } });
  const { made, add, lying } = makesUp(rig, 1);
  for (let i = 0; i < 310; i++) add(root, false);
  const upstream = { ...lying, readTips: async () => [...made.keys()] };
  for (let i = 0; i < 3; i++) expect(await storeNow({ ...rig, upstream }, db)).toBe(0);
});

it('says which upstream named a tip that is not admitted', async () => {
  const { rig, root } = await startNew(db, 'refused', { parameters: { minPowScore: 1 } });
  const { add, lying } = makesUp(rig, 1);
  add(root, false);
  const log = vi.spyOn(rig.following.memory, 'log').mockImplementation(() => {});
  await passOnce({ following: { ...rig.following, upstreams: [lying] } });
  const said = { upstream: lying.name, tips: 1 };
  expect(log.mock.calls).toContainEqual(['warn', 'upstream.tips-refused', said]);
});

it('C-6: a parent that a request names needs proof of work, unlike what is below it', async () => {
  const { network, rig, root } = await startNew(db, 'named', { parameters: { minPowScore: 1 } });
  const { add, lying } = makesUp(rig, 1);
  const askUpon = (parent: string) => {
    const { request } = network.propose({ parents: [root] });
    return ask(rig, { ...request, parents: [root, parent] }, { upstreams: [lying] });
  };
  const below = add(root, false);
  expect(await askUpon(below)).toBe(404);
  expect(await askUpon(add(below, true))).toHaveProperty('inclusionMerkleRoot');
});

it('stores no more than one and a half times the limit, whatever one upstream of two names as its tips', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const before = { ...UNREFERENCED_LIMITS };
  UNREFERENCED_LIMITS.blocks = 40;
  try {
    const { network, rig } = await startNew(db, 'made up');
    const { add, lying } = makesUp(rig, 0);
    let last = network.milestoneBlock!;
    const upstreams = [lying, { ...rig.upstream, name: 'honest' }];
    const { memory } = rig.following;
    for (let passes = 0; passes < 8; passes++) {
      for (let i = 0; i < 25; i++) last = add(last, true);
      memory.tips.hasLooseEnds = true;
      await passOnce({ ...rig, following: { ...rig.following, upstreams } });
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

/** Words of a slow upstream, made of what it would say. */
const SLOW: [string, (said: Upstream['readReference']) => Upstream['readReference']][] = [
  [
    'takes long to answer',
    (said) => async (id) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return said(id);
    },
  ],
  ['is late', () => () => Promise.reject(new UpstreamFailure('no answer in time', true))],
];

it.each(SLOW)(
  'stores nothing on the word of one upstream while another one %s',
  async (_, slow) => {
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
    const honest = { ...rig.upstream, readReference: slow(said) };
    await storeNow({ ...rig, upstream: lying }, db, [honest]);
    const stored = (await storedBlocks(db)).map(({ id }) => id);
    expect([old, tip].filter((id) => stored.includes(id.slice(2)))).toEqual([]);
  },
);

it.each([
  ['tips', 'readTips'],
  ['blocks', 'readBlock'],
])('holds no pass up for long where an upstream hangs at its %s', async (_, what) => {
  const { rig } = await startWithOpen(5);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const hanging = { ...rig.upstream, [what]: () => new Promise<never>(() => {}) };
  const following = { ...rig.following, upstreams: [hanging, rig.upstream] };
  /** A pass also waits for what is no timer, however busy the machine is: time goes on beside it. */
  const pass = async () => {
    let isOver = false;
    const over = passOnce({ following }).finally(() => {
      isOver = true;
    });
    for (let i = 0; i < 600 && !isOver; i++) {
      await vi.advanceTimersByTimeAsync(100);
      await sleep(5);
    }
    expect(isOver).toBe(true);
    await over;
  };
  await pass();
  const { ranking } = following.memory.upstreams;
  if (what === 'readTips') expect(ranking.order(2)).toEqual([1, 0]);
  ranking.beginWith(1);
  await pass();
  expect((await storedBlocks(db)).filter(({ milestone }) => milestone === null)).toHaveLength(6);
});

it.each([
  ['alone', false],
  ['though a tip is referenced', true],
])('leaves an upstream that has too many requests, %s', async (_, isOneReferenced) => {
  const { rig } = await startWithOpen(200);
  let asked = 0;
  const readBlock = async () => {
    asked++;
    throw new UpstreamFailure('status 429', true);
  };
  const readTips = async () => Array.from({ length: 200 }, (_, i) => `${i}`.padStart(64, 'f'));
  const upstreams = [{ ...rig.upstream, readBlock, readTips }];
  const { generation, ledger } = (await readHead(db))!;
  const said = rig.following.memory.upstreams.said(generation, ledger);
  if (isOneReferenced) said.referenced.add((await readTips())[0]!);
  const { behind } = await passOnce({ following: { ...rig.following, upstreams } });
  expect(asked).toBeLessThanOrEqual(64);
  expect(behind).toBe(false);
});

it('asks another upstream first once blocks below tips came from there', async () => {
  const { rig } = await startWithOpen(5);
  const failing = { ...rig.upstream, readBlock: () => Promise.reject(new UpstreamFailure('late')) };
  const following = { ...rig.following, upstreams: [failing, rig.upstream] };
  await passOnce({ following });
  expect(following.memory.upstreams.ranking.order(2)).toEqual([1, 0]);
});

it.each([
  ['does not know', async () => undefined],
  ['fails at', () => Promise.reject(new UpstreamFailure('status 500'))],
  ['is late with', () => Promise.reject(new UpstreamFailure('no answer in time', true))],
])(
  'asks no other upstream for tips that one names and %s, and takes those of another',
  async (_, withhold) => {
    const { rig } = await startWithOpen(5);
    const made = new Set(Array.from({ length: 700 }, (_, i) => `${i}`.padStart(64, 'f')));
    const lying: Upstream = {
      ...rig.upstream,
      readTips: async () => [...made],
      readBlock: (id) => (made.has(id) ? withhold() : rig.upstream.readBlock(id)),
    };
    const honest = listening(rig.upstream);
    const following = { ...rig.following, upstreams: [lying, honest.upstream] };
    for (let passes = 0; passes < 3; passes++) await passOnce({ following });
    expect(honest.read.filter((id) => made.has(id))).toEqual([]);
    expect((await storedBlocks(db)).filter(({ milestone }) => milestone === null)).toHaveLength(6);
  },
);

it.each([
  ['does not know', async () => undefined],
  ['fails at', () => Promise.reject(new UpstreamFailure('status 500'))],
])(
  'asks no other upstream for what one %s below tips that it makes up, and takes those of another',
  async (_, withhold) => {
    const { rig } = await startWithOpen(5);
    const made = new Map<string, Uint8Array>();
    const nowhere = new Set<string>();
    for (let i = 0; i < 250; i++) {
      const parents = [0, 1].map((of) => `${i}${of}`.padStart(64, 'f'));
      const bytes = blockAround(
        parents.map((id) => `0x${id}`),
        undefined,
      );
      made.set(blockId(bytes).toHex(), bytes);
      for (const id of parents) nowhere.add(id);
    }
    const lying: Upstream = {
      ...rig.upstream,
      readTips: async () => [...made.keys()],
      readBlock: async (id) =>
        made.get(id) ?? (nowhere.has(id) ? withhold() : rig.upstream.readBlock(id)),
    };
    const honest = listening(rig.upstream);
    const following = { ...rig.following, upstreams: [lying, honest.upstream] };
    for (let passes = 0; passes < 4; passes++) await passOnce({ following });
    expect(honest.read.filter((id) => made.has(id) || nowhere.has(id))).toEqual([]);
    expect((await storedBlocks(db)).filter(({ milestone }) => milestone === null)).toHaveLength(6);
  },
);

it('asks no other upstream for what is left of the tips that one named', async () => {
  const { rig } = await startWithOpen(5);
  const made = new Set(Array.from({ length: 700 }, (_, i) => `${i}`.padStart(64, 'f')));
  // too many requests: they are left for the next pass
  const first: Upstream = {
    ...rig.upstream,
    readTips: async () => [...made],
    readBlock: () => Promise.reject(new UpstreamFailure('status 429', true)),
  };
  const honest = listening(rig.upstream);
  const { generation, ledger } = (await readHead(db))!;
  const { tips } = rig.following.memory;
  tips.cut(generation, ledger)[0] = [joinIds([...made])];
  const following = { ...rig.following, upstreams: [first, honest.upstream] };
  following.memory.upstreams.ranking.beginWith(1);
  await passOnce({ following });
  expect(honest.read.filter((id) => made.has(id))).toEqual([]);
  expect(following.memory.upstreams.ranking.order(2)).toEqual([1, 0]);
  expect((await storedBlocks(db)).filter(({ milestone }) => milestone === null)).toHaveLength(6);
});

it('stores blocks below a tip that take more heap than the pool has, and fetches each some two times', async () => {
  const { network, rig, root } = await startNew(db, 'below');
  let last = root;
  for (let i = 0; i < 1000; i++) last = network.note([last], new Uint8Array(3000));
  const fetched: string[] = [];
  const readBlock = (id: string) => {
    fetched.push(id);
    return rig.upstream.readBlock(id);
  };
  const { following } = withTips(rig, last);
  const upstream = { ...withTips(rig, last).upstream, readBlock };
  following.upstreams = [upstream];
  // room for 200 blocks
  following.memory = createFollowerMemory(1_000_000);
  for (let passes = 0; passes < 8; passes++) {
    following.memory.tips.hasLooseEnds = true;
    await passOnce({ following });
  }
  expect(await storedBlocks(db)).toHaveLength(network.blocks.size);
  expect(fetched.length).toBeLessThan(2.5 * network.blocks.size);
});

it.each(process.env.SLOW ? [1, 2] : [2])(
  'goes on below tips though one in 700 blocks is refused, with %s upstreams',
  async (count) => {
    const { network, rig, root } = await startNew(db, 'now and then');
    let last = root;
    for (let i = 0; i < 1000; i++) last = network.note([last], new Uint8Array(3000));
    let fetched = 0;
    const { following, upstream } = withTips(rig, last);
    const readBlock = async (id: string) => {
      if (++fetched % 700 === 0) throw new UpstreamFailure('status 429', true);
      return rig.upstream.readBlock(id);
    };
    following.upstreams = Array.from({ length: count }, () => ({ ...upstream, readBlock }));
    // room for 200 blocks
    following.memory = createFollowerMemory(1_000_000);
    for (let passes = 0; passes < 16; passes++) {
      following.memory.tips.hasLooseEnds = true;
      await passOnce({ following });
    }
    expect(await storedBlocks(db)).toHaveLength(network.blocks.size);
  },
);

it.runIf(process.env.SLOW).each([
  ['lacks one in 251', (n: number) => n % 251 === 0 && 'lacks'],
  ['refuses all of each third pass', (_: number, pass: number) => pass % 3 === 2 && 'refuses'],
] as const)('goes on below tips though the only upstream %s', async (_, fails) => {
  const { network, rig, root } = await startNew(db, 'alone');
  let level = [root];
  for (let i = 0; i < 125; i++)
    level = Array.from({ length: 8 }, (__, n) => network.note(level, new Uint8Array(3000).fill(n)));
  let [fetched, passes] = [0, 0];
  const { following, upstream } = withTips(rig, ...level);
  const readBlock = async (id: string) => {
    const how = fails(++fetched, passes);
    if (how === 'refuses') throw new UpstreamFailure('status 429', true);
    return how === 'lacks' ? undefined : rig.upstream.readBlock(id);
  };
  following.upstreams = [{ ...upstream, readBlock }];
  // room for 200 blocks
  following.memory = createFollowerMemory(1_000_000);
  for (; passes < 24; passes++) {
    following.memory.tips.hasLooseEnds = true;
    await passOnce({ following });
  }
  expect(await storedBlocks(db)).toHaveLength(network.blocks.size);
});

it('stores large transactions in several steps', async () => {
  const { network, rig, root } = await startNew(db, 'large blocks');
  const [spend] = network.genesisSpends;
  // 31 KB, which take some 300 KB of heap
  const output = basic(network.account(1), { features: [metadata(new Uint8Array(240))] });
  const outputs = Array.from({ length: 100 }, () => output);
  const large = Array.from({ length: 45 }, () =>
    network.attachTransaction(network.transaction([spend!], outputs), [root, network.note([root])]),
  );
  const { memory } = rig.following;
  noteLedger(memory, await readPosition(db, rig.following));
  for (const { bytes } of network.blocks.values()) takePushed(memory, 'block', bytes);
  let steps = 0;
  const counting = disturbed(db, async (sql) => {
    if (/INSERT INTO pack \(|UPDATE pack SET next_block/.test(sql)) steps++;
  });
  expect(await storeNow(withTips(rig, ...large), counting)).toBeGreaterThan(large.length);
  expect(steps).toBe(2);
});
