/**
 * The verifier of the library over real routes: nodes that are current, that stand still, and that
 * lie, against what the network's own transactions did.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { toBase64 } from '../../src/stardust/encoding/base64.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { verifyFinal } from '../../src/stardust/final.ts';
import {
  laterState,
  type Proved,
  proveCertificate,
  provedValue,
  type Trust,
} from '../../src/stardust/provenance/provenance.ts';
import {
  createVerifier,
  type MilestoneKey,
  type NftQuery,
  Refuted,
  Unproven,
  type VerifiedNft,
  type VerifierOptions,
} from '../../src/stardust/verifier.ts';
import { nftIdOf, outputBytes } from '../../src/stardust/wire/ids.ts';
import { madeFinalLedger } from '../support/final-ledger/made-ledger.ts';
import { type Answering, certificatePath, frozenAt, liarAbout } from '../support/lies/nft-liars.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { milestoneAt, type Network } from '../support/network/network-model.ts';
import { nftLives } from '../support/network/nft-lives.ts';
import { heldAt, holdersOf } from '../support/network/nft-places.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const BACK = 50;

/** A network, and nodes of it that stand at its newest milestone and 50 before it. */
async function worldOf(network: Network, newest: number) {
  const holders = holdersOf(network);
  const [current, old] = await Promise.all([
    frozenAt(network, newest),
    frozenAt(network, newest - BACK),
  ]);
  const { timestamp } = milestoneAt(network, newest)!;
  const trust: Trust = {
    whose: 'the keys that you gave',
    keys: network.keys,
    verify: verifySignature,
  };
  return { network, newest, holders, current, old, timestamp, trust };
}

type World = Awaited<ReturnType<typeof worldOf>>;

const worlds = new Map<string, World>();
/** Certificates of a network that the others have nothing to do with. */
const foreign: unknown[] = [];

beforeAll(async () => {
  worlds.set('recorded', await worldOf(recordedNetwork('network-n'), 125));
  worlds.set('made up', await worldOf(nftLives('the verifier', 80), 80));
  const other = await worldOf(nftLives('a network beside it', 52), 52);
  for (const nftId of other.holders.keys()) {
    const answer = await other.current(certificatePath(nftId));
    if (answer.ok) foreign.push(await answer.json());
  }
});

/** A verifier that asks these nodes. */
function verifierOf(
  { network, timestamp }: World,
  nodes: readonly Answering[],
  options: Partial<VerifierOptions> = {},
) {
  const { keys, threshold } = network.keys;
  const { networkName } = network.genesis.parameters;
  const verify = verifySignature;
  return createVerifier({
    ...{ keys, threshold, networkName, verify, timeoutSeconds: 5 },
    nodes: nodes.map((_, i) => `http://node-${i}.test/base/`),
    now: () => timestamp + 7,
    fetch: async (url) => {
      const [, place, path] = /^http:\/\/node-(\d+)\.test\/base(\/.*)$/.exec(url)!;
      return nodes[Number(place)]!(path!);
    },
    ...options,
  });
}

const isNow = ({ holders, newest }: World, { nftId, outputId }: VerifiedNft) =>
  outputId === heldAt(holders.get(nftId)!, newest);

/** Whether the NFT came to that state in that milestone. */
function happened({ holders }: World, { nftId, outputId, since, standing }: VerifiedNft): boolean {
  const own = holders.get(nftId)!;
  const index = since?.milestoneIndex;
  return outputId === undefined
    ? standing === 'burned' &&
        own.some(({ spent }) => spent?.index === index) &&
        heldAt(own, index!) === undefined
    : own.some((each) => toHex(each.outputId) === outputId && each.bookedIndex === index);
}

/** Throws unless the two certificates verify, and the one refutes the other. */
async function expectRefutes({ refuted, by }: Refuted, { trust }: World): Promise<void> {
  const proofs: Proved<typeof by.state>[] = [];
  for (const { certificate, state } of [refuted, by]) {
    const finding = await proveCertificate(certificate, state.nftId, trust);
    if (finding.standing !== 'proved') throw new Error(finding.reason);
    expect(provedValue(finding.proof)).toEqual(state);
    proofs.push(finding.proof);
  }
  const later = laterState(proofs[0]!, proofs[1]!);
  if (later.standing !== 'proved') throw new Error(later.reason);
  expect(provedValue(later.proof)).toBe(provedValue(proofs[1]!));
  expect(provedValue(later.proof)).not.toBe(provedValue(proofs[0]!));
  expect(refuted.state.head.index).toBeGreaterThanOrEqual(by.state.since.index);
}

