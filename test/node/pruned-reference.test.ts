/**
 * The trap (docs/architecture.md#the-trap): a block that a milestone referenced long ago, which is
 * not known here any more or never was, looks like an open one. Whoever asks about blocks upon it
 * gets an error; roots would be over a past that is not theirs.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { followOnce } from '../../src/follower/pass.ts';
import { readView } from '../../src/ledger/view/consistent-view.ts';
import { prune } from '../../src/ledger/write/prune.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { blockId } from '../../src/stardust/wire/ids.ts';
import { restUpstream } from '../../src/upstream/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { NodeState } from '../support/hornet-double/node-state.ts';
import {
  type Answer,
  ask,
  followTo,
  ledgerIndex,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import { knownBlockIds, storedBlock } from '../support/ledger/stored-blocks.ts';
import { blockAround } from '../support/network/blocks.ts';
import { directUpstream } from '../support/network/direct-upstream.ts';
import {
  coneOf,
  lastIndex,
  type Network,
  type NetworkBlock,
  type WhiteFlagCase,
} from '../support/network/network-model.ts';
import { oracleAnswer } from '../support/network/oracle-view.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { stopClock } from '../support/stopped-clock.ts';

stopClock();

const db = await openMemory();

/** Nothing is stored between milestones, so that the requests must fetch. */
const withoutTips = (upstream: Upstream): Upstream => ({ ...upstream, readTips: async () => [] });

/** A ledger, and a proposal for its next milestone. */
interface Scenario {
  rig: Rig;
  /** Referenced long ago, and the milestone that did. */
  old: string;
  reference: number;
  /** An open block upon the old one, and one upon the last milestone's block. */
  uponOld: string;
  harmless: string;
}

type Question = WhiteFlagCase['request'];

function proposal({ rig: { network } }: Scenario, ...parents: string[]): Question {
  const { index, timestamp, id } = network.milestones.at(-1)!;
  return { index: index + 1, timestamp: timestamp + 5, parents, previousMilestoneId: id };
}

function milestoneBlock({ blocks }: Network, index: number): string {
  return [...blocks.values()].find(({ milestoneIndex }) => milestoneIndex === index)!.id;
}

/** Requests that reach the old block, by its child or directly. */
function reaching(scenario: Scenario): Question[] {
  const { rig, old, uponOld, harmless } = scenario;
  const last = milestoneBlock(rig.network, lastIndex(rig.network));
  return [
    [last, uponOld],
    [harmless, uponOld],
    [last, old],
  ].map((parents) => proposal(scenario, ...parents));
}

/** Network-a, of which 35 milestones are kept. Its node has two blocks more at the end. */
async function prunedScenario(): Promise<Scenario> {
  const recorded = recordedNetwork('network-a');
  const last = lastIndex(recorded);
  const old = coneOf(recorded, 20)[2]!.id;
  const blocks = new Map(recorded.blocks);
  const [uponOld, harmless] = [
    [milestoneBlock(recorded, last), old],
    [milestoneBlock(recorded, last)],
  ].map((parents) => {
    const bytes = blockAround(parents, undefined);
    const block: NetworkBlock = {
      id: toHex(blockId(bytes)),
      bytes,
      parents: [...parents].sort(),
      visibleFrom: last,
    };
    blocks.set(block.id, block);
    return block.id;
  }) as [string, string];
  const options = { snapshotOf: recorded, retention: 35 };
  const rig = await startLedger(db, { ...recorded, blocks }, 0, options);
  rig.following.upstreams = [withoutTips(rig.upstream)];
  await followTo(rig, last);
  return { rig, old, reference: 20, uponOld, harmless };
}

/** Followed once: the tests on what is pruned from it come one after the other. */
let pruned: Promise<Scenario> | undefined;

function keptScenario(): Promise<Scenario> {
  pruned ??= prunedScenario();
  return pruned;
}

/**
 * The old block is not known, all its parents are: a walk that took it for open would come to an
 * end.
 */
async function madeScenario(
  start: 'from genesis' | 'from a snapshot',
  milestones = 6,
): Promise<Scenario> {
  const network = new SyntheticNetwork({ seed: 'trap' });
  network.milestone();
  const parent = network.note([network.milestoneBlock!]);
  const old = network.note([parent]);
  const { index: reference } = network.milestone({
    parents: [network.milestoneBlock!, network.note([old])],
  });
  // the parent of the old block is a solid entry point, the old block is none
  network.note([parent, network.milestoneBlock!]);
  const rig = await startLedger(db, network, start === 'from genesis' ? 0 : reference);
  while (network.milestones.length < milestones)
    network.milestone({ parents: [network.milestoneBlock!] });
  while ((await ledgerIndex(db)) < milestones) await takeNext(rig, db);
  const uponOld = network.note([old, network.milestoneBlock!]);
  const harmless = network.note([network.milestoneBlock!]);
  return { rig, old, reference, uponOld, harmless };
}

