/**
 * Following several upstreams of which not all are good: one hangs, stands still, is behind, or
 * diverges.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { saveFollowerState } from '../../src/follower/follower-status.ts';
import { followOnce, type PassResult } from '../../src/follower/pass.ts';
import { writeOutputBytes } from '../../src/ledger/core/output-bytes.ts';
import { readNodeStatus } from '../../src/ledger/read/node-status.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { protocolParameters } from '../../src/stardust/wire/parameters.ts';
import { restUpstream } from '../../src/upstream/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { NodeState } from '../support/hornet-double/node-state.ts';
import { expectRoots } from '../support/ledger/expect-roots.ts';
import {
  followerState,
  ledgerIndex,
  type Rig,
  startLedger,
} from '../support/ledger/ledger-harness.ts';
import { directUpstream, diverging, listening } from '../support/network/direct-upstream.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const db = env.LEDGER;

function networkOf(milestones: number): SyntheticNetwork {
  const network = new SyntheticNetwork({ seed: 'several' });
  for (let i = 0; i < milestones; i++) {
    network.note();
    network.milestone();
  }
  return network;
}

/** A pass that has some time left, or none. */
const pass = ({ following }: Rig, time = 20_000): Promise<PassResult> =>
  followOnce(following, { deadline: Date.now() + time, milestones: 12 });

const reasonOf = async () => (await followerState(db)).reason;
const stateOf = async () => (await followerState(db)).state;

/** As of a host that drops packets. */
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    const signal = init!.signal!;
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const hangingFor = (timeout: number, attempts: number) =>
  restUpstream('http://a.example', { fetch: silent, timeout, attempts });

/** As if the last milestone had come long ago. */
function letTimePass({ following }: Rig): void {
  following.memory.upstreams.lookedAroundAt = 0;
}