/** What came of a query, after all of it was checked. */
async function outcomeOf(
  world: World,
  nodes: readonly Answering[],
  nftId: string,
  query: NftQuery,
): Promise<string> {
  let found: VerifiedNft;
  try {
    found = await verifierOf(world, nodes).nft(nftId, query);
  } catch (error) {
    if (error instanceof Refuted) {
      await expectRefutes(error, world);
      return 'refuted';
    }
    if (!(error instanceof Unproven)) throw error;
    if (error.shown?.since !== undefined) expect(happened(world, error.shown)).toBe(true);
    return 'unproven';
  }
  expect(found.guarantee).toMatch(query.atLeast === 'created' ? /unrefuted|created/ : /unrefuted/);
  expect(happened(world, found)).toBe(true);
  if (found.guarantee === 'unrefuted') {
    expect(isNow(world, found)).toBe(true);
    expect(found.asOf!.timestamp).toBeGreaterThanOrEqual(world.timestamp + 7 - 30);
  }
  return found.guarantee;
}

const CLIENTS = Number(process.env.CLIENTS ?? 30);

describe.each(['recorded', 'made up'])('of a network that is %s', (name) => {
  const count = CLIENTS / 2;
  let world: World;
  let changed: string[];
  beforeAll(() => {
    world = worlds.get(name)!;
    const { holders, newest } = world;
    // of an NFT that the genesis has and nobody moved there is no certificate
    changed = [...holders.keys()].filter((nftId) =>
      holders.get(nftId)!.some((each) => each.bookedIndex > 0 && each.bookedIndex <= newest),
    );
  });

  const tally = async (nodesFor: (liar: Answering) => Answering[], required: number) => {
    const random = freshRandom();
    const outcomes = new Map<string, number>();
    for (let i = 0; i < count; i++) {
      const nftId = random.pick(changed);
      const liar = liarAbout(nftId, world, foreign, random);
      const nodes = nodesFor(liar.answering);
      const query: NftQuery = { nodes: required };
      if (random.chance(0.3)) query.atLeast = 'created';
      const outcome = await outcomeOf(world, random.sample(nodes, nodes.length), nftId, query);
      const key = `${outcome}${liar.disputes ? ', disputed' : ''}`;
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
    }
    return outcomes;
  };

  // what each mix must lead to: verifier-mixes.test.ts
  it('two nodes 50 milestones back and one that lies: right, or an error', async () => {
    const outcomes = await tally((liar) => [world.old, world.old, liar], 2);
    expect([...outcomes.keys()].filter((each) => each.startsWith('unrefuted'))).toEqual([]);
  });

  it('one that is current, one 50 back and one that lies: right, or an error', async () => {
    await tally((liar) => [world.current, world.old, liar], 2);
  });

  it('two that are current and one that lies: right, unless it disputes', async () => {
    const outcomes = await tally((liar) => [world.current, world.current, liar], 2);
    const others = [...outcomes.keys()].filter((each) => each !== 'unrefuted');
    expect(others.filter((each) => !each.endsWith('disputed'))).toEqual([]);
  });
});

