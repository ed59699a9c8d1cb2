/**
 * The trap (design §3): a block that a milestone referenced long ago, which is not known here any more or never was, looks like an open one. Whoever asks
 * about blocks upon it gets an error; roots would be over a past that is not theirs.
 */
import '../vectors-in-workerd.ts';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { followOnce } from '../../src/follow/follow.ts';
import { restUpstream } from '../../src/follow/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../src/follow/upstream.ts';
import { prune } from '../../src/ledger/prune.ts';
import { toHex } from '../../src/stardust/bytes.ts';
import { blockId } from '../../src/stardust/ids.ts';
import { blockAround } from '../network/blocks.ts';
import { directUpstream } from '../network/direct-upstream.ts';
import { coneOf, lastIndex, milestoneAt, type Network, type NetworkBlock } from '../network/model.ts';
import { oracleView } from '../network/oracle-view.ts';
import { recordedNetwork } from '../network/recorded.ts';
import { whiteFlag } from '../oracle/white-flag.ts';
import { NodeState } from '../upstream/node-state.ts';
import { type Answer, ask, askInFull, followTo, type Question, type Rig, startLedger, storeNow } from './rig.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const db = env.LEDGER;

/** Network-a with blocks more, which its node has got after the last milestone. */
function withBlocks(network: Network, ...parents: string[][]): { network: Network; ids: string[] } {
  const blocks = new Map(network.blocks);
  const ids = parents.map((each) => {
    const bytes = blockAround(each, undefined);
    const block: NetworkBlock = {
      id: toHex(blockId(bytes)),
      bytes,
      parents: [...each].sort(),
      visibleFrom: lastIndex(network),
    };
    blocks.set(block.id, block);
    return block.id;
  });
  return { network: { ...network, blocks }, ids };
}

const recorded = recordedNetwork('network-a');
const last = lastIndex(recorded);
const milestoneBlock = [...recorded.blocks.values()].find(({ milestoneIndex }) => milestoneIndex === last)!.id;
/** Referenced by one of the first milestones. */
const old = coneOf(recorded, 20)[2]!.id;
const { network, ids } = withBlocks(recorded, [milestoneBlock, old], [milestoneBlock]);
const [uponOld, harmless] = ids as [string, string];

function proposal(...parents: string[]): Question {
  const previous = milestoneAt(network, last)!;
  return { index: last + 1, timestamp: previous.timestamp + 5, parents, previousMilestoneId: previous.id };
}

async function oracleAnswer(question: Question): Promise<Answer> {
  const { previousMilestoneId, ...request } = question;
  const result = await whiteFlag(oracleView(network, last), { ...request, previousMilestoneId: previousMilestoneId! });
  const { inclusionMerkleRoot, appliedMerkleRoot } = result;
  return { inclusionMerkleRoot, appliedMerkleRoot };
}

/** Requests that reach the old block, by one of its children or directly. */
const reaching = [proposal(uponOld), proposal(harmless, uponOld), proposal(milestoneBlock, old)];

/** Nothing is stored between milestones, so that the requests must fetch. */
const withoutTips = (upstream: Upstream): Upstream => ({ ...upstream, readTips: async () => [] });

async function followWithoutTips(from: number): Promise<Rig> {
  const rig = await startLedger(db, network, from, { snapshotOf: recorded });
  rig.following.upstreams = [withoutTips(rig.upstream)];
  await followTo(rig, last);
  return rig;
}

async function statuses(rig: Rig, questions: readonly Question[], upstream: Upstream): Promise<Answer[]> {
  const answers = [];
  for (const question of questions) answers.push(await ask(rig, question, { upstreams: [upstream] }));
  return answers;
}

/** Whatever the upstream does, what stands upon the old block is not stored. */
async function expectNotStored(rig: Rig, upstream: Upstream): Promise<void> {
  await storeNow({ ...rig, upstream }, db);
  expect(await db.prepare('SELECT id FROM block WHERE id = ?1').bind(uponOld.slice(2)).first()).toBeNull();
}

describe('while the ID of the old block is kept', () => {
  it('its children get the right roots', async () => {
    const rig = await followWithoutTips(0);
    for (let i = 0; i < 5; i++) await prune(db, 35);
    expect(await db.prepare('SELECT record FROM block WHERE id = ?1').bind(old.slice(2)).first('record')).toBeNull();
    for (const question of [...reaching, proposal(harmless)]) {
      expect(await ask(rig, question, { upstreams: [rig.upstream] })).toEqual(await oracleAnswer(question));
    }
  });
});