const SCENARIOS: { name: string; make: () => Promise<Scenario> }[] = [
  {
    name: 'pruned, and its ID forgotten',
    async make() {
      const scenario = await keptScenario();
      for (let i = 0; i < 5; i++) await prune(db, 35, { idRetention: 35 });
      return scenario;
    },
  },
  {
    name: 'its ID forgotten sooner than those of its parents',
    async make() {
      const scenario = await madeScenario('from genesis');
      await db.batch([
        db.prepare('DELETE FROM id_0 WHERE id = ?1').bind(scenario.old.slice(2)),
        db.prepare('UPDATE head SET forgotten = ?1').bind(scenario.reference),
      ]);
      await sealRows(db, 'head');
      return scenario;
    },
  },
  { name: 'referenced before the snapshot', make: () => madeScenario('from a snapshot') },
  {
    name: "referenced by the snapshot's milestone, the last so far",
    make: () => madeScenario('from a snapshot', 2),
  },
];

async function answers(
  questions: readonly Question[],
  rig: Rig,
  upstream: Upstream,
): Promise<Answer[]> {
  const all = [];
  for (const question of questions) all.push(await ask(rig, question, { upstreams: [upstream] }));
  return all;
}

const NOT_FOUND = [404, 404, 404];

/** An error of the upstream; or 404, where the walk comes below what the upstream has. */
async function expectNoRoots(rig: Rig, question: Question, upstream: Upstream): Promise<void> {
  try {
    expect(await ask(rig, question, { upstreams: [upstream] })).toBe(404);
  } catch (error) {
    expect(error).toBeInstanceOf(UpstreamFailure);
  }
}

describe('while the ID of the old block is kept', () => {
  it('its children get the right roots', async () => {
    const scenario = await keptScenario();
    const { rig, old, harmless } = scenario;
    for (let i = 0; i < 5; i++) await prune(db, 35);
    expect(await storedBlock(db, old)).toBeUndefined();
    expect((await knownBlockIds(db)).has(old.slice(2))).toBe(true);
    // what is brought is stored: in a copy, as the next tests need a ledger that lacks it
    const copy = await openMemory();
    copy.deserialize(db.serialize());
    const memory = createFollowerMemory();
    for (const question of [...reaching(scenario), proposal(scenario, harmless)]) {
      const answer = await ask(rig, question, { db: copy, memory, upstreams: [rig.upstream] });
      expect(answer).toEqual(await oracleAnswer(rig.network, question));
    }
  });
});