describe('each guarantee', () => {
  let world: World;
  beforeAll(() => {
    world = worlds.get('made up')!;
  });
  const none: Answering = () => new Response(null, { status: 404 });
  const absent: Answering = () =>
    new Response(null, { status: 404, headers: { 'x-ledger-index': String(world.newest) } });
  /** An NFT that changed in the last 50 milestones, and was held before; or that did not change. */
  const pick = (isChanged: boolean, { holders, newest }: World = world) =>
    [...holders].find(([, own]) => {
      const [then, now] = [newest - BACK, newest].map((index) => heldAt(own, index));
      const isOld = own.some((each) => each.bookedIndex > 0 && toHex(each.outputId) === now);
      return then !== undefined && isOld && (then !== now) === isChanged;
    })![0];
  const ofState = async (promise: Promise<VerifiedNft>) => {
    const { guarantee, standing, outputId, asked } = await promise;
    return { guarantee, standing, outputId, asked: asked.map((each) => each.standing) };
  };
  const now = (nftId: string) => heldAt(world.holders.get(nftId)!, world.newest);

  it('unrefuted: as many current nodes as are demanded agree, and others do not matter', async () => {
    const nftId = pick(true);
    const nodes = [world.current, world.old, world.current, () => Promise.reject(new Error('no'))];
    const verifier = verifierOf(world, nodes);
    const due = { guarantee: 'unrefuted', standing: 'held', outputId: now(nftId) };
    expect(await ofState(verifier.nft(nftId.toUpperCase().replace('X', 'x')))).toEqual({
      ...due,
      asked: ['agrees', 'behind', 'agrees', 'failed'],
    });
    await expect(verifier.nft(nftId, { nodes: 3 })).rejects.toThrow(
      '2 of 4 nodes agree and are current, of 3 that must',
    );
    expect(await ofState(verifier.nft(nftId, { nodes: 3, atLeast: 'created' }))).toEqual({
      ...due,
      guarantee: 'created',
      asked: ['agrees', 'behind', 'agrees', 'failed'],
    });
    const output = (await verifier.nft(nftId)).output!;
    const held = world.network.outputs.get(now(nftId)!)!;
    expect(toHex(outputBytes(output))).toBe(toHex(held.bytes));
  });

  it('created: one node, whoever it is, or nodes that stand still', async () => {
    const recorded = worlds.get('recorded')!;
    const nftId = pick(false, recorded);
    const { current, old, holders, newest } = recorded;
    const created = { guarantee: 'created', outputId: heldAt(holders.get(nftId)!, newest) };
    for (const [nodes, query] of [
      [[current], {}],
      [[old, old], {}],
      [[current, none], {}],
    ] as const) {
      const verifier = verifierOf(recorded, nodes);
      const accepted = { ...query, atLeast: 'created' as const };
      expect(await ofState(verifier.nft(nftId, accepted))).toMatchObject(created);
      await expect(verifier.nft(nftId, query)).rejects.toMatchObject({
        name: 'Unproven',
        message: expect.stringContaining('only "created" is shown, not "unrefuted"'),
      });
    }
  });

  it('what a node without a certificate says can only take a guarantee away', async () => {
    const nftId = pick(true);
    const pruned: Answering = (path) =>
      path.endsWith('/certificate') ? none(path) : world.current(path);
    const states = async (...nodes: Answering[]) =>
      ofState(verifierOf(world, nodes).nft(nftId, { atLeast: 'claimed' }));
    expect(await states(pruned, pruned, pruned)).toMatchObject({
      guarantee: 'claimed',
      outputId: now(nftId),
    });
    expect(await states(world.current, pruned, world.current)).toMatchObject({
      guarantee: 'unrefuted',
      asked: ['agrees', 'claims', 'agrees'],
    });
    // it may be the honest one
    const replays: Answering = async (path) => {
      if (!path.endsWith('/certificate')) return world.old(path);
      const index = world.holders.get(nftId)!.find(({ spent }) => spent)!.bookedIndex;
      return world.current(`${path}?milestone=${index}`);
    };
    expect(await states(replays, pruned, replays)).toMatchObject({
      guarantee: 'created',
      asked: ['agrees', 'disputes', 'agrees'],
    });
    await expect(states(absent, pruned)).rejects.toMatchObject({
      message: expect.stringContaining('nothing is shown, not "claimed"'),
      // neither says the same as the other
      asked: [{ standing: 'disputes' }, { standing: 'disputes' }],
    });
    // a node that fails says nothing for or against the others
    expect(await states(pruned, none)).toMatchObject({ asked: ['claims', 'failed'] });
    await expect(states(absent, pruned, none)).rejects.toBeInstanceOf(Unproven);
    expect(await states(absent, absent)).toMatchObject({
      guarantee: 'claimed',
      standing: 'absent',
    });
    // what answers without an index is no edge node, and says nothing
    await expect(states(none, none)).rejects.toBeInstanceOf(Error);
    expect(await states(world.current, none, world.current)).toMatchObject({
      guarantee: 'unrefuted',
    });
  });

  it('a word is believed only of this NFT, and beside none that differs', async () => {
    const nftId = pick(true);
    type Word = { outputId: string; output: { amount: string } };
    const word = async (id: string, change = (own: Word): object => own) => {
      const own = (await (await world.current(`/api/edge/v1/nfts/${id}`)).json()) as Word;
      const answering: Answering = (path) =>
        path.endsWith('/certificate') ? none(path) : Response.json(change(own));
      return answering;
    };
    const states = async (...nodes: Answering[]) =>
      ofState(verifierOf(world, nodes).nft(nftId, { atLeast: 'claimed' }));
    const honest = await word(nftId);
    const other = [...world.holders.keys()].find((id) => id !== nftId && now(id) !== undefined)!;
    expect(await states(honest)).toMatchObject({ asked: ['claims'] });
    for (const lying of [
      await word(nftId, (own) => ({ ...own, output: { ...own.output, amount: '1' } })),
      await word(nftId, (own) => ({ ...own, outputId: `0x${'11'.repeat(32)}0000` })),
    ])
      await expect(states(honest, lying)).rejects.toMatchObject({
        asked: [{ standing: 'disputes' }, { standing: 'disputes' }],
      });
    for (const refused of [
      await word(other),
      await word(nftId, (own) => ({ ...own, outputId: own.outputId.slice(2) })),
      await word(nftId, (own) => ({ ...own, output: { ...own.output, features: [{ type: 9 }] } })),
    ])
      await expect(states(refused)).rejects.toMatchObject({ asked: [{ standing: 'failed' }] });
  });

  it('a word of the very milestone in which the NFT changed disputes', async () => {
    const nftId = pick(true);
    const { since } = await verifierOf(world, [world.current, world.current]).nft(nftId);
    const headers = { 'x-ledger-index': String(since!.milestoneIndex) };
    const nodes = [world.current, () => new Response(null, { status: 404, headers })];
    expect(await verifierOf(world, nodes).nft(nftId, { atLeast: 'created' })).toMatchObject({
      guarantee: 'created',
      asOf: since,
      asked: [{ standing: 'agrees' }, { standing: 'disputes' }],
    });
  });

  it('a node that stands still before the NFT was minted takes nothing away', async () => {
    const { newest } = world;
    const [nftId] = [...world.holders].find(
      ([, own]) =>
        own.every((each) => each.bookedIndex > newest - BACK) && heldAt(own, newest) !== undefined,
    )!;
    const nodes = [world.current, world.old, world.current];
    expect(await ofState(verifierOf(world, nodes).nft(nftId))).toMatchObject({
      guarantee: 'unrefuted',
      asked: ['agrees', 'behind', 'agrees'],
    });
  });

  it('one honest, current node refutes all that lie with one voice', async () => {
    const nftId = pick(true);
    const replays: Answering = async (path) => {
      const index = world.holders.get(nftId)!.find(({ spent }) => spent)!.bookedIndex;
      return world.current(`${path}?milestone=${index}`);
    };
    const liars = Array.from({ length: 9 }, () => replays);
    for (const at of [0, 4, 9]) {
      const asking = verifierOf(world, liars.toSpliced(at, 0, world.current)).nft(nftId, {
        nodes: 10,
      });
      const error: unknown = await asking.catch((each: unknown) => each);
      if (!(error instanceof Refuted)) throw error;
      expect(error.by.node).toBe(`http://node-${at}.test/base`);
      await expectRefutes(error, world);
    }
  });

  it('a burned NFT is burned', async () => {
    const [nftId] = [...world.holders].find(
      ([, own]) => heldAt(own, world.newest) === undefined && own.at(-1)!.spent!.index > 1,
    )!;
    const found = await verifierOf(world, [world.current, world.current]).nft(nftId);
    expect(found).toMatchObject({
      standing: 'burned',
      guarantee: 'unrefuted',
      outputId: undefined,
    });
  });

  it('a clock that is late makes nothing current', async () => {
    const nftId = pick(true);
    const { timestamp } = milestoneAt(world.network, world.newest - BACK)!;
    const late = { now: () => timestamp };
    const nodes = [world.old, world.old, world.current, world.current];
    expect(await ofState(verifierOf(world, nodes.slice(2), late).nft(nftId))).toMatchObject({
      outputId: now(nftId),
    });
    expect(
      await ofState(
        verifierOf(world, nodes, late)
          .nft(nftId, { nodes: 3 })
          .catch((error) => error.shown),
      ),
    ).toMatchObject({
      guarantee: 'created',
      outputId: now(nftId),
      asked: ['behind', 'behind', 'agrees', 'agrees'],
    });
  });

  it('a clock that is late does not make an old head current', async () => {
    const recorded = worlds.get('recorded')!;
    const { network, newest, old, current } = recorded;
    const nftId = pick(false, recorded);
    const { timestamp } = milestoneAt(network, newest - BACK)!;
    const verifier = verifierOf(recorded, [old, old, current], { now: () => timestamp });
    const asking = verifier.nft(nftId, { nodes: 3, atLeast: 'created' });
    expect(await ofState(asking)).toMatchObject({
      guarantee: 'created',
      asked: ['behind', 'behind', 'agrees'],
    });
  });

  it('as of the oldest head of the nodes that agree', async () => {
    const { network, newest, holders } = world;
    const late = await frozenAt(network, newest - 2);
    const [nftId] = [...holders].find(([, own]) => {
      const [then, now] = [newest - 2, newest].map((index) => heldAt(own, index));
      return now !== undefined && now === then;
    })!;
    for (const nodes of [
      [late, world.current],
      [world.current, late],
    ]) {
      const { asOf, guarantee } = await verifierOf(world, nodes).nft(nftId);
      expect(guarantee).toBe('unrefuted');
      const { timestamp } = milestoneAt(network, newest - 2)!;
      expect(asOf).toEqual({ milestoneIndex: newest - 2, timestamp });
    }
  });

  it('an earlier change of the same milestone is refuted by the later one', async () => {
    const { network } = world;
    const [nftId, index, first] = [...world.holders].flatMap(([id, own]) =>
      own.flatMap(({ bookedIndex, blockId }) => {
        const sameTime = own.filter((each) => each.bookedIndex === bookedIndex);
        const isHeld = bookedIndex > 0 && heldAt(own, bookedIndex) !== undefined;
        return isHeld && sameTime.length > 1 ? [[id, bookedIndex, toHex(blockId)] as const] : [];
      }),
    )[0]!;
    const node = await frozenAt(network, index);
    const replays: Answering = (path) => node(`${path}?block=${first}`);
    const { timestamp } = milestoneAt(network, index)!;
    const verifier = verifierOf(world, [replays, node], { now: () => timestamp });
    const error: unknown = await verifier.nft(nftId).catch((each: unknown) => each);
    if (!(error instanceof Refuted)) throw error;
    expect(error.refuted.state.since.index).toBe(index);
    expect(error.by.state.held?.outputId).toBe(heldAt(world.holders.get(nftId)!, index));
    await expectRefutes(error, world);
  });

  it('two milestones of one index are shown, whatever else the certificates say', async () => {
    const nftId = pick(true);
    const other = nftLives('signed twice', 80);
    // who may sign signs both
    const keys = [...world.network.keys.keys, ...other.keys.keys];
    const twice: Answering = async (path) => {
      const certificate = (await (await world.current(path)).json()) as object;
      const head = toBase64(milestoneAt(other, world.newest)!.payload);
      return new Response(JSON.stringify({ ...certificate, head }));
    };
    const nodes = [world.current, none, twice, world.current];
    const error: unknown = await verifierOf(world, nodes, { keys })
      .nft(nftId)
      .catch((each: unknown) => each);
    if (!(error instanceof Refuted)) throw error;
    const [one, two] = [error.refuted, error.by].map(({ state }) => state.head);
    expect([one!.index, two!.index]).toEqual([world.newest, world.newest]);
    expect(one!.milestoneId).not.toBe(two!.milestoneId);
    expect(error.message).toContain(`two milestones ${world.newest} are signed by the keys`);
    expect(error.asked.map(({ standing }) => standing)).toEqual([
      'refuted',
      'failed',
      'refuted',
      'failed',
    ]);
    expect(error.asked.map(({ refutes }) => refutes)).toEqual([true, false, true, false]);
  });

  it('of another network, or by other keys, nothing is shown', async () => {
    const nftId = pick(true);
    const nodes = [world.current, world.current];
    for (const options of [
      { networkName: 'another' },
      { keys: worlds.get('recorded')!.network.keys.keys },
    ])
      await expect(verifierOf(world, nodes, options).nft(nftId)).rejects.toMatchObject({
        name: 'Unproven',
        asked: [{ standing: 'failed' }, { standing: 'failed' }],
        shown: undefined,
      });
  });
});

