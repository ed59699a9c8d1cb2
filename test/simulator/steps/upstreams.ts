/** Upstreams: behind, silent, slow, forgetful, pruned, lying. An honest one is always left. */

import { concatBytes, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { blockId } from '../../../src/stardust/wire/ids.ts';
import { blockAround } from '../../support/network/blocks.ts';
import { lastIndex, ZERO_ID } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { askRoots, stagedIds } from '../checks/white-flag.ts';
import { isSmall, type Limits, unreferencedBlocks } from '../platform/limits.ts';
import type { Settings } from '../story.ts';
import { type Conduct, HINDRANCES, LIES, type Lie, type UpstreamDouble } from '../upstream.ts';
import type { World } from '../world.ts';
import { issue, requestAt } from './coordinators.ts';
import { forgedMilestone, forgedTwin } from './forge.ts';
import { hasLiar, type Step, type Steps, stepsOf } from './step.ts';

const honestly = stepsOf('upstream');
const upstream = stepsOf('upstream', { isHostile: true });
/** Else the node knows every reference by itself. */
const isLedAstray = (settings: Settings) => settings.before > 1 && hasLiar(settings);

export const upstreamSteps = {
  lag: honestly(2, lag),
  resync: upstream(2, resync),
  balance: upstream(2, balance),
  outage: upstream(2, outage),
  // nobody answers
  allDown: upstream(1, allFor(2, 40, { isUp: false }, { isUp: true })),
  // no request is answered, while feeds go on
  restDown: upstream(2, allFor(5, 60, { failing: 1 }, { failing: 0 })),
  // nobody has some of the blocks, while feeds go on
  blocksGone: upstream(2, allFor(10, 60, { forgetful: 0.5 }, { forgetful: 0 })),
  withhold: upstream(3, withhold),
  starve: upstream(3, starve, ({ limits }) => unreferencedBlocks(limits) < FLOODS * FLOOD_BLOCKS),
  disturb: upstream(4, disturb),
  hinder: upstream(4, hinder),
  lie: upstream(5, lie, hasLiar),
  pretend: upstream(3, pretend, hasLiar),
  hearsay: upstream(0, hearsay, isLedAstray),
  contradict: upstream(0, contradict, isLedAstray),
  makeUp: upstream(4, makeUp, hasLiar),
  silence: upstream(2, silence),
  disturbFeed: upstream(3, disturbFeed),
  cutFeed: upstream(2, ({ upstreams }, random) => random.pick(upstreams).dropListeners()),
  refuseFeed: upstream(2, refuseFeed),
  pushLies: upstream(3, pushLies),
  pruneUpstream: upstream(1, pruneUpstream),
  recover: honestly(3, ({ upstreams }, random) => {
    const one = random.pick(upstreams);
    if (!one.isAway) one.recover();
  }),
} satisfies Steps;

function honest({ upstreams, liar }: World): UpstreamDouble[] {
  return upstreams.filter((each) => each !== liar);
}

/** Some milestones behind, while another honest one is up and not, or nobody lies (SECURITY.md). */
function lag(world: World, random: Random): void {
  const one = someoneToBeBehind(world, random);
  if (one !== undefined) one.conduct.lag = random.below(3);
}

/** It began anew, and comes to what it has missed a while later. */
function resync(world: World, random: Random): void {
  const one = someoneToBeBehind(world, random);
  if (one === undefined) return;
  Object.assign(one.conduct, { lag: random.between(3, 6), isSyncing: true });
  world.simulation.after(random.between(5, 40) * 1000, () => {
    if (!world.isCalm) Object.assign(one.conduct, { lag: 0, isSyncing: false });
    world.publishNews();
  });
}

/** Several nodes behind one address, of which any may answer: some are behind. */
function balance(world: World, random: Random): void {
  const one = someoneToBeBehind(world, random);
  if (one !== undefined) one.conduct.spread = random.below(4);
}

function someoneToBeBehind(world: World, random: Random): UpstreamDouble | undefined {
  const [first, ...others] = random.sample(honest(world), 9);
  const isCovered = others.some(({ conduct: { isUp, lag, spread } }) => isUp && lag + spread === 0);
  return isCovered || world.liar === undefined ? first : undefined;
}

function outage(world: World, random: Random): void {
  const [first, ...others] = random.sample(honest(world), 9);
  if (first === undefined || others.length === 0) return;
  for (const { conduct } of others) Object.assign(conduct, { isUp: true, lag: 0 });
  first.conduct.isUp = false;
}

/** What all upstreams do for so many seconds, between two numbers, and what after that. */
function allFor(
  from: number,
  to: number,
  now: Partial<Conduct>,
  later: Partial<Conduct>,
): Step['run'] {
  return ({ upstreams, simulation }, random) => {
    for (const { conduct } of upstreams) Object.assign(conduct, now);
    simulation.after(random.between(from, to) * 1000, () => {
      for (const { conduct } of upstreams) Object.assign(conduct, later);
    });
  };
}

/** A new block that the next milestone needs is nowhere for a while, and all else comes as ever. */
function withhold(world: World, random: Random): void {
  withholdFor(world, random, random.between(10, 90) * 1000);
}

const FLOODS = 9;
const FLOOD_BLOCKS = 60;
const FLOOD_MS = 4000;

/**
 * The same while more blocks come than are to be stored, to a follower that begins anew. They stand
 * beside the block that is nowhere: on it none could be stored.
 */
function starve(world: World, random: Random): void {
  const { simulation, network, node } = world;
  const below = network.milestoneBlock ?? ZERO_ID;
  withholdFor(world, random, (FLOODS + 3) * FLOOD_MS);
  simulation.after(1.5 * FLOOD_MS, () => node.follower.kill());
  for (let i = 2; i < FLOODS + 2; i++)
    simulation.after(i * FLOOD_MS, () => {
      network.random = random;
      // what came before the follower listened again is nowhere below
      const wave = [below];
      while (wave.length <= FLOOD_BLOCKS)
        wave.push(network.note(random.sample(wave.slice(-8), 2), random.bytes(8)));
      world.publishNews();
    });
}

export function withholdFor(
  { upstreams, simulation, network }: World,
  random: Random,
  ms: number,
): string {
  const id = network.note(network.someParents(), random.bytes(8));
  const how = random.pick(['withheld', 'unreadable'] as const);
  for (const { conduct } of upstreams) conduct[how] = new Set([...conduct[how], id]);
  simulation.after(ms, () => {
    for (const { conduct } of upstreams)
      conduct[how] = new Set([...conduct[how]].filter((each) => each !== id));
  });
  return id;
}

/** Answers fail, hang, are cut or late, or blocks are lost: of these a liar alone would decide. */
function disturb({ upstreams, liar }: World, random: Random): void {
  const { conduct } = random.pick(upstreams);
  conduct.failing = random.pick([0, 0.05, 0.3]);
  conduct.hanging = random.pick([0, 0, 0.02]);
  conduct.busy = random.pick([0, 0, 0.1]);
  conduct.cutting = random.pick([0, 0.05, 0.2]);
  conduct.slow = random.pick([0, 0.1, 0.5]);
  conduct.forgetful = liar === undefined ? random.pick([0, 0, 0.1, 0.5]) : 0;
}

/** What a follower asks, of which an upstream may answer one kind and not another. */
const ASKED = ['info', 'tips', 'block', 'blockMetadata', 'milestoneByIndex'] as const;

/** For some seconds one of the upstreams, or several, answer only some kinds of requests. */
function hinder({ upstreams, simulation }: World, random: Random): void {
  const names = random.sample(ASKED, random.between(1, ASKED.length - 1));
  const hindered = Object.fromEntries(names.map((name) => [name, random.pick(HINDRANCES)]));
  const some = random.sample(upstreams, random.between(1, upstreams.length));
  for (const { conduct } of some) conduct.hindered = hindered;
  simulation.after(random.between(5, 60) * 1000, () => {
    for (const { conduct } of some) if (conduct.hindered === hindered) conduct.hindered = {};
  });
}

/** None, or a few; the most dangerous one more often than the others. */
function lie(world: World, random: Random): void {
  const { liar } = world;
  if (liar === undefined) return;
  const some: Lie[] = random.sample(LIES, random.below(3));
  liar.conduct.lies = new Set(random.chance(0.4) ? [LIES[0], ...some] : some);
}

/** In which a milestone is brought in. */
const BROUGHT_MS = 6000;

/**
 * A milestone over two blocks that stand upon the same one. The liar, alone for a while, gives the
 * second of them, and calls what is below it referenced; the others come only then, from the liar or
 * from others.
 */
function pretend(world: World, random: Random): void {
  const { simulation, network, node, liar } = world;
  if (liar === undefined) return;
  network.random = random;
  const last = network.milestoneBlock!;
  const below = network.note([last], random.bytes(8));
  const [first, second] = [1, 2].map(() => network.note([below], random.bytes(8))).sort();
  const others = honest(world).filter(({ conduct }) => conduct.isUp);
  for (const { conduct } of others) conduct.isUp = false;
  const { lies } = liar.conduct;
  Object.assign(liar.conduct, { isUp: true, lies: new Set(), pretended: new Set([below, first]) });
  const end = () => {
    for (const { conduct } of others) conduct.isUp = true;
    Object.assign(liar.conduct, { lies, pretended: new Set() });
    liar.onAsked = undefined;
    world.publishNews();
  };
  const how = random.below(3);
  liar.onAsked = () => {
    if (how === 0) {
      liar.conduct.pretended = new Set();
      return liar.pushNews();
    }
    end();
    liar.conduct.isUp = false;
    if (how === 1) node.follower.kill();
  };
  issue(world, [first!, second!]);
  const index = lastIndex(network);
  simulation.after(BROUGHT_MS, () => {
    if (!world.isCalm) end();
  });
  for (let i = 2; i < 5; i++)
    simulation.after(i * BROUGHT_MS, () => {
      askRoots(world, requestAt(world, random, index, [second!, last]));
    });
}

/** How many requests one takes that has a rate limit, and blocks about which it is asked more often. */
const REFUSING = [3, 40] as const;
const asMany = (refusing: number) => 2 * refusing + 10;
/** In which a liar is alone, and how often it is looked for what it brought. */
const ALONE_MS = [25_000, 60_000] as const;
const LOOK_MS = 50;
/** Each brings some of what is missing, where steps are small. */
const PROPOSALS = 10;
const PROPOSED_MS = 2000;

/** What a liar calls blocks that it is alone with. */
const ALONE = ['unreferenced', 'unreferenced', 'referenced', 'nothing'] as const;

/** Honest ones that nobody may take for silent: they have no time, or say all but where they are. */
const HINDERED: readonly Partial<Conduct>[] = [{ busy: 1 }, { hindered: { info: 'fails' } }];

/**
 * A liar is alone for a while, and leaves for good; the others come back, with a rate limit, or
 * pruned. It has called what a milestone stands on referenced, or blocks from before the snapshot
 * unreferenced, or nothing. Then a milestone comes upon such blocks.
 */
function hearsay(world: World, random: Random): void {
  const { simulation, network, liar, settings } = world;
  if (liar === undefined || liar.isAway) return;
  network.random = random;
  // where the snapshot's entry points are forgotten by then, a walk has no end
  const isKept = settings.retention > 1000;
  const lie = random.pick(isKept ? ALONE : ALONE.slice(2));
  const isLimited = lie === 'referenced' || random.chance(0.5);
  const refusing = isLimited ? random.between(...REFUSING) : 0;
  const isPruned = lie === 'nothing' || random.chance(0.7);
  world.note('alone', `${lie}, one in ${refusing} is refused, pruned: ${isPruned}`);
  const comeBack = () => world.comeBack({ refusing, isPruned }, world.upstreams);
  const issueUpon = (id: string) => {
    issue(world, [network.milestoneBlock!, id]);
  };
  if (lie === 'nothing') comeBack();
  else if (lie === 'referenced') for (const each of honest(world)) each.leave();
  // one that is down would be waited for
  else for (const each of honest(world)) each.prune(world.snapshotIndex, random.chance(0.5));
  const end = simulation.now + random.between(...ALONE_MS);
  if (lie === 'referenced') {
    const denied = denyBelow(world, random, asMany(refusing));
    const look = async () => {
      if (world.isCalm) return;
      if (simulation.now < end && !(await stagedIds(world)).has(denied.slice(2)))
        return simulation.after(LOOK_MS, look);
      comeBack();
      network.random = random;
      issueUpon(standOnUnnamed(world, random, false));
    };
    simulation.after(0, look);
    return;
  }
  const top = standOnUnnamed(world, random, lie === 'unreferenced');
  const propose = () => proposeUpon(world, random, top);
  for (let i = 1; i <= PROPOSALS; i++) simulation.after(i * PROPOSED_MS, propose);
  simulation.atForWorld(end, () => {
    if (world.isCalm) return;
    if (lie !== 'nothing') comeBack();
    issueUpon(top);
  });
}

/** In which a story has no other step of upstreams: a liar is believed where it is alone. */
const CONTRADICTED_MS = 6000;
const SAID_EVERY_MS = 1000;

/** A liar calls blocks from before the snapshot unreferenced, and others are hindered for a while. */
function contradict(world: World, random: Random): void {
  const { simulation, liar } = world;
  if (liar === undefined) return;
  world.network.random = random;
  const others = honest(world);
  for (const each of others) each.recover();
  const top = standOnUnnamed(world, random, false);
  reopen(world, liar);
  const hindered = HINDERED[(world.tally.get('hindered') ?? 0) % HINDERED.length]!;
  world.note('hindered', JSON.stringify(hindered));
  for (const { conduct } of others) Object.assign(conduct, hindered);
  const end = simulation.now + CONTRADICTED_MS;
  for (let at = simulation.now; at < end; at += SAID_EVERY_MS)
    simulation.atForWorld(at, () => {
      if (!world.isCalm) proposeUpon(world, random, top);
    });
  simulation.atForWorld(end, () => {
    for (const each of world.upstreams) if (!world.isCalm) each.recover();
  });
}

function proposeUpon(world: World, random: Random, top: string): void {
  const { milestoneBlock } = world.network;
  askRoots(world, requestAt(world, random, lastIndex(world.network) + 1, [top, milestoneBlock!]));
}

/** The liar calls all blocks unreferenced that are from before the snapshot. */
function reopen({ network, importedTo }: World, liar: UpstreamDouble): void {
  const old = [...network.blocks.values()].filter(
    ({ referenced }) => referenced !== undefined && referenced.index <= importedTo,
  );
  liar.recover();
  liar.conduct.reopened = new Set(old.map(({ id }) => id));
}

/** A milestone over blocks upon one that the liar gives to nobody, and calls referenced. */
function denyBelow(world: World, random: Random, count: number): string {
  const { network, liar } = world;
  const last = network.milestoneBlock!;
  const below = network.note([last], random.bytes(8));
  const top = standOn(world, random, below, count);
  liar!.recover();
  liar!.conduct.pretended = new Set([below]);
  issue(world, [last, top]);
  return top;
}

/** So many blocks upon the same one, and a block that has all of them in its past. */
function standOn({ network }: World, random: Random, below: string, count: number): string {
  let level = Array.from({ length: count }, () => network.note([below], random.bytes(8)));
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 8) }, (_, n) =>
      network.note(level.slice(8 * n, 8 * n + 8)),
    );
  return level[0]!;
}

