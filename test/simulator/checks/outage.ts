/** What an outage does ends with it: work that failed is begun again, and keeps no place. */
import { currentOwner, isRequest } from '../platform/simulation.ts';
import { issue } from '../steps/coordinators.ts';
import type { Hindrance } from '../upstream.ts';
import type { World } from '../world.ts';
import { ANSWERED_MS, askTimed, isFull, posting } from './white-flag.ts';

/** More than have places at once (src/follower/bring/bring-blocks.ts). */
const PROPOSALS = 10;
const PATHS = ['/api/indexer/v1/outputs/nft', '/api/core/v2/receipts', '/api/core/v2/info'];

export async function checkAfterOutage(world: World): Promise<void> {
  const { node, network, simulation, settings, upstreams, readers } = world;
  // it is a fault, after which less is expected
  if (!world.isDisturbed || settings.needsWork) return;
  const pass = () => simulation.pass(ANSWERED_MS);
  await pass();
  // no pass stores what only proposals name
  for (const { conduct } of upstreams) conduct.isSilent = true;
  const below = network.milestoneBlock!;
  const { request } = network.propose({ parents: [below] });
  const proposals = Array.from({ length: PROPOSALS }, () => {
    const parents = [below, network.note([below], readers.bytes(8))];
    return posting({ ...request, parents });
  });
  world.publishNews();
  const propose = () => proposals.map((init) => askTimed(world, '/api/core/v2/whiteflag', init));
  const read = () => PATHS.map((path) => askTimed(world, path));
  const faults = ['lost-before'] as const;
  node.disturbances.d1 = { chance: 1, faults };
  read();
  await pass();
  // requests come as far as to the objects
  const get = () => (isRequest(currentOwner()?.process) ? 0 : 1);
  Object.defineProperty(node.disturbances.d1, 'chance', { get });
  propose();
  await pass();
  node.disturbances.d1 = { chance: 0, faults: [] };
  const [reads, answers] = [read(), propose()];
  await pass();
  for (const { conduct } of upstreams) conduct.isSilent = false;
  const isRead = reads.every(({ status }) => status === 200);
  const isAnswered = answers.some(({ status }) => status === 200) || (await isFull(world));
  if (!isRead || !isAnswered)
    world.wrong('liveness', `D1 is there again, and ${JSON.stringify([reads, answers])}`);
}

/** Blocks side by side of a milestone, and in which they come where each takes two seconds. */
const ABREAST = 7;
const ABREAST_MS = 14_000;
/** For how long none comes, and in which a node is there once they come. */
const HUNG_MS = 15_000;
const THERE_MS = 60_000;

/** An upstream that hung is asked for as much at once as before, once it answers. */
export async function checkAfterHanging(world: World): Promise<void> {
  const { network, simulation, upstreams, reliable, readers } = world;
  if (!world.isDisturbed || reliable.length < upstreams.length) return;
  // a large milestone may still be at work
  if (!(await world.hasFollowed())) return;
  const hinder = (block: Hindrance) => {
    for (const { conduct } of upstreams) Object.assign(conduct, { hindered: { block } });
  };
  const issueWide = () => {
    const below = network.milestoneBlock!;
    const note = () => network.note([below], readers.bytes(8));
    issue(world, [below, ...Array.from({ length: ABREAST }, note)]);
  };
  const hasCome = (ms: number) => world.until(() => world.hasFollowed(), ms, Boolean, 200);
  // what is pushed needs no upstream
  for (const { conduct } of upstreams) conduct.isSilent = true;
  hinder('hangs');
  issueWide();
  await simulation.pass(HUNG_MS);
  hinder('crawls');
  await hasCome(THERE_MS);
  issueWide();
  if (!(await hasCome(ABREAST_MS)))
    world.wrong('liveness', 'one thing at a time is asked of an upstream that hung');
  for (const each of upstreams) each.recover();
}

/** How often a feed breaks, and half of the time for which it lasts then. */
const BREAKS = 4;
const LASTING_MS = 31_000;
const BACK_MS = 20_000;
const SOON_MS = 5000;

/** The longest pause between two connections, what one may take, and as much again. */
const HEARD_MS = 180_000;

/** A feed that an upstream has is heard; one that lasted is back soon though it broke before. */
export async function checkFeedAgain(world: World): Promise<void> {
  const { simulation, upstreams, reliable } = world;
  const isHeard = () => upstreams.some((each) => each.isHeard);
  const hasFeed = upstreams.some(({ conduct }) => conduct.hasFeed);
  if (!hasFeed || reliable.length < upstreams.length) return;
  const pass = (ms: number) => simulation.pass(ms);
  if (!(await world.until(isHeard, HEARD_MS, Boolean, SOON_MS)))
    return world.wrong('liveness', 'an upstream has a feed, and nobody listens');
  const breakFor = (ms: number) => {
    for (const each of upstreams) each.dropListeners();
    return pass(ms);
  };
  for (let i = 0; i < BREAKS; i++) await breakFor(BACK_MS);
  await pass(LASTING_MS);
  issue(world);
  await pass(LASTING_MS);
  const hasLasted = isHeard();
  await breakFor(SOON_MS);
  if (hasLasted && !isHeard()) world.wrong('liveness', 'a feed that lasted is not back soon');
  if (upstreams.reduce((sum, { connections }) => sum + connections, 0) > 1)
    world.wrong('economy', 'a feed that was given up is still connected');
  const silent = upstreams.find((each) => each.isHeard);
  const others = upstreams.filter((each) => each !== silent && each.conduct.hasFeed);
  if (silent === undefined || others.length === 0) return;
  silent.conduct.isSilent = true;
  if (!(await world.until(() => others.some((each) => each.isHeard), HEARD_MS, Boolean, 1000)))
    world.wrong('liveness', 'a feed that brings nothing is kept, beside one that does');
  silent.recover();
}