describe('a final root', () => {
  const text = (path: string) => /^\/api\/edge\/v1\/final\/(nfts|outputs)\/0x(.*)$/.exec(path);

  it('shows for good what a node proves, and that there is nothing', async () => {
    const made = await madeFinalLedger(150);
    const world = { ...worlds.get('made up')! };
    const final: Answering = async (path) => {
      const [, tree, id] = text(path)!;
      return new Response(JSON.stringify(await made.ask(tree as 'nfts' | 'outputs', id!)));
    };
    const silent: Answering = () => new Response(null, { status: 404 });
    const answer = await made.ask('nfts', '5a'.repeat(32));
    const { networkName } = (answer as { ledger: { networkName: string } }).ledger;
    const options = { finalRoot: made.root, networkName };
    const verifier = verifierOf(world, [silent, final], options);
    for (const key of made.keys.nfts.slice(0, 10)) {
      const found = await verifier.nft(`0x${key}`, { atLeast: 'final' });
      expect(found).toMatchObject({ guarantee: 'final', standing: 'held', nftId: `0x${key}` });
      const id = fromHex(found.outputId!);
      const answer = await made.ask('outputs', toHex(id).slice(2));
      expect(verifyFinal(answer, { tree: 'outputs', id, root: made.root })).toMatchObject({
        output: {
          bookedIndex: found.since!.milestoneIndex,
          bookedTimestamp: found.since!.timestamp,
        },
      });
      expect(found.asked.map(({ standing }) => standing)).toEqual(['failed', 'agrees']);
      expect(toHex(nftIdOf(found.output!, Uint8Array.fromHex(found.outputId!.slice(2))))).toBe(
        `0x${key}`,
      );
    }
    expect(await verifier.nft(`0x${'5a'.repeat(32)}`)).toMatchObject({
      guarantee: 'final',
      standing: 'absent',
    });
    const [nftId] = made.keys.nfts;
    for (const change of [{ finalRoot: new Uint8Array(32) }, { networkName: 'another' }])
      await expect(
        verifierOf(world, [final], { ...options, ...change }).nft(`0x${nftId}`, {
          atLeast: 'final',
        }),
      ).rejects.toThrow(Unproven);
  });
});

