/**
 * A disk that is full, or nearly: fewer milestones are kept, and the node goes on. Once there is
 * room again, nothing is pruned before its time.
 */
import { lastIndex } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { LEAST_RETENTION } from '../platform/limits.ts';
import { issue } from '../steps/coordinators.ts';
import type { World } from '../world.ts';
import { checkAlways, checkLiveness, checkState } from './invariants.ts';
import { checkTold } from './silence.ts';
import { sweep } from './sweep.ts';

/** In which less is kept. */
const SHRUNK_MS = 120_000;
/** In which a milestone comes, and those that are too old are deleted. */
const COME_MS = 10_000;
const NEARLY_FULL_BYTES = 9.7e9;

export async function runShort(world: World, random: Random): Promise<void> {
  const { node, settings, simulation } = world;
  const readKept = async () => {
    const sql = 'SELECT count(*) AS count, min(idx) AS first FROM milestone';
    return (await node.sqlite.prepare(sql).first<Record<'count' | 'first', number>>())!;
  };
  const countKept = async () => (await readKept()).count;
  const before = await countKept();
  // where the limits are the usual ones more are kept than a story has
  if (settings.limits === 'usual' || before <= LEAST_RETENTION + 2) return;
  const isFull = settings.isServe || random.chance(0.5);
  world.isDisturbedLate = true;
  world.note(isFull ? 'fullDisk' : 'nearlyFull');
  if (isFull) node.disturbances.d1 = { chance: 1, faults: ['full'] };
  else node.disturbances.d1Bytes = NEARLY_FULL_BYTES;
  issue(world);
  if ((await world.until(countKept, SHRUNK_MS, (count) => count < before)) >= before)
    world.wrong('liveness', `${before} milestones are kept though the disk is full`);
  if ((await countKept()) < LEAST_RETENTION)
    world.wrong('safety', 'fewer milestones are kept than must be');
  node.disturbances.d1 = { chance: 0, faults: [] };
  node.disturbances.d1Bytes = 0;
  await checkAlways(world);
  await checkLiveness(world);
  const kept = await countKept();
  issue(world);
  await simulation.pass(COME_MS);
  const mayGrow = kept < Number(node.vars.RETENTION_MILESTONES);
  checkTold(world, 'follower.retention-shortened');
  if (mayGrow && (await countKept()) <= kept)
    world.wrong('liveness', `${kept} milestones are kept though there is room again`);
  await checkAlways(world);
  await sweep(world, `${world.start} short`);
  const { first } = await readKept();
  await checkState(world);
  const due = lastIndex(world.network) - Number(node.vars.RETENTION_MILESTONES);
  if ((await readKept()).first > Math.max(first, due))
    world.wrong('economy', `there is room, and milestones are pruned from ${first} on`);
  await checkAlways(world);
}