/** Where packs are as large as ever, more blocks than an invocation has statements. */
const widest = (limits: Limits) => (isSmall(limits) ? 60 : 1000);

/**
 * A block, or many, upon blocks from before the snapshot that the snapshot does not name.
 *
 * @param isBelieved whether a liar, who is alone, calls all from before it unreferenced
 */
function standOnUnnamed(world: World, random: Random, isBelieved: boolean): string {
  const { network, liar, unnamed, settings } = world;
  // what a liar gives whole, and which is wrong then, is fetched again and again
  const width = isBelieved ? 1 : random.pick([1, widest(settings.limits)]);
  const top = standOn(world, random, unnamed.at(-1)!, width);
  network.setAside(top);
  if (isBelieved) {
    reopen(world, liar!);
    world.believed = top;
  }
  world.publishNews();
  return top;
}

const SMALL_DEPOSIT = 'too small a deposit';

/** What no block is (docs/protocol.md, C), whatever the parameters; the last one by these. */
const ODD_BLOCKS: Readonly<Record<string, (world: World, random: Random) => Uint8Array>> = {
  'a milestone with a nonce': ({ network }, random) => {
    const bytes = blockAround([network.milestoneBlock!], network.milestones.at(-1)!.payload);
    bytes.set(random.bytes(8), bytes.length - 8);
    return bytes;
  },
  'parents out of order': ({ network }, random) => {
    const bytes = blockAround(random.sample([ZERO_ID, ...network.blocks.keys()], 2), undefined);
    const [one, other] = [bytes.slice(2, 34), bytes.slice(34, 66)];
    bytes.set(other, 2);
    bytes.set(one, 34);
    return bytes;
  },
  'more than its bytes': ({ network }, random) =>
    concatBytes(blockAround([network.milestoneBlock!], undefined), random.bytes(1)),
  [SMALL_DEPOSIT]: ({ network, life }, random) => {
    const spend = random.pick(life.coins);
    const { amount } = spend.coin.output;
    const outputs = [amount - 1n, 1n].map((each) => basic(spend.by, { amount: each }));
    return blockAround([network.milestoneBlock!], network.transaction([spend], outputs).payload);
  },
};

