/** A disk that is full, or nearly: fewer milestones are kept, and the node goes on. */
import type { Random } from '../../support/network/random.ts';
import { LEAST_RETENTION } from '../platform/limits.ts';
import { issue } from '../steps/coordinators.ts';
import type { World } from '../world.ts';
import { checkAlways, checkLiveness, checkState } from './invariants.ts';
import { sweep } from './sweep.ts';

/** In which less is kept. */
const SHRUNK_MS = 120_000;
const LOOK_MS = 2000;
const NEARLY_FULL_BYTES = 9.7e9;

export async function runShort(world: World, random: Random): Promise<void> {
  const { node, settings, simulation } = world;
  const countKept = async () =>
    Number(await node.sqlite.prepare('SELECT count(*) AS count FROM milestone').first('count'));
  const before = await countKept();
  // where the limits are the usual ones more are kept than a story has
  if (settings.limits === 'usual' || before <= LEAST_RETENTION + 2) return;
  const isFull = settings.isServe || random.chance(0.5);
  world.isDisturbedLate = true;
  world.note(isFull ? 'fullDisk' : 'nearlyFull');
  if (isFull) node.disturbances.d1 = { chance: 1, faults: ['full'] };
  else node.disturbances.d1Bytes = NEARLY_FULL_BYTES;
  issue(world);
  world.publishNews();
  for (const end = simulation.now + SHRUNK_MS; (await countKept()) >= before; ) {
    if (simulation.now > end) {
      world.wrong('liveness', `${before} milestones are kept though the disk is full`);
      break;
    }
    await simulation.runUntil(simulation.now + LOOK_MS);
  }
  if ((await countKept()) < LEAST_RETENTION)
    world.wrong('safety', 'fewer milestones are kept than must be');
  node.disturbances.d1 = { chance: 0, faults: [] };
  node.disturbances.d1Bytes = 0;
  await checkAlways(world);
  await checkLiveness(world);
  await sweep(world, `${world.start} short`);
  await checkState(world);
}