describe('bounds', () => {
  const ask = async (answering: Answering, timeoutSeconds = 600) => {
    const world = worlds.get('made up')!;
    const asking = verifierOf(world, [answering], { timeoutSeconds });
    const error: unknown = await asking.nft(`0x${'ab'.repeat(32)}`).catch((each: unknown) => each);
    if (!(error instanceof Unproven)) throw error;
    return error.asked[0]!.reason;
  };
  const stream = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
    new Response(new ReadableStream<Uint8Array>({ pull }));

  it('more than 50 KB are refused with a sentence, and not read', async () => {
    let sent = 0;
    const endless = () =>
      stream((controller) => {
        sent += 1000;
        controller.enqueue(new Uint8Array(1000));
      });
    expect(await ask(endless)).toBe('an answer of more than 50 KB');
    expect(sent).toBeLessThan(60_000);
    const word = (path: string) =>
      path.endsWith('/certificate') ? new Response(null, { status: 404 }) : endless();
    expect(await ask(word)).toBe('no certificate, status 404; an answer of more than 256 KB');
  });

  it('who lets wait is not waited for', async () => {
    const late = 'no answer within 0.2 seconds';
    expect(await ask(() => new Promise(() => undefined), 0.2)).toBe(late);
    expect(await ask(() => stream(() => new Promise(() => undefined)), 0.2)).toBe(late);
    // a byte at a time
    const slow = () =>
      stream(async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.enqueue(Uint8Array.of(0x20));
      });
    expect(await ask(slow, 0.2)).toBe(late);
  });

  it('what is no JSON, or too deep', async () => {
    for (const body of [
      '',
      '{',
      '['.repeat(100) + ']'.repeat(100),
      new Uint8Array([0x22, 0xff, 0x22]),
    ])
      expect(await ask(() => new Response(body))).toMatch(/no JSON|not valid/);
  });
});