/** A liar has blocks that no node stores; who asks for them by their IDs, or proposes them, has none. */
function makeUp(world: World, random: Random): void {
  const { liar, network, life } = world;
  if (liar === undefined || life.coins.length === 0) return;
  for (const [what, make] of Object.entries(ODD_BLOCKS)) {
    const bytes = make(world, random);
    const id = toHex(blockId(bytes));
    liar.conduct.madeUp = new Map([...liar.conduct.madeUp, [id, bytes]]);
    if (random.chance(0.5)) liar.push({ topic: 'blocks', payload: bytes });
    const judge = (answer: Response) => {
      if (answer.status === 200) world.wrong('safety', `${what} is taken for a block`);
    };
    // what these parameters forbid others may allow
    if (what !== SMALL_DEPOSIT) world.ask(`/api/core/v2/blocks/${id}`, judge);
    const { request } = network.propose({ parents: [network.milestoneBlock!] });
    const body = JSON.stringify({ ...request, parents: [...request.parents, id] });
    world.ask('/api/core/v2/whiteflag', judge, { method: 'POST', body });
  }
}

function silence({ upstreams }: World, random: Random): void {
  const { conduct } = random.pick(upstreams);
  conduct.isSilent = !conduct.isSilent;
}

function disturbFeed({ upstreams }: World, random: Random): void {
  const share = () => random.pick([0, 0.1, 0.5]);
  random.pick(upstreams).conduct.pushes = {
    lost: share(),
    doubled: share(),
    late: share(),
    spoilt: share(),
  };
}

