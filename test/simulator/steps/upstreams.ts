/** Upstreams: behind, silent, slow, forgetful, pruned, lying. An honest one is always left. */
import { lastIndex, ZERO_ID } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { askRoots } from '../checks/white-flag.ts';
import { unreferencedBlocks } from '../platform/limits.ts';
import { LIES, type Lie, type UpstreamDouble } from '../upstream.ts';
import type { World } from '../world.ts';
import { issue, requestAt } from './coordinators.ts';
import { forgedMilestone, forgedTwin } from './forge.ts';
import type { Step, Steps } from './step.ts';

const upstream = (often: number, run: Step['run']): Step => ({
  actor: 'upstream',
  often,
  isHostile: true,
  run,
});

export const upstreamSteps = {
  lag: { actor: 'upstream', often: 2, run: lag },
  outage: upstream(2, outage),
  allDown: upstream(1, allDown),
  restDown: upstream(2, restDown),
  blocksGone: upstream(2, blocksGone),
  withhold: upstream(3, withhold),
  starve: {
    ...upstream(3, starve),
    needs: ({ limits }) => unreferencedBlocks(limits) < FLOODS * FLOOD_BLOCKS,
  },
  disturb: upstream(4, disturb),
  lie: { ...upstream(5, lie), needs: ({ upstreams }) => upstreams.some(({ isLiar }) => isLiar) },
  pretend: {
    ...upstream(3, pretend),
    needs: ({ upstreams }) => upstreams.some(({ isLiar }) => isLiar),
  },
  silence: upstream(2, silence),
  disturbFeed: upstream(3, disturbFeed),
  cutFeed: upstream(2, ({ upstreams }, random) => random.pick(upstreams).dropListeners()),
  pushLies: upstream(3, pushLies),
  pruneUpstream: upstream(1, pruneUpstream),
  recover: {
    actor: 'upstream',
    often: 3,
    run: ({ upstreams }, random) => random.pick(upstreams).recover(),
  },
} satisfies Steps;

function honest({ upstreams, liar }: World): UpstreamDouble[] {
  return upstreams.filter((each) => each !== liar);
}

/** Some milestones behind, while another honest one is up and not, or nobody lies (SECURITY.md). */
function lag(world: World, random: Random): void {
  const [first, ...others] = random.sample(honest(world), 9);
  const isCovered = others.some(({ conduct }) => conduct.isUp && conduct.lag === 0);
  if (first !== undefined && (isCovered || world.liar === undefined))
    first.conduct.lag = random.below(3);
}

function outage(world: World, random: Random): void {
  const [first, ...others] = random.sample(honest(world), 9);
  if (first === undefined || others.length === 0) return;
  for (const { conduct } of others) Object.assign(conduct, { isUp: true, lag: 0 });
  first.conduct.isUp = false;
}

/** For some seconds nobody answers. */
function allDown(world: World, random: Random): void {
  const { upstreams, simulation } = world;
  for (const { conduct } of upstreams) conduct.isUp = false;
  simulation.atForWorld(simulation.now + random.between(2, 40) * 1000, () => {
    for (const { conduct } of upstreams) conduct.isUp = true;
  });
}

/** For some seconds no request is answered, while feeds go on. */
function restDown({ upstreams, simulation }: World, random: Random): void {
  for (const { conduct } of upstreams) conduct.failing = 1;
  simulation.atForWorld(simulation.now + random.between(5, 60) * 1000, () => {
    for (const { conduct } of upstreams) conduct.failing = 0;
  });
}

/** For some seconds nobody has some of the blocks, while feeds go on. */
function blocksGone({ upstreams, simulation }: World, random: Random): void {
  for (const { conduct } of upstreams) conduct.forgetful = 0.5;
  simulation.atForWorld(simulation.now + random.between(10, 60) * 1000, () => {
    for (const { conduct } of upstreams) conduct.forgetful = 0;
  });
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
  simulation.atForWorld(simulation.now + 1.5 * FLOOD_MS, () => node.follower.kill());
  for (let i = 2; i < FLOODS + 2; i++)
    simulation.atForWorld(simulation.now + i * FLOOD_MS, () => {
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
  simulation.atForWorld(simulation.now + ms, () => {
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
  world.publishNews();
  const index = lastIndex(network);
  simulation.atForWorld(simulation.now + BROUGHT_MS, () => {
    if (!world.isCalm) end();
  });
  for (let i = 2; i < 5; i++)
    simulation.atForWorld(simulation.now + i * BROUGHT_MS, () => {
      askRoots(world, requestAt(world, random, index, [second!, last]));
    });
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

/** Milestones that are none, and word of ones that are not there. */
function pushLies({ upstreams, network, strangers }: World, random: Random): void {
  const target = random.pick(upstreams);
  const last = network.milestones.at(-1)!;
  const index = lastIndex(network) + random.between(0, 3);
  const at = { index, parents: network.someParents() };
  const confirmed = JSON.stringify({ index: random.pick([index, 0, 0xffff_ffff]) });
  target.push({ topic: 'milestones', payload: forgedMilestone(last, at, strangers, random) });
  target.push({ topic: 'milestones', payload: forgedTwin(last, random) });
  target.push({ topic: 'milestone-info/confirmed', payload: new TextEncoder().encode(confirmed) });
}

/** It forgets what milestones up to some referenced; another one, which is honest, has it still. */
function pruneUpstream({ upstreams, network, liar }: World, random: Random): void {
  const one = liar ?? random.pick(upstreams);
  if (upstreams.length > 1) one.prune(Math.max(0, lastIndex(network) - random.between(1, 6)));
}
