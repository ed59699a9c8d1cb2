/** Metrics and alerts are of each upstream, also of one that no pass needs. */
import { afterEach, expect, it, vi } from 'vitest';
import { followOnce } from '../../src/follower/pass.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { ledgerIndex, startLedger } from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

afterEach(() => void vi.useRealTimers());

const MILESTONES = 60;
const START = 1_800_000_000;

const OTHERS = [
  [0, 'dead'],
  [1, 'dead'],
  [1, 'alive'],
] as const;

const RUN = process.env.SLOW ? OTHERS : OTHERS.slice(0, 1);

it.each(RUN)(
  'the one at place %i of two, which is %s, is counted in five minutes',
  async (place, state) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(START * 1000);
    const network = new SyntheticNetwork({ seed: 'counted', genesisTimestamp: START });
    network.milestone();
    for (let i = 1; i < MILESTONES; i++) network.quietMilestone();
    const rig = await startLedger(await openMemory(), network, 0);
    const dead = async () => {
      throw new UpstreamFailure('no answer in time');
    };
    const other = new Proxy(rig.upstream, {
      get: (of, name) =>
        name === 'name' ? 'other' : state === 'dead' ? dead : Reflect.get(of, name),
    }) as Upstream;
    const context = { ...rig.following, upstreams: [rig.upstream].toSpliced(place, 0, other) };
    for (let second = 1; second <= 5 * MILESTONES; second++) {
      vi.setSystemTime((START + second) * 1000);
      rig.node.confirm(Math.floor(second / 5));
      await followOnce(context, { deadline: Date.now() + 10_000, milestones: 12 });
    }
    expect(await ledgerIndex(rig.db)).toBe(MILESTONES);
    const { failures, heads } = context.memory.counts.upstreams.get(place)!;
    if (state === 'dead') expect(failures).toBeGreaterThan(5);
    else expect(heads!.confirmed).toBeGreaterThan(MILESTONES - 5);
  },
);