describe('a first upstream that hangs', () => {
  it('with all it is asked: holds one pass up, and the second is followed', async () => {
    const rig = await startLedger(db, networkOf(6), 0);
    rig.node.confirm(3);
    const hanging = listening(hangingFor(200, 3));
    rig.following.upstreams = [hanging.upstream, rig.upstream];
    // the time is up before the second is asked
    expect(await pass(rig, 100)).toEqual({ applied: 1, behind: true });
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(3);
    rig.node.confirm(6);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(6);
    expect(hanging.heads()).toBe(1);
    expect(await stateOf()).toBe('following');
  });

  it('with its blocks: nothing waits for it again', async () => {
    const rig = await startLedger(db, networkOf(6), 0);
    rig.node.confirm(6);
    const { readBlock } = hangingFor(50, 1);
    const hanging = listening({ ...rig.upstream, readBlock });
    rig.following.upstreams = [hanging.upstream, rig.upstream];
    await pass(rig, -1);
    const before = hanging.read.length;
    for (let i = 0; i < 5; i++) await pass(rig, -1);
    expect(await ledgerIndex(db)).toBe(6);
    expect(hanging.read.length).toBe(before);
  });

  it('is asked for its heads once, and not for long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const failing = expect(hangingFor(10_000, 3).readHeads()).rejects.toThrow(UpstreamFailure);
      const end = Date.now() + 5000;
      await Promise.all([
        failing.then(() => expect(Date.now()).toBeLessThan(end)),
        vi.runAllTimersAsync(),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe.runIf(process.env.SLOW)('a first upstream that is slow', () => {
  it('does not hide one that is quick, though each pass applies a milestone', async () => {
    const rig = await startLedger(db, networkOf(30), 0);
    rig.node.confirm(30);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    let read = 0;
    const slow: Upstream = {
      ...rig.upstream,
      readMilestone(index) {
        read++;
        clock.mockReturnValue(Date.now() + 50_000);
        return rig.upstream.readMilestone(index);
      },
    };
    rig.following.upstreams = [slow, rig.upstream];
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(1);
    await pass(rig);
    await pass(rig);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(27);
    expect(read).toBe(2);
  });

  it('does not hide one that is quick, though it gets on with a past cone of many passes', async () => {
    const network = networkOf(1);
    for (let i = 0; i < 1000; i++) network.note();
    network.milestone();
    const rig = await startLedger(db, network, 0);
    rig.node.confirm(2);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    let read = 0;
    const slow: Upstream = {
      ...rig.upstream,
      readBlock(id) {
        read++;
        clock.mockReturnValue(Date.now() + 250);
        return rig.upstream.readBlock(id);
      },
    };
    rig.following.upstreams = [slow, rig.upstream];
    for (let i = 0; i < 3; i++) await pass(rig);
    expect(await ledgerIndex(db)).toBe(2);
    expect(read).toBeLessThan(400);
  });

  it('is left for that, and not where it is quick, though its pass ends within a past cone', async () => {
    const network = networkOf(1);
    for (let i = 0; i < 2000; i++) network.note();
    network.milestone();
    const rig = await startLedger(db, network, 0);
    rig.node.confirm(2);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    const read: string[] = [];
    const taking = (name: string, ms: number): Upstream => ({
      ...rig.upstream,
      readBlock(id) {
        read.push(name);
        clock.mockReturnValue(Date.now() + ms);
        return rig.upstream.readBlock(id);
      },
    });
    rig.following.upstreams = [taking('quick', 10), taking('slow', 250)];
    for (let i = 0; i < 12 && (await ledgerIndex(db)) < 2; i++) {
      letTimePass(rig);
      await pass(rig, 5000);
    }
    expect(await ledgerIndex(db)).toBe(2);
    expect(read).not.toContain('slow');
  });

  it('is not interrupted while it catches up, however slowly', async () => {
    const network = networkOf(6);
    const rig = await startLedger(db, network, 0);
    rig.node.confirm(6);
    const [first, second] = network.milestones;
    const interval = (second!.timestamp - first!.timestamp) * 1000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    const slow: Upstream = {
      ...rig.upstream,
      readMilestone(index) {
        // at 1.5 times the network's speed
        clock.mockReturnValue(Date.now() + Math.floor(interval / 1.5));
        return rig.upstream.readMilestone(index);
      },
    };
    const other = listening(rig.upstream);
    rig.following.upstreams = [slow, other.upstream];
    // metrics ask it beside the passes
    rig.following.memory.upstreams.countedAt = Number.NaN;
    for (let i = 0; i < 5; i++) await pass(rig, -1);
    expect(await ledgerIndex(db)).toBe(5);
    expect(other.heads()).toBe(0);
  });

  it('is gone on with where no other has more', async () => {
    const rig = await startLedger(db, networkOf(6), 0);
    rig.node.confirm(6);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    const slow: Upstream = {
      ...rig.upstream,
      readMilestone(index) {
        clock.mockReturnValue(Date.now() + 50_000);
        return rig.upstream.readMilestone(index);
      },
    };
    rig.following.upstreams = [slow, hangingFor(20, 1)];
    for (let i = 0; i < 6; i++) expect(await pass(rig)).toMatchObject({ applied: 1 });
    expect([await ledgerIndex(db), await stateOf()]).toEqual([6, 'following']);
  });
});

describe('a first upstream with nothing newer', () => {
  it('that stands still does not hide one that is ahead', async () => {
    const network = networkOf(6);
    const rig = await startLedger(db, network, 0);
    const [still, ahead] = [new NodeState(network, 2), new NodeState(network, 2)];
    rig.following.upstreams = [directUpstream(still), directUpstream(ahead)];
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(2);
    ahead.confirm(4);
    letTimePass(rig);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(4);
    // from now on it is the other that is asked
    ahead.confirm(6);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(6);
  });

  it('that trails does not hide one that is ahead, though it brings milestones', async () => {
    const network = networkOf(6);
    const rig = await startLedger(db, network, 0);
    const [trailing, ahead] = [new NodeState(network, 1), new NodeState(network, 6)];
    rig.following.upstreams = [directUpstream(trailing), directUpstream(ahead)];
    const began = Date.now();
    const clock = vi.spyOn(Date, 'now');
    onTestFinished(() => clock.mockRestore());
    rig.following.memory.upstreams.lookedAroundAt = began;
    await pass(rig);
    trailing.confirm(2);
    clock.mockReturnValue(began + 15_000);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(2);
    // since the last look, not since the last milestone
    clock.mockReturnValue(began + 25_000);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(6);
  });

  it('that trails does not hide one that is ahead, though each pass applies a milestone', async () => {
    const network = networkOf(30);
    const rig = await startLedger(db, network, 0);
    const trailing = new NodeState(network, 0);
    const moving: Upstream = {
      ...directUpstream(trailing),
      async readHeads() {
        trailing.confirm(trailing.confirmed + 1);
        clock.mockReturnValue(Date.now() + 5000);
        return directUpstream(trailing).readHeads();
      },
    };
    rig.following.upstreams = [moving, directUpstream(new NodeState(network, 30))];
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => clock.mockRestore());
    rig.following.memory.upstreams.lookedAroundAt = Date.now();
    for (let i = 0; i < 4; i++) await pass(rig);
    expect(await ledgerIndex(db)).toBe(4);
    // 20 s after the last look
    await pass(rig);
    expect(await ledgerIndex(db)).toBeGreaterThan(10);
  });

  it('and one that is behind the ledger: tips come from one that is not', async () => {
    const network = networkOf(4);
    network.note();
    const rig = await startLedger(db, network, 0);
    const behind = new NodeState(network, 2);
    rig.node.confirm(4);
    rig.following.upstreams = [directUpstream(behind), rig.upstream];
    await pass(rig);
    letTimePass(rig);
    await pass(rig);
    expect(await ledgerIndex(db)).toBe(4);
    // asked first, it is behind the ledger
    rig.following.memory.upstreams.ranking.beginWith(0);
    await pass(rig);
    await expectRoots(rig, network);
  });

  it('while all is well the second is not asked', async () => {
    const network = networkOf(6);
    const rig = await startLedger(db, network, 0);
    const second = listening(rig.upstream);
    rig.following.upstreams = [rig.upstream, second.upstream];
    const clock = vi.spyOn(Date, 'now');
    onTestFinished(() => clock.mockRestore());
    rig.following.memory.upstreams.lookedAroundAt = network.genesis.timestamp * 1000;
    // metrics ask it beside the passes
    rig.following.memory.upstreams.countedAt = Number.NaN;
    for (let index = 1; index <= 6; index++) {
      rig.node.confirm(index);
      clock.mockReturnValue(network.milestones[index - 1]!.timestamp * 1000 + 3000);
      for (let i = 0; i < 4; i++) await pass(rig);
    }
    expect(await ledgerIndex(db)).toBe(6);
    expect(second.heads()).toBe(0);
    letTimePass(rig);
    for (let i = 0; i < 4; i++) await pass(rig);
    expect(second.heads()).toBe(1);
  });

  it('the second is not asked for each milestone though all of them are old', async () => {
    const network = networkOf(6);
    const rig = await startLedger(db, network, 0);
    const second = listening(rig.upstream);
    rig.following.upstreams = [rig.upstream, second.upstream];
    for (let index = 1; index <= 6; index++) {
      rig.node.confirm(index);
      for (let i = 0; i < 2; i++) await pass(rig);
    }
    expect(await ledgerIndex(db)).toBe(6);
    expect(second.heads()).toBe(1);
  });
});

describe('an upstream that diverges', () => {
  it.each([
    ['behind the ledger', 1],
    ['level with the ledger', 2],
  ])('is told of in spite of a second that is %s', async (_, confirmed) => {
    const network = networkOf(4);
    const rig = await startLedger(db, network, 0);
    const other = new NodeState(network, confirmed);
    rig.node.confirm(4);
    rig.following.upstreams = [
      diverging(rig.upstream, network.signers, { at: 3 }),
      directUpstream(other),
    ];
    for (let i = 0; i < 4; i++) {
      await pass(rig);
      expect([await ledgerIndex(db), await stateOf()]).toEqual([2, 'diverged']);
      if (i === 2) letTimePass(rig);
    }
    other.confirm(3);
    letTimePass(rig);
    await pass(rig);
    expect(await ledgerIndex(db)).toBeGreaterThanOrEqual(3);
    expect(await stateOf()).toBe('following');
  });

  it('is told of when it is the second, and not any more when it has mended', async () => {
    const network = networkOf(4);
    const rig = await startLedger(db, network, 0);
    const other = new NodeState(network, 2);
    rig.node.confirm(4);
    rig.following.upstreams = [
      directUpstream(other),
      diverging(rig.upstream, network.signers, { at: 3 }),
    ];
    for (let i = 0; i < 3; i++) {
      await pass(rig);
      if (i === 0) letTimePass(rig);
    }
    expect([await ledgerIndex(db), await stateOf()]).toEqual([2, 'diverged']);
    rig.node.confirm(2);
    letTimePass(rig);
    await pass(rig);
    expect(await stateOf()).toBe('following');
  });

  it('is told of once another was asked too, in a later pass as it takes queries', async () => {
    const network = networkOf(3);
    const rig = await startLedger(db, network, 0);
    rig.node.confirm(1);
    await pass(rig);
    rig.node.confirm(3);
    const others = listening(directUpstream(new NodeState(network, 0)));
    const bad = diverging(rig.upstream, network.signers);
    rig.following.upstreams = [bad, others.upstream];
    // each invocation has made as many as it may
    rig.following.memory.queriesBefore = Number.NEGATIVE_INFINITY;
    await pass(rig);
    expect([others.heads(), await stateOf()]).toEqual([0, 'following']);
    await pass(rig);
    expect([others.heads(), await stateOf()]).toEqual([1, 'diverged']);
    rig.following.upstreams = [bad, rig.upstream];
    for (let i = 0; i < 3; i++) await pass(rig);
    expect([await ledgerIndex(db), await stateOf()]).toEqual([3, 'following']);
  });

  it('is found beside one that is level, however many queries were made before', async () => {
    const network = networkOf(2);
    const rig = await startLedger(db, network, 0);
    rig.node.confirm(2);
    const level = directUpstream(new NodeState(network, 0));
    rig.following.upstreams = [level, diverging(rig.upstream, network.signers)];
    rig.following.memory.queriesBefore = Number.NEGATIVE_INFINITY;
    letTimePass(rig);
    await pass(rig);
    expect([await ledgerIndex(db), await stateOf()]).toEqual([0, 'diverged']);
  });

  it('is not told of any more where another ledger was imported since', async () => {
    const network = networkOf(4);
    const rig = await startLedger(db, network, 2);
    const other = new NodeState(network, 2);
    rig.node.confirm(4);
    rig.following.upstreams = [
      directUpstream(other),
      diverging(rig.upstream, network.signers, { at: 3 }),
    ];
    await pass(rig);
    expect([await ledgerIndex(db), await stateOf()]).toEqual([2, 'diverged']);
    await startLedger(db, network, 3);
    other.confirm(3);
    await pass(rig);
    expect([await ledgerIndex(db), await stateOf()]).toEqual([3, 'following']);
  });
});

describe('an upstream of another network', () => {
  const ofNetwork = (networkName: string | undefined, { upstream }: Rig): Upstream => ({
    ...upstream,
    readHeads: async () => ({ ...(await upstream.readHeads()), networkName }),
  });

  it.each([
    ['level with the ledger', 2],
    ['behind it', 1],
  ])('%s is told of, and not any more when it was a mistake', async (_, confirmed) => {
    const rig = await startLedger(db, networkOf(3), 2);
    rig.node.confirm(confirmed);
    rig.following.upstreams = [ofNetwork('another', rig)];
    await pass(rig);
    expect(await stateOf()).toBe('diverged');
    expect(await reasonOf()).toMatch(
      /^the upstream is of network another, .* of synthetic: import /,
    );
    rig.following.upstreams = [ofNetwork('synthetic', rig)];
    await pass(rig);
    expect(await stateOf()).toBe('following');
  });

  it('is told of where one of its protocol parameters differs, with its name', async () => {
    const network = networkOf(3);
    const rig = await startLedger(db, network, 2);
    rig.node.confirm(2);
    const { parameters } = network.genesis;
    const saying = (said: Partial<typeof parameters>): Upstream => ({
      ...rig.upstream,
      readHeads: async () => ({
        ...(await rig.upstream.readHeads()),
        networkName: 'synthetic',
        parameters: { ...parameters, ...said },
      }),
    });
    const { rentStructure, tokenSupply } = parameters;
    for (const said of [
      { bech32Hrp: 'eeg' },
      { minPowScore: parameters.minPowScore + 1 },
      { belowMaxDepth: 14 },
      { tokenSupply: tokenSupply + 1n },
      { rentStructure: { ...rentStructure, vByteFactorKey: rentStructure.vByteFactorKey + 1 } },
    ]) {
      rig.following.upstreams = [saying(said)];
      await pass(rig);
      expect(await stateOf()).toBe('diverged');
      expect(await reasonOf()).toMatch(
        new RegExp(`other protocol parameters .* \\(${Object.keys(said)}\\)`),
      );
      rig.following.upstreams = [saying({})];
      await pass(rig);
      expect(await stateOf()).toBe('following');
    }
    // one that is ahead may have had others announced since
    rig.node.confirm(3);
    rig.following.upstreams = [
      { ...saying({ belowMaxDepth: 14 }), readMilestone: rig.upstream.readMilestone },
    ];
    await pass(rig, -1);
    expect(await ledgerIndex(db)).toBe(3);
  });

  it('is not taken for one while it is where parameters are in force that the import lacks', async () => {
    const network = networkOf(1);
    const { parameters } = network.genesis;
    const bytes = encode(protocolParameters, { ...parameters, belowMaxDepth: 14 });
    const from = { targetMilestoneIndex: 3, protocolVersion: 2 };
    network.milestone({ announce: { type: 1, ...from, parameters: bytes } });
    for (let index = 3; index <= 4; index++) network.milestone();
    const rig = await startLedger(db, network, 4);
    const lagging = async () => ({
      ...(await rig.upstream.readHeads()),
      ...{ networkName: 'synthetic', parameters },
    });
    for (const [confirmed, state] of [
      [2, 'following'],
      [4, 'diverged'],
    ] as const) {
      rig.node.confirm(confirmed);
      rig.following.upstreams = [{ ...rig.upstream, readHeads: lagging }];
      await pass(rig);
      expect(await stateOf()).toBe(state);
    }
  });

  it("has its token kept only where its protocol parameters are the ledger's", async () => {
    const network = networkOf(3);
    const rig = await startLedger(db, network, 2);
    rig.node.confirm(2);
    const { parameters } = network.genesis;
    const mine = {
      ...{ name: 'Mine', tickerSymbol: 'MYC', unit: 'MYC', subunit: '' },
      ...{ decimals: 2, useMetricPrefix: false },
    };
    const saying = (baseToken: typeof mine, said: Partial<typeof parameters>): Upstream => ({
      ...rig.upstream,
      readHeads: async () => ({
        ...(await rig.upstream.readHeads()),
        networkName: 'synthetic',
        parameters: { ...parameters, ...said },
        baseToken,
      }),
    });
    const unlimited = { finalMilestone: undefined, limitBytes: undefined };
    const settings = { follows: true, retention: 100, ...unlimited };
    const tokenOf = async () => (await readNodeStatus(db, settings))?.baseToken;
    rig.following.upstreams = [saying({ ...mine, decimals: 9 }, { belowMaxDepth: 14 })];
    await pass(rig);
    expect(await tokenOf()).toBeUndefined();
    rig.following.upstreams = [saying(mine, {})];
    await pass(rig);
    expect(await tokenOf()).toEqual(mine);
    // nothing is followed any more, or another network was imported
    expect((await readNodeStatus(db, { ...settings, follows: false }))?.baseToken).toBeUndefined();
    const write = (said: unknown) => {
      const text = writeOutputBytes(new TextEncoder().encode(JSON.stringify(said)));
      return db.prepare('UPDATE follower SET token = ?1').bind(text).run();
    };
    await write({ network: 'other', baseToken: mine });
    expect(await tokenOf()).toBeUndefined();
    await write({ network: 'synthetic', baseToken: mine });
    expect(await tokenOf()).toEqual(mine);
    const written = (await db.prepare('SELECT token FROM follower').first<string>('token'))!;
    // a row that damage changed, and one of a version that wrote JSON
    for (let at = 0; at < written.length; at += 7) {
      const other = written[at] === 'A' ? 'B' : 'A';
      const flipped = `${written.slice(0, at)}${other}${written.slice(at + 1)}`;
      await db.prepare('UPDATE follower SET token = ?1').bind(flipped).run();
      // the last character may have bits that stand for nothing
      expect([undefined, mine]).toContainEqual(await tokenOf());
    }
    const json = JSON.stringify({ network: 'synthetic', baseToken: { ...mine, decimals: 3 } });
    await db.prepare('UPDATE follower SET token = ?1').bind(json).run();
    expect(await tokenOf()).toBeUndefined();
  });

  it('is not told of where it says no name', async () => {
    const rig = await startLedger(db, networkOf(2), 0);
    rig.node.confirm(2);
    rig.following.upstreams = [ofNetwork(undefined, rig)];
    await pass(rig);
    expect([await ledgerIndex(db), await stateOf()]).toEqual([2, 'following']);
  });
});

it('what a liar said of the newest milestone goes as soon as another upstream names it', async () => {
  const rig = await startLedger(db, networkOf(3), 2);
  rig.node.confirm(2);
  const naming = (timestamp: number, milestoneId: string): Upstream => ({
    ...rig.upstream,
    readHeads: async () => ({ confirmed: 2, latest: { index: 3, timestamp, milestoneId } }),
  });
  const settings = {
    follows: true,
    retention: 100,
    finalMilestone: undefined,
    limitBytes: undefined,
  };
  for (const [timestamp, milestoneId] of [
    [1, 'f'.repeat(64)],
    [2, 'f'.repeat(64)],
    [2, 'a'.repeat(64)],
  ] as const) {
    rig.following.upstreams = [naming(timestamp, milestoneId)];
    await pass(rig);
    const named = (await readNodeStatus(db, settings))?.upstream;
    expect(named).toEqual({ index: 3, timestamp, milestoneId });
  }
});

describe('what an earlier object said of the follower', () => {
  const failing = ({ upstream }: Rig): Upstream => ({
    ...upstream,
    readHeads: () => Promise.reject(new UpstreamFailure('no answer')),
  });

  it.each(['stopped', 'diverged'] as const)(
    'is marked as such while no upstream answers: %s',
    async (state) => {
      const rig = await startLedger(db, networkOf(2), 0);
      await saveFollowerState(db, { state, reason: 'so it was' });
      const { upstream } = rig;
      rig.following.upstreams = [failing(rig)];
      await pass(rig);
      expect(await stateOf()).toBe(state);
      expect(await reasonOf()).toMatch(/^so it was; since then .* no upstream answered$/);
      // another object, to which nothing is new
      rig.following.memory.hasState = false;
      const before = await reasonOf();
      await pass(rig);
      expect(await reasonOf()).toBe(before);
      rig.following.upstreams = [upstream];
      await pass(rig);
      expect([await stateOf(), await reasonOf()]).toEqual(['following', null]);
    },
  );

  it('is not, where this object has said it', async () => {
    const rig = await startLedger(db, networkOf(2), 0);
    await pass(rig);
    await saveFollowerState(db, { state: 'diverged', reason: 'so it is' });
    rig.following.upstreams = [failing(rig)];
    await pass(rig);
    expect(await reasonOf()).toBe('so it is');
  });
});