describe.each(SCENARIOS)('$name', ({ make }) => {
  let scenario: Scenario;
  let rig: Rig;

  /** Whatever the upstream does, what stands upon the old block is not stored. */
  async function expectNotStored(upstream: Upstream): Promise<void> {
    const tips = async () => [scenario.uponOld.slice(2)];
    await storeNow({ ...rig, upstream: { ...upstream, readTips: tips } }, db);
    await expectUnknown(scenario.uponOld);
  }

  async function expectUnknown(id: string): Promise<void> {
    const index = (await ledgerIndex(db)) + 1;
    const view = await readView(db, { index, named: [id.slice(2)] });
    expect([...view!.named]).toEqual([]);
  }

  beforeAll(async () => {
    scenario = await make();
    rig = scenario.rig;
    await expectUnknown(scenario.old);
  });

  it('gets 404, and what does not reach it the right roots', async () => {
    expect(await answers(reaching(scenario), rig, rig.upstream)).toEqual(NOT_FOUND);
    const question = proposal(scenario, scenario.harmless);
    expect(await answers([question], rig, rig.upstream)).toEqual([
      await oracleAnswer(rig.network, question),
    ]);
  });

  it('gets 404 where the upstream does not have it any more either', async () => {
    const pruned = new NodeState(rig.network, lastIndex(rig.network));
    pruned.prune(scenario.reference);
    expect(await answers(reaching(scenario), rig, directUpstream(pruned))).toEqual(NOT_FOUND);
  });

  it('gets an error where the upstream has no metadata', async () => {
    const silent = { ...rig.upstream, readReference: async () => undefined };
    expect(await answers(reaching(scenario), rig, silent)).toEqual(NOT_FOUND);
    await expectNotStored(silent);
  });

  it('gets 404 where one of two upstreams lies, in whichever order, and is not stored', async () => {
    const { uponOld } = scenario;
    const readReference = async () => null;
    const readTips = async () => [uponOld.slice(2)];
    const liar = { ...rig.upstream, readReference, readTips };
    const honest = { ...rig.upstream, readTips };
    const question = reaching(scenario)[0]!;
    for (const upstreams of [
      [liar, honest],
      [honest, liar],
    ])
      expect(await ask(rig, question, { upstreams })).toBe(404);
    await storeNow({ ...rig, upstream: liar }, db, [honest]);
    await expectUnknown(uponOld);
    // the follower's own pass hands the others over
    const following = { ...rig.following, upstreams: [liar, honest] };
    await followOnce(following, { deadline: Date.now() + 10_000, milestones: 1 });
    await expectUnknown(uponOld);
  });

  it('gets an error where the upstream contradicts itself', async () => {
    const readReference = () =>
      Promise.reject(new UpstreamFailure('metadata that contradicts itself'));
    const upstream = { ...rig.upstream, readReference };
    for (const question of reaching(scenario)) await expectNoRoots(rig, question, upstream);
    await expectNotStored(upstream);
  });

  it('gets an error where the upstream is behind, and does not know yet that it is referenced', async () => {
    // it has all blocks, and calls those open that milestones from that one on reference
    const { reference, uponOld } = scenario;
    const behind: Upstream = {
      ...rig.upstream,
      readHeads: async () => ({ ...(await rig.upstream.readHeads()), confirmed: reference - 1 }),
      async readReference(id) {
        const known = await rig.upstream.readReference(id);
        return known != null && known >= reference ? null : known;
      },
      readTips: async () => [uponOld.slice(2)],
    };
    for (const question of reaching(scenario)) {
      await expectNoRoots(rig, question, behind);
      // one that is not behind makes up for it
      expect(await ask(rig, question, { upstreams: [behind, rig.upstream] })).toBe(404);
    }
    const following = { ...rig.following, upstreams: [behind] };
    await followOnce(following, { deadline: Date.now() + 10_000, milestones: 1 });
    await expectUnknown(uponOld);
  });

  it('is not stored with the tips, and neither is what stands upon it', async () => {
    await expectNotStored(rig.upstream);
    await storeNow(rig, db);
    await expectUnknown(scenario.old);
    await expectUnknown(scenario.uponOld);
    const question = proposal(scenario, scenario.harmless);
    expect(await ask(rig, question)).toEqual(await oracleAnswer(rig.network, question));
  });
});

describe('metadata over REST', () => {
  const id = '11'.repeat(32);
  const read = (metadata: object) => {
    const body = JSON.stringify({ blockId: `0x${id}`, parents: [], isSolid: true, ...metadata });
    const fetch = async () =>
      new Response(body, { headers: { 'content-type': 'application/json' } });
    return restUpstream('http://upstream', { fetch, timeout: 1000, attempts: 1 }).readReference(id);
  };
  const referenced = {
    referencedByMilestoneIndex: 7,
    ledgerInclusionState: 'noTransaction',
    whiteFlagIndex: 0,
  };

  it('says which milestone references a block', async () => {
    expect(await read(referenced)).toBe(7);
    expect(await read({ shouldPromote: false, shouldReattach: false })).toBeNull();
    expect(await read({ isSolid: false })).toBeUndefined();
    expect(await read({ ...referenced, isSolid: false })).toBe(7);
  });

  it.each([
    ['of another block', { ...referenced, blockId: `0x${'22'.repeat(32)}` }],
    [
      'referenced by nothing, yet included',
      { ...referenced, referencedByMilestoneIndex: undefined },
    ],
    ['referenced by milestone 0, yet included', { ...referenced, referencedByMilestoneIndex: 0 }],
    ['with a place in a milestone that is not named', { whiteFlagIndex: 3 }],
    ['with a conflict in a milestone that is not named', { conflictReason: 3 }],
    ['referenced by text', { ...referenced, referencedByMilestoneIndex: '7' }],
  ])('is a failure where it is %s', async (_, metadata) => {
    await expect(read(metadata)).rejects.toThrow(UpstreamFailure);
  });
});