describe.each([
  { name: 'pruned, and its ID forgotten', from: 0 },
  { name: 'referenced before the snapshot', from: 81 },
])('$name', ({ from }) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await followWithoutTips(from);
    if (from === 0) for (let i = 0; i < 5; i++) await prune(db, 35, { idRetention: 35 });
    expect(await db.prepare('SELECT * FROM block WHERE id = ?1').bind(old.slice(2)).first()).toBeNull();
  });

  it('gets 404, and what does not reach it the right roots', async () => {
    expect(await statuses(rig, reaching, rig.upstream)).toEqual([404, 404, 404]);
    expect(await statuses(rig, [proposal(harmless)], rig.upstream)).toEqual([await oracleAnswer(proposal(harmless))]);
  });

  it('gets 404 where the upstream does not have it any more either', async () => {
    const pruned = new NodeState(network, last);
    pruned.prune(90);
    expect(await statuses(rig, reaching, directUpstream(pruned))).toEqual([404, 404, 404]);
  });

  it('gets an error where the upstream has no metadata', async () => {
    const silent = { ...rig.upstream, readReference: async () => undefined };
    expect(await statuses(rig, reaching, silent)).toEqual([404, 404, 404]);
    await expectNotStored(rig, silent);
  });

  it('gets an error where the upstream contradicts itself', async () => {
    const upstream = {
      ...rig.upstream,
      readReference: () => Promise.reject(new UpstreamFailure('metadata that contradicts itself')),
    };
    for (const question of reaching) {
      await expect(askInFull(rig, question, { upstreams: [upstream] })).rejects.toThrow(UpstreamFailure);
    }
    await expectNotStored(rig, upstream);
  });

  it('gets an error where the upstream is behind, and does not know yet that it is referenced', async () => {
    // it has all blocks, and calls those open that milestones from 20 on reference
    const behind: Upstream = {
      ...rig.upstream,
      readHeads: async () => ({ ...(await rig.upstream.readHeads()), confirmed: 19 }),
      readReference: async (id) => {
        const reference = await rig.upstream.readReference(id);
        return typeof reference === 'number' && reference >= 20 ? null : reference;
      },
      readTips: async () => [uponOld.slice(2)],
    };
    for (const question of reaching) {
      await expect(askInFull(rig, question, { upstreams: [behind] })).rejects.toThrow(UpstreamFailure);
      // one that is not behind makes up for it
      expect(await ask(rig, question, { upstreams: [behind, rig.upstream] })).toBe(404);
    }
    rig.following.upstreams = [behind];
    await followTo(rig, last);
    await followOnce(rig.following, { deadline: Date.now() + 10_000, milestones: 1 });
    expect(await db.prepare('SELECT id FROM block WHERE id = ?1').bind(uponOld.slice(2)).first()).toBeNull();
  });

  it('is not stored with the tips', async () => {
    await expectNotStored(rig, rig.upstream);
    expect(
      await db.prepare('SELECT milestone FROM block WHERE id = ?1').bind(harmless.slice(2)).first('milestone'),
    ).toBeNull();
    expect(await ask(rig, proposal(harmless))).toEqual(await oracleAnswer(proposal(harmless)));
  });
});

describe('metadata over REST', () => {
  const id = '11'.repeat(32);
  const read = (metadata: object) => {
    const body = JSON.stringify({ blockId: `0x${id}`, parents: [], isSolid: true, ...metadata });
    const fetch = async () => new Response(body, { headers: { 'content-type': 'application/json' } });
    return restUpstream('http://upstream', { fetch, timeout: 1000, attempts: 1 }).readReference(id);
  };
  const referenced = { referencedByMilestoneIndex: 7, ledgerInclusionState: 'noTransaction', whiteFlagIndex: 0 };

  it('says which milestone references a block', async () => {
    expect(await read(referenced)).toBe(7);
    expect(await read({ shouldPromote: false, shouldReattach: false })).toBeNull();
    expect(await read({ isSolid: false })).toBeNull();
  });

  it.each([
    ['of another block', { ...referenced, blockId: `0x${'22'.repeat(32)}` }],
    ['referenced by nothing, yet included', { ...referenced, referencedByMilestoneIndex: undefined }],
    ['referenced by milestone 0, yet included', { ...referenced, referencedByMilestoneIndex: 0 }],
    ['with a place in a milestone that is not named', { whiteFlagIndex: 3 }],
    ['with a conflict in a milestone that is not named', { conflictReason: 3 }],
    ['referenced by text', { ...referenced, referencedByMilestoneIndex: '7' }],
  ])('is a failure where it is %s', async (_, metadata) => {
    await expect(read(metadata)).rejects.toThrow(UpstreamFailure);
  });
});