describe('misuse is a RangeError', () => {
  const KEY = new Uint8Array(32);
  const options = () => {
    const { network } = worlds.get('made up')!;
    // so that no single key is too few
    return { nodes: ['http://a'], keys: network.keys.keys, threshold: 1, networkName: 'x' };
  };
  it.each<[string, Partial<VerifierOptions>]>([
    ['no nodes', { nodes: [] }],
    ['one node under two names', { nodes: ['http://a', 'http://A:80/'] }],
    ['no http', { nodes: ['file:///a'] }],
    ['a user name', { nodes: ['http://a:b@c'] }],
    ['a password', { nodes: ['http://:b@c'] }],
    ['what is no URL', { nodes: ['a:b@c'] }],
    [
      'one node by two names of this machine',
      { nodes: ['http://127.0.0.1:1', 'http://localhost:1'] },
    ],
    ['one node by a third', { nodes: ['http://[::1]:1/', 'http://localhost.:1'] }],
    ['one node by what listens there', { nodes: ['http://0.0.0.0:1', 'http://localhost:1'] }],
    ['one node by IPv6', { nodes: ['http://[::ffff:127.0.0.1]:1', 'http://localhost:1'] }],
    ['keys in hex', { keys: [{ publicKey: 'ab' as never, first: 0, last: 0 }] }],
    ['a key without its last index', { keys: [{ publicKey: KEY, first: 0 } as MilestoneKey] }],
    ['a key that is too short', { keys: [{ publicKey: KEY.subarray(1), first: 0, last: 0 }] }],
    ['indexes in text', { keys: [{ publicKey: KEY, first: '0' as never, last: 0 }] }],
    ['more time than a timer counts', { timeoutSeconds: 2_147_484 }],
    ['no keys', { keys: [] }],
    ['no threshold', { threshold: 0 }],
    ['a threshold that is none', { threshold: Number.NaN }],
    ['a root that is too short', { finalRoot: new Uint8Array(31) }],
    ['no time', { timeoutSeconds: 0 }],
  ])('%s', (_, change) => {
    const create = () => createVerifier({ ...options(), ...change });
    expect(create).toThrow(RangeError);
    // of the node's URL
    expect(create).not.toThrow(/b@c/);
  });

  it.each<[string, string, NftQuery]>([
    ['no ID', '0x12', {}],
    ['one node that agrees with itself', `0x${'ab'.repeat(32)}`, { nodes: 1 }],
    ['no age', `0x${'ab'.repeat(32)}`, { maxAgeSeconds: Number.NaN }],
    ['no guarantee', `0x${'ab'.repeat(32)}`, { atLeast: 'sure' as 'final' }],
    ['a final root that nobody gave', `0x${'ab'.repeat(32)}`, { atLeast: 'final' }],
  ])('%s', async (_, nftId, query) => {
    await expect(createVerifier(options()).nft(nftId, query)).rejects.toThrow(RangeError);
  });
});

it('leaves no body open that it does not read', async () => {
  const world = worlds.get('recorded')!;
  const signals: AbortSignal[] = [];
  const verifier = verifierOf(world, [world.current], {
    fetch: async (_, init) => {
      signals.push(init!.signal as AbortSignal);
      return new Response(new ReadableStream(), { status: 404 });
    },
  });
  await expect(verifier.nft(`0x${'11'.repeat(32)}`)).rejects.toThrow(Unproven);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
