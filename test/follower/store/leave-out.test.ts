/**
 * Milestones whose past cone leads to blocks that an earlier milestone referenced, before the
 * snapshot, so that nothing here knows it (src/follower/store/leave-out.ts).
 */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { applyPushed } from '../../../src/follower/apply-next.ts';
import { createFollowerMemory, takePushed } from '../../../src/follower/follower-context.ts';
import { followOnce } from '../../../src/follower/pass.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { keepPushing } from '../../support/ledger/busy-feed.ts';
import { expectRoots } from '../../support/ledger/expect-roots.ts';
import {
  disturbed,
  followTo,
  ledgerIndex,
  passOnce,
  type Rig,
  startLedger,
  storeNow,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const db = await openMemory();

/** The blocks before the snapshot are a chain, so long that no walk comes to its end unasked. */
const LONG = 200;

interface Started {
  rig: Rig;
  network: SyntheticNetwork;
  /** A chain that milestone 3, the snapshot's, references, and its highest block. */
  chain: readonly string[];
  old: string;
}

/** At milestone 3. The chain's parent is an entry point. */
async function start(length = 1): Promise<Started> {
  const network = new SyntheticNetwork({ seed: 'referenced before' });
  network.milestone();
  network.milestone({ parents: [network.note([network.milestoneBlock!])] });
  const entry = network.note([network.milestoneBlock!]);
  const chain: string[] = [];
  for (let i = 0; i < length; i++) chain.push(network.note([chain.at(-1) ?? entry]));
  network.milestone({ parents: [network.note([chain.at(-1)!, network.note([entry])])] });
  network.note([entry]);
  const rig = await startLedger(db, network, 3);
  return { rig, network, chain, old: chain.at(-1)! };
}

/** Milestone 4 references a block upon an old one, and others come behind it. */
function goOn({ network, rig, old }: Started): string {
  const late = network.note([old, network.milestoneBlock!]);
  const upon = network.note([old]);
  network.milestone({ parents: [network.milestoneBlock!, network.note([late, upon])] });
  for (let i = 0; i < 3; i++) network.milestone();
  rig.node.confirm(7);
  return upon;
}

async function passes({ following }: Rig, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await followOnce(following, { deadline: Date.now() + 20_000, milestones: 12 });
}

const storedIds = async () => (await storedBlocks(db)).map(({ id }) => `0x${id}`);

const stateOf = () => db.prepare('SELECT state FROM follower').first('state');

const not =
  (readReference: Upstream['readReference']): Upstream['readReference'] =>
  async (id) => {
    const reference = await readReference(id);
    return reference === undefined ? undefined : reference === null ? 1 : null;
  };

/** Says of each block what is false. */
const lying = ({ upstream }: Rig): Upstream => ({
  ...upstream,
  name: 'liar',
  readReference: not(upstream.readReference),
});

const withholding = { readBlock: async () => undefined };

describe('a milestone upon a block that was referenced before the snapshot', () => {
  it.each([1, LONG])(
    'is applied, and the old blocks are left out: a chain of %d',
    async (length) => {
      const started = await start(length);
      const { rig, old } = started;
      goOn(started);
      await passes(rig, 2);
      expect(await ledgerIndex(db)).toBe(7);
      expect(await storedIds()).not.toContain(old);
      // the index of IDs has what its fingerprint says
      while (!(await scrub(db)));
    },
  );

  it('is applied while a feed pushes all the time', async () => {
    const started = await start();
    const { rig, network } = started;
    const ground = network.milestoneBlock!;
    await storeNow(rig, db);
    goOn(started);
    await keepPushing(rig, ground);
    await passes(rig, 2);
    expect(await ledgerIndex(db)).toBe(7);
  });

  it('is applied while a feed pushes the milestone, though its cone takes several passes', async () => {
    const started = await start();
    const { rig, network, old } = started;
    let last = network.note([old]);
    for (let i = 0; i < 100; i++) last = network.note([last]);
    const { payload } = network.milestone({ parents: [network.milestoneBlock!, last] });
    rig.node.confirm(4);
    // little of what was fetched stays in memory
    rig.following.memory = createFollowerMemory(20_000);
    let pushed = 0;
    const push = async () => {
      takePushed(rig.following.memory, 'milestone', payload);
      pushed += await applyPushed(rig.following);
    };
    const late = () => new Promise((resolve) => setTimeout(resolve, 50));
    // it comes whenever the upstream is queried
    const readReference = async (id: string) => {
      await Promise.race([push(), late()]);
      return rig.upstream.readReference(id);
    };
    rig.following.upstreams = [{ ...rig.upstream, readReference }];
    for (let i = 0; i < 10 && (await ledgerIndex(db)) === 3; i++)
      await passOnce(rig, { fetches: 110, milestonesOnly: true });
    expect(await ledgerIndex(db)).toBe(4);
    expect(pushed).toBeLessThanOrEqual(1);
  });

  it('is applied where one upstream lies and another one does not', async () => {
    for (const length of [1, LONG]) {
      const started = await start(length);
      const { rig } = started;
      goOn(started);
      rig.following.upstreams = [lying(rig), rig.upstream];
      await passes(rig, 3);
      expect(await ledgerIndex(db)).toBe(7);
    }
  });

  it('is applied where one upstream lies, though its cone takes several passes', async () => {
    const started = await start(LONG);
    const { rig, network, old } = started;
    let last = network.note([old]);
    for (let i = 0; i < 100; i++) last = network.note([last]);
    network.milestone({ parents: [network.milestoneBlock!, last] });
    rig.node.confirm(4);
    const honest = { ...rig.upstream, readTips: async () => [] };
    rig.following.upstreams = [{ ...lying(rig), readTips: async () => [] }, honest];
    for (let i = 0; i < 30 && (await ledgerIndex(db)) === 3; i++)
      await passOnce(rig, { fetches: 60 });
    expect(await ledgerIndex(db)).toBe(4);
  });

  it('is applied where a slow upstream is left for a quick one that lies, within its cone', async () => {
    const started = await start(LONG);
    const { rig, network, old } = started;
    let last = network.note([old]);
    for (let i = 0; i < 700; i++) last = network.note([last]);
    network.milestone({ parents: [network.milestoneBlock!, last] });
    rig.node.confirm(4);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    const taking = (ms: number, upstream: Upstream): Upstream => ({
      ...upstream,
      readTips: async () => [],
      readBlock(id) {
        clock.mockReturnValue(Date.now() + ms);
        return upstream.readBlock(id);
      },
    });
    rig.following.upstreams = [taking(250, rig.upstream), taking(10, lying(rig))];
    for (let i = 0; i < 20 && (await ledgerIndex(db)) === 3; i++) await passes(rig, 1);
    expect(await ledgerIndex(db)).toBe(4);
  });

  const LIES: [string, (upstream: Upstream) => Partial<Upstream>][] = [
    ['denies all blocks', () => ({ ...withholding, readReference: async () => undefined })],
    ['says what is false', ({ readReference }) => ({ readReference: not(readReference) })],
    ['ends each walk', () => ({ readReference: async () => 1 })],
    ['ends a walk, and gives no block', () => ({ ...withholding, readReference: async () => 1 })],
  ];

  it.each(process.env.SLOW ? LIES : LIES.slice(0, 1))(
    'is applied though one upstream refuses now and then, and the other one %s',
    async (_, lie) => {
      for (const isWide of process.env.SLOW ? [false, true] : [true]) {
        const started = await start(LONG);
        const { rig, network, old } = started;
        let level = [network.note([old])];
        const width = isWide ? 150 : 1;
        for (let i = 0; i < 450; i += width)
          level = Array.from({ length: width }, (__, n) =>
            network.note([level[n % level.length]!], Uint8Array.of(n)),
          );
        while (level.length > 1)
          level = Array.from({ length: Math.ceil(level.length / 8) }, (__, n) =>
            network.note(level.slice(8 * n, 8 * n + 8)),
          );
        network.milestone({ parents: [network.milestoneBlock!, ...level] });
        rig.node.confirm(4);
        let asked = 0;
        const refusing =
          <T>(read: (id: string) => Promise<T>) =>
          async (id: string) => {
            if (++asked % 60 === 0) throw new UpstreamFailure('status 429', true);
            return read(id);
          };
        const { readBlock, readReference } = rig.upstream;
        const honest: Upstream = {
          ...rig.upstream,
          readBlock: refusing(readBlock),
          readReference: refusing(readReference),
          readTips: async () => [],
        };
        rig.following.upstreams = [
          honest,
          { ...honest, readBlock, name: 'liar', ...lie(rig.upstream) },
        ];
        for (let i = 0; i < 60 && (await ledgerIndex(db)) === 3; i++) await passes(rig, 1);
        expect(await ledgerIndex(db)).toBe(4);
        // the walk is done twice, as old blocks are left out
        expect(asked).toBeLessThan(3000);
      }
    },
  );

  it.each([
    [30, 'at random', 3],
    [700, 'at random', 3],
    [700, 'in turn', 1],
    [700, 'in turn', 3],
  ])(
    'is applied though the only upstream has a node that lacks %d of its blocks, asked %s: width %d',
    async (lacking, when, width) => {
      const { rig, network, old } = await start(LONG);
      const lacks = new Set<string>();
      let level = [network.note([old])];
      for (let i = 0; i < 700; i++) {
        level = [network.note(level), ...level].slice(0, width);
        if (i % (700 / lacking) < 1) lacks.add(level[0]!.slice(2));
      }
      network.milestone({ parents: [network.milestoneBlock!, level[0]!] });
      rig.node.confirm(4);
      let [asked, seed] = [0, 1];
      const ofTwo =
        <T>(read: (id: string) => Promise<T>) =>
        async (id: string) => {
          asked++;
          seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
          const isSecond = when === 'in turn' ? asked % 2 : seed & 0x10_0000;
          return lacks.has(id) && isSecond ? undefined : read(id);
        };
      const { readBlock, readReference, readHeads } = rig.upstream;
      rig.following.upstreams = [
        {
          ...rig.upstream,
          readHeads() {
            asked++;
            return readHeads();
          },
          readBlock: ofTwo(readBlock),
          readReference: ofTwo(readReference),
          readTips: async () => [],
        },
      ];
      for (let i = 0; i < 20 && (await ledgerIndex(db)) === 3; i++) await passes(rig, 1);
      expect(await ledgerIndex(db)).toBe(4);
      expect(asked).toBeLessThan(12 * 700);
    },
  );

  it.each([
    { upstreams: 1 },
    { upstreams: 2 },
    { upstreams: 1, isPushed: true },
    { upstreams: 1, refuses: 40 },
    { upstreams: 1, isParent: true },
    { upstreams: 2, isParent: true },
    { upstreams: 1, isPushed: true, isParent: true },
    { upstreams: 1, isParent: true, refuses: 40 },
  ])(
    'is applied though its upstream began above old blocks, and knows none: %o',
    async ({ upstreams, isPushed, isParent, refuses }) => {
      const { rig, network, chain } = await start(30);
      let last = network.milestoneBlock!;
      for (const id of chain.slice(6).toReversed()) last = network.note([last, id]);
      const parents = [network.milestoneBlock!, last];
      for (const id of chain.slice(0, 6)) parents.push(network.note([id]));
      if (isParent) parents.splice(-2, 2, chain.at(-1)!, chain[0]!);
      network.milestone({ parents });
      for (let i = 0; i < 2; i++) network.milestone();
      rig.node.confirm(6);
      const entries = new Set(chain.map((id) => id.slice(2)));
      let asked = 0;
      const late =
        <T>(read: (id: string) => Promise<T>) =>
        async (id: string) => {
          if (refuses && ++asked % refuses === 0) throw new UpstreamFailure('status 429', true);
          return entries.has(id) ? undefined : read(id);
        };
      const { readBlock, readReference } = rig.upstream;
      rig.following.upstreams = Array.from({ length: upstreams }, (_, n) => ({
        ...rig.upstream,
        name: `late ${n}`,
        readBlock: late(readBlock),
        readReference: late(readReference),
      }));
      const pushed = isPushed ? [...entries].map(readBlock) : [];
      for (const bytes of await Promise.all(pushed))
        takePushed(rig.following.memory, 'block', bytes!);
      await passes(rig, refuses ? 40 : 1);
      expect(await ledgerIndex(db)).toBe(6);
    },
  );

  it('is applied after an import that comes while its blocks are read: that is no damage', async () => {
    const started = await start();
    const { rig, network } = started;
    goOn(started);
    let imports = 0;
    rig.following.db = disturbed(db, async (sql) => {
      if (sql.includes('json_each(p.blocks)') && imports++ === 0) await startLedger(db, network, 3);
    });
    await passes(rig, 3);
    expect(imports).toBeGreaterThan(0);
    expect(await ledgerIndex(db)).toBe(7);
  });

  it('is not applied where the only upstream lies, until it does not', async () => {
    const started = await start(LONG);
    const { rig } = started;
    goOn(started);
    rig.following.upstreams = [lying(rig)];
    await passes(rig, 2);
    expect(await ledgerIndex(db)).toBe(3);
    expect(await stateOf()).toBe('diverged');
    rig.following.upstreams = [rig.upstream];
    await passes(rig, 2);
    expect(await ledgerIndex(db)).toBe(7);
  });
});

it('a state names the block that its upstream lost', async () => {
  const started = await start();
  const { rig, network } = started;
  const lost = network.note([network.milestoneBlock!]);
  network.milestone({ parents: [network.milestoneBlock!, network.note([lost])] });
  rig.node.confirm(4);
  const has = (id: string) => `0x${id}` !== lost;
  const { readBlock, readReference } = rig.upstream;
  const forgetful: Upstream = {
    ...rig.upstream,
    readTips: async () => [],
    readBlock: async (id) => (has(id) ? readBlock(id) : undefined),
    readReference: async (id) => (has(id) ? readReference(id) : undefined),
  };
  rig.following.upstreams = [forgetful];
  await passes(rig, 3);
  const { state, reason } = (await db
    .prepare('SELECT state, reason FROM follower')
    .first<{ state: string; reason: string }>())!;
  expect(state).toBe('diverged');
  expect(reason).toMatch(new RegExp(`without block ${lost}, which is not known upstream$`));
  rig.following.upstreams = [rig.upstream];
  await passes(rig, 2);
  expect(await ledgerIndex(db)).toBe(4);
});

describe('a milestone upon a region of 1,374 old blocks', () => {
  async function startWide() {
    const network = new SyntheticNetwork({ seed: 'old region' });
    network.milestone();
    const bottom = network.milestoneBlock!;
    let level = Array.from({ length: 1200 }, (_, i) =>
      network.note([bottom], new Uint8Array([i >> 8, i & 255])),
    );
    while (level.length > 1) {
      const above = Array.from({ length: Math.ceil(level.length / 8) }, (_, i) =>
        network.note(level.slice(8 * i, 8 * i + 8)),
      );
      level = above;
    }
    network.milestone({ parents: [bottom, level[0]!] });
    network.milestone({ parents: [network.milestoneBlock!] });
    const rig = await startLedger(db, network, 3);
    network.milestone({ parents: [network.milestoneBlock!, network.note([level[0]!])] });
    network.milestone({ parents: [network.milestoneBlock!] });
    rig.node.confirm(5);
    let queries = 0;
    /** As an object does that opens its upstreams again, and nothing is kept of what they said. */
    const open = (upstream: Upstream): Upstream => ({
      ...upstream,
      readTips: async () => [],
      async readReference(id) {
        queries++;
        return upstream.readReference(id);
      },
    });
    return { rig, open, queries: () => queries };
  }

  it('is applied, though nothing that the upstream said is kept between passes', async () => {
    const { rig, open, queries } = await startWide();
    for (let pass = 0; pass < 3; pass++) {
      rig.following.upstreams = [open(rig.upstream)];
      await passOnce(rig);
    }
    expect(await ledgerIndex(db)).toBe(5);
    expect(queries()).toBeLessThan(300);
  });

  it('is applied beside a liar that uses up all queries of each pass', async () => {
    const { rig, open, queries } = await startWide();
    // the cone is stored
    const readReference = async (id: string) => {
      if (/^0+$/.test(id)) return undefined;
      throw new UpstreamFailure('busy');
    };
    rig.following.upstreams = [{ ...open(rig.upstream), readReference }];
    await passOnce(rig);
    expect(await ledgerIndex(db)).toBe(3);
    const before = queries();
    for (let pass = 0; pass < 4 && (await ledgerIndex(db)) === 3; pass++) {
      rig.following.upstreams = [open(lying(rig)), open(rig.upstream)];
      await passOnce(rig, { fetches: 200 });
    }
    expect(queries() - before).toBeGreaterThan(200);
    expect(await ledgerIndex(db)).toBe(5);
  });
});

it.each([1, LONG])(
  'a milestone upon a block whose ID was forgotten is applied, from the genesis on: a chain of %d',
  async (length) => {
    const network = new SyntheticNetwork({ seed: 'forgotten since the genesis' });
    network.milestone();
    const chain: string[] = [];
    for (let i = 0; i < length; i++)
      chain.push(network.note([chain.at(-1) ?? network.milestoneBlock!]));
    network.milestone({ parents: [network.milestoneBlock!, chain.at(-1)!] });
    for (let i = 0; i < 40; i++) network.milestone({ parents: [network.milestoneBlock!] });
    const rig = await startLedger(db, network, network.genesis.index, { retention: 5 });
    for (let index = 1; index <= 42; index++) await followTo(rig, index);
    expect(await db.prepare('SELECT forgotten FROM head').first('forgotten')).toBeGreaterThan(2);
    const upon = network.note([chain.at(-1)!]);
    network.milestone({ parents: [network.milestoneBlock!, upon] });
    network.milestone({ parents: [network.milestoneBlock!] });
    rig.node.confirm(44);
    await passes(rig, 2);
    expect(await ledgerIndex(db)).toBe(44);
    expect(await storedIds()).not.toContain(chain.at(-1));
    while (!(await scrub(db)));
  },
);

it('what was stored upon the word of a liar is not visible any more', async () => {
  const started = await start();
  const { rig, network, old } = started;
  const first = network.note([old]);
  const aside = network.note([first]);
  const liar: Upstream = { ...lying(rig), readTips: async () => [aside.slice(2)] };
  await storeNow({ ...rig, upstream: liar }, db);
  expect(await storedIds()).toEqual([old, first, aside]);
  const upon = goOn(started);
  rig.following.memory = createFollowerMemory();
  await passes(rig, 2);
  expect(await ledgerIndex(db)).toBe(7);
  expect(await storedIds()).not.toContain(old);
  // the blocks that stood upon it are stored again, as what they are
  await expectRoots(rig, network, [network.milestoneBlock!, aside, upon], {
    upstreams: [rig.upstream],
  });
});
