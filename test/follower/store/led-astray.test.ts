/**
 * A milestone upon a block from before the snapshot, and a liar by whose word its past cone goes on
 * down to the genesis: it costs the honest upstream no more than its turn.
 */
import { expect, it } from 'vitest';
import { completeMilestone } from '../../../src/follower/complete-milestone.ts';
import { createFollowerMemory, isFull } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { keepUp } from '../../../src/follower/upkeep.ts';
import { verifyMilestone } from '../../../src/follower/verify-milestone.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { readAlone } from '../../../src/ledger/core/read-batch.ts';
import { selectExtent } from '../../../src/ledger/packs/live-packs.ts';
import { heapOfUnreferenced } from '../../../src/ledger/write/unreferenced-index.ts';
import { createConeFetcher } from '../../../src/upstream/fetch-blocks.ts';
import { createUpstreams } from '../../../src/upstream/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { defaultSettings } from '../../support/default-settings.ts';
import {
  ledgerIndex,
  passOnce,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  withTips,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { milestoneAt } from '../../support/network/network-model.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const BEHIND = { milestonesOnly: true, fetches: 60 };

/** An upstream by whose word nothing was referenced before. */
const lying = (upstream: Upstream): Upstream => ({
  ...upstream,
  name: 'liar',
  readReference: async (id) => (/^0+$/.test(id) ? 1 : null),
});

/** Blocks one upon the other. */
function attachChain(network: SyntheticNetwork, below: string, blocks: number): string[] {
  const chain = [below];
  for (let i = 0; i < blocks; i++) chain.push(network.note([chain.at(-1)!]));
  return chain;
}

/** A block upon eight, each of which stands upon eight more. */
function attachWide(network: SyntheticNetwork, below: string): string[] {
  const leaves = Array.from({ length: 64 }, (_, i) => network.note([below], new Uint8Array([i])));
  const middle = Array.from({ length: 8 }, (_, i) => network.note(leaves.slice(8 * i, 8 * i + 8)));
  return [below, ...leaves, network.note(middle)];
}

/** A ledger whose next milestone stands upon the last of some blocks that it does not know. */
async function startTrapped(blocks: number, attach = attachChain, own = 2) {
  const network = new SyntheticNetwork({ seed: 'astray' });
  network.milestone();
  const ancient = attach(network, network.milestoneBlock!, blocks);
  const top = ancient.at(-1)!;
  network.milestone({ parents: [top] });
  const entry = network.note([network.milestoneBlock!]);
  const old = network.note([entry]);
  network.milestone({ parents: [network.note([old, network.note([entry])])] });
  const rig = await startLedger(await openMemory(), network, 3);
  const parents = [network.milestoneBlock!, attachChain(network, top, own).at(-1)!];
  network.milestone({ parents: parents.sort() });
  rig.node.confirm(4);
  const upstream: Upstream = { ...rig.upstream, readTips: async () => [] };
  return { rig, upstream, db: rig.following.db, ancient };
}

/** An upstream that answers, but not about these blocks: undefined, or what `refuse` throws. */
const without = (
  upstream: Upstream,
  gone: ReadonlySet<string>,
  refuse = () => {},
): Pick<Upstream, 'readBlock' | 'readReference'> => {
  const unlessGone =
    <T>(read: (id: string) => Promise<T | undefined>) =>
    async (id: string) => {
      if (!gone.has(`0x${id}`)) return read(id);
      refuse();
      return undefined;
    };
  return {
    readBlock: unlessGone(upstream.readBlock),
    readReference: unlessGone(upstream.readReference),
  };
};

const GONE = new UpstreamFailure('gone');

it.each([
  ['is gone', { readHeads: () => Promise.reject(GONE) }],
  ['does not know it any more', undefined],
  [
    'fails over it',
    () => {
      throw GONE;
    },
  ],
])('what a liar alone had is not waited for once it %s', async (_, then) => {
  const { rig, upstream, db, ancient } = await startTrapped(300);
  const pruned = new Set(ancient.slice(0, 250));
  const honest: Upstream = { ...upstream, name: 'honest', ...without(upstream, pruned) };
  // the pool does not hold all of it
  rig.following.memory = createFollowerMemory(60_000);
  const { memory } = rig.following;
  const liar = lying(upstream);
  rig.following.upstreams = [liar];
  const cameDown = () => memory.missing.some(({ left }) => left !== undefined);
  for (let i = 0; i < 40 && !cameDown(); i++) await passOnce(rig, BEHIND);
  expect(cameDown()).toBe(true);
  const changed =
    typeof then === 'object' ? then : { readBlock: without(upstream, pruned, then).readBlock };
  rig.following.upstreams = [{ ...liar, ...changed }, honest];
  for (let i = 0; i < 30 && (await ledgerIndex(db)) < 4; i++) await passOnce(rig);
  expect(await ledgerIndex(db)).toBe(4);
});

it('an honest upstream does not diverge by the words of a liar of its host', async () => {
  const { rig, upstream, db, ancient } = await startTrapped(300);
  const urls = ['https://nodes.example/liar', 'https://nodes.example/honest'];
  const opened = createUpstreams()(
    { ...defaultSettings({}), upstreams: urls },
    { timeout: 1000, attempts: 1 },
  );
  const [liar, honest] = opened.map(({ name }): Upstream => ({ ...upstream, name }));
  // the liar is broken off in the middle of its walk
  const gone = new Set(ancient.slice(0, 190));
  const refuse = () => {
    throw GONE;
  };
  const { readReference } = lying(upstream);
  const { readBlock } = without(upstream, gone, refuse);
  const pruned = without(upstream, new Set(ancient.slice(0, 250)));
  rig.following.memory = createFollowerMemory(60_000);
  rig.following.upstreams = [
    { ...liar!, readBlock, readReference },
    { ...honest!, ...pruned },
  ];
  const states = new Set<unknown>();
  for (let i = 0; i < 10 && (await ledgerIndex(db)) < 4; i++) {
    await passOnce(rig, { milestonesOnly: true, fetches: 100 });
    states.add(await db.prepare('SELECT state FROM follower').first('state'));
  }
  expect([await ledgerIndex(db), ...states]).toEqual([4, 'following']);
});

/** Tries the next milestone by one upstream, within limits that are small. */
async function tryBy(rig: Rig, upstream: Upstream, maxHeap: number, maxMet = 1000) {
  const { db, memory } = rig.following;
  const { rules, ...position } = await readPosition(db, rig.following);
  const { payload } = milestoneAt(rig.network, position.head.ledger + 1)!;
  const verified = await verifyMilestone(payload, position, rules);
  const budget = { fetchesLeft: 2000 };
  const [deadline, waitUntil] = [Number.POSITIVE_INFINITY, Date.now() + 10_000];
  const fetch = createConeFetcher({ pool: memory.pool, upstream, budget, deadline: waitUntil });
  const limits = { budget, deadline, waitUntil, maxHeap, maxMet, maxPart: 64 };
  const tools = { memory, rules, fetch, upstream, ...limits };
  return completeMilestone(db, position.head, verified, tools);
}

/** Of some 120 blocks. */
const MAX_HEAP = 54_000;

/** Heap that unreferenced blocks take: nearly all of these are staged. */
const heapOfStaged = async ({ db }: Rig): Promise<number> =>
  heapOfUnreferenced(await readAlone(selectExtent(db)));

it('a liar alone stages no more than can be read, and the honest one goes on', async () => {
  const { rig, upstream } = await startTrapped(300);
  for (let i = 0; i < 2; i++) {
    await expect(tryBy(rig, lying(upstream), MAX_HEAP)).rejects.toThrow(/more .* is stored/);
    expect([await heapOfStaged(rig), rig.following.memory.missing]).toEqual([0, []]);
  }
  expect(await tryBy(rig, upstream, MAX_HEAP)).toMatchObject({ index: 4 });
});

it('what a liar staged before the object was evicted makes room for the honest one', async () => {
  const { rig, upstream } = await startTrapped(300);
  await expect(tryBy(rig, lying(upstream), 2 * MAX_HEAP)).rejects.toThrow(/are stored/);
  expect(await heapOfStaged(rig)).toBeGreaterThan(MAX_HEAP);
  rig.following.memory = createFollowerMemory();
  await expect(tryBy(rig, upstream, MAX_HEAP)).rejects.toThrow(/more .* is stored/);
  expect(await tryBy(rig, upstream, MAX_HEAP)).toMatchObject({ index: 4 });
});

it('no more is stored of a past cone than can be read, also where requests see all of it', async () => {
  const { rig, db } = await startTrapped(0, attachChain, 0);
  const network = rig.network as SyntheticNetwork;
  network.milestone({ parents: [network.milestoneBlock!] });
  const chain = attachChain(network, network.milestoneBlock!, 200);
  network.milestone({ parents: [chain.at(-1)!] });
  rig.node.confirm(6);
  for (let i = 0; i < 2; i++) await tryBy(rig, rig.upstream, 1e9);
  await expect(tryBy(rig, rig.upstream, MAX_HEAP)).rejects.toThrow(/more .* is stored/);
  expect(await heapOfStaged(rig)).toBeLessThan(2 * MAX_HEAP);
  await keepUp(rig.following);
  await keepUp(rig.following);
  expect(await tryBy(rig, rig.upstream, 1e9)).toMatchObject({ index: 6 });
  expect(await ledgerIndex(db)).toBe(6);
});

it("makes room for a milestone where strangers' blocks leave none, whatever tips need", async () => {
  const { network, rig, root } = await startNew(await openMemory(), 'crowded');
  const spam = attachChain(network, root, 110).at(-1)!;
  const named = withTips(rig, spam);
  await storeNow(named, rig.db);
  network.milestone({ parents: [attachChain(network, root, 80).at(-1)!] });
  rig.node.confirm(2);
  const following = { ...rig.following, upstreams: [named.upstream] };
  await expect(tryBy(rig, rig.upstream, MAX_HEAP)).rejects.toThrow(/more .* is stored/);
  await expect(tryBy(rig, rig.upstream, MAX_HEAP)).rejects.toThrow(/make room/);
  for (let i = 0; i < 2; i++) await keepUp(following);
  expect(isFull(following.memory)).toBe(true);
  expect(await tryBy(rig, rig.upstream, MAX_HEAP)).toMatchObject({ index: 2, blocks: 81 });
  await keepUp(following);
  expect(isFull(following.memory)).toBe(false);
});

it('a liar by whose word another one stored too much is asked last', async () => {
  const { rig, upstream } = await startTrapped(300);
  await expect(tryBy(rig, lying(upstream), 2 * MAX_HEAP)).rejects.toThrow(/are stored/);
  await expect(tryBy(rig, upstream, MAX_HEAP)).rejects.toThrow(/more .* is stored/);
  const { generation } = (await readHead(rig.db))!;
  expect([...rig.following.memory.upstreams.astray(generation, 3)]).toEqual(['liar']);
});

it('words about blocks that a liar does not serve count as blocks that were met', async () => {
  const { rig, upstream, ancient } = await startTrapped(0, attachWide);
  const liar = { ...lying(upstream), ...without(upstream, new Set(ancient.slice(0, 65))) };
  await expect(tryBy(rig, liar, 1e9, 110)).rejects.toThrow(/more than 110 blocks/);
  expect(await tryBy(rig, upstream, 1e9, 110)).toMatchObject({ index: 4 });
});

it('queries about references count as what a pass may fetch', async () => {
  const { rig, upstream, db, ancient } = await startTrapped(0, attachWide);
  const gone = without(upstream, new Set(ancient.slice(0, 65)));
  let queries = 0;
  const readReference = (id: string) => {
    queries++;
    return gone.readReference(id);
  };
  rig.following.upstreams = [{ ...upstream, ...gone, readReference }];
  const most: number[] = [];
  for (; most.length < 20 && (await ledgerIndex(db)) < 4; queries = 0) {
    await passOnce(rig, { milestonesOnly: true, fetches: 100 });
    most.push(queries);
  }
  expect(await ledgerIndex(db)).toBe(4);
  expect(Math.max(...most)).toBeLessThanOrEqual(100);
  expect(most.reduce((sum, each) => sum + each)).toBeGreaterThan(500);
});

it.each([
  ['begins after that', 0],
  ['was broken off in its walk before', 3],
])(
  'where a liar has staged almost all that fits, and then gives no more, the honest one is not asked last: it %s',
  async (_, given) => {
    const maxHeap = 121_500;
    const { rig, upstream, ancient } = await startTrapped(300, attachChain, 150);
    rig.following.memory = createFollowerMemory(10_000);
    const { memory } = rig.following;
    const { generation } = (await readHead(rig.db))!;
    const honest = {
      ...upstream,
      name: 'honest',
      ...without(upstream, new Set(ancient.slice(0, 290))),
    };
    const liar = lying({
      ...upstream,
      readBlock: async (id) =>
        (await heapOfStaged(rig)) > maxHeap - 30_000 ? undefined : upstream.readBlock(id),
    });
    const isAstray = ({ name }: Upstream) => memory.upstreams.astray(generation, 3).has(name);
    if (given > 0) {
      let left = given;
      const readBlock = async (id: string) => {
        if (left-- === 0) throw GONE;
        return honest.readBlock(id);
      };
      await expect(tryBy(rig, { ...honest, readBlock }, maxHeap)).rejects.toThrow('gone');
      expect(memory.missing).toMatchObject([{ by: 'honest', left: undefined, isFirst: true }]);
    }
    for (let turn = 0; turn < 40 && (await ledgerIndex(rig.db)) < 4; turn++)
      for (const each of [liar, honest].sort((a, b) => Number(isAstray(a)) - Number(isAstray(b)))) {
        const { message } = await tryBy(rig, each, maxHeap).then(
          () => ({ message: 'applied' }),
          (error: Error) => error,
        );
        // so far went what one pass may do, and the next one begins with it
        if (/are (stored|fetched)|applied/.test(message)) break;
      }
    expect(await ledgerIndex(rig.db)).toBe(4);
    expect(isAstray(honest)).toBe(false);
  },
);