/** For some seconds nobody may listen to it. */
function refuseFeed({ upstreams, simulation }: World, random: Random): void {
  const one = random.pick(upstreams);
  one.conduct.refuses = random.pick(['connection', 'topic']);
  one.dropListeners();
  simulation.after(random.between(5, 60) * 1000, () => {
    one.conduct.refuses = 'nothing';
  });
}

/** Milestones that are none, and word of ones that are not there. */
function pushLies({ upstreams, network, strangers }: World, random: Random): void {
  const target = random.pick(upstreams);
  const last = network.milestones.at(-1)!;
  const index = Math.max(lastIndex(network) + random.between(0, 3), network.genesis.index + 2);
  const at = { index, parents: network.someParents() };
  const confirmed = JSON.stringify({ index: random.pick([index, 0, 0xffff_ffff]) });
  target.push({ topic: 'milestones', payload: forgedMilestone(last, at, strangers, random) });
  target.push({ topic: 'milestones', payload: forgedTwin(last, random) });
  target.push({ topic: 'milestone-info/confirmed', payload: new TextEncoder().encode(confirmed) });
}

/** It forgets what milestones up to some referenced; another one, which is honest, has it still. */
function pruneUpstream({ upstreams, network, liar }: World, random: Random): void {
  const one = liar ?? random.pick(upstreams);
  if (upstreams.length > 1)
    one.prune(Math.max(network.genesis.index, lastIndex(network) - random.between(1, 6)));
}
