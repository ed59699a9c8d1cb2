/**
 * What an outage of D1 does ends with it: work that failed is begun again, keeps no place, and is
 * joined by nobody.
 */
import { currentOwner, isRequest } from '../platform/simulation.ts';
import type { Request } from '../truth.ts';
import type { World } from '../world.ts';
import { ANSWERED_MS, isFull } from './white-flag.ts';

/** More than have places at once (src/follower/bring/bring-blocks.ts). */
const PROPOSALS = 10;
const PATHS = ['/api/indexer/v1/outputs/nft', '/api/core/v2/receipts', '/api/core/v2/info'];

/** In which each of these has failed. */
const OUTAGE_MS = 3000;

export async function checkAfterOutage(world: World): Promise<void> {
  const { node, network, simulation, settings, upstreams, readers } = world;
  // it is a fault, after which less is expected
  if (!world.isDisturbed || settings.needsWork) return;
  // what was asked before is answered
  await simulation.runUntil(simulation.now + ANSWERED_MS);
  // no pass stores what only proposals name
  for (const { conduct } of upstreams) conduct.isSilent = true;
  const below = network.milestoneBlock!;
  const { request } = network.propose({ parents: [below] });
  const requests = Array.from({ length: PROPOSALS }, () => {
    const parents = [below, network.note([below], readers.bytes(8))];
    return { ...request, parents };
  });
  world.publishNews();
  const faults = ['lost-before'] as const;
  node.disturbances.d1 = { chance: 1, faults };
  const before = PATHS.map((path) => statusOf(world, path));
  await simulation.runUntil(simulation.now + OUTAGE_MS);
  node.disturbances.d1 = {
    faults,
    // requests come as far as to the objects
    get chance() {
      return isRequest(currentOwner()?.process) ? 0 : 1;
    },
  };
  for (const each of requests) propose(world, each);
  await simulation.runUntil(simulation.now + OUTAGE_MS);
  node.disturbances.d1 = { chance: 0, faults: [] };
  const after = PATHS.map((path) => statusOf(world, path));
  const answers = requests.map((each) => propose(world, each));
  await simulation.runUntil(simulation.now + ANSWERED_MS);
  for (const each of upstreams) each.conduct.isSilent = false;
  world.note('after an outage', JSON.stringify([before, after, answers]));
  for (const [i, { status }] of after.entries())
    if (status !== 200 && status !== 404)
      world.wrong('liveness', `${PATHS[i]}: status ${status} once D1 is there again`);
  if (answers.every(({ status }) => status !== 200) && !(await isFull(world)))
    world.wrong('liveness', 'no proposal is answered once D1 is there again');
}

interface Told {
  status: number;
}

function statusOf(world: World, path: string, init?: RequestInit): Told {
  const told = { status: 0 };
  world.ask(path, ({ status }) => void Object.assign(told, { status }), init);
  return told;
}

const propose = (world: World, request: Request): Told =>
  statusOf(world, '/api/core/v2/whiteflag', { method: 'POST', body: JSON.stringify(request) });
