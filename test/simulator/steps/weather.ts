/** What happens to the platform: crashes, failing and slow calls, a full disk, clocks, alarms. */
import type { Random } from '../../support/network/random.ts';
import type { Disturbances } from '../node.ts';
import type { D1Fault } from '../platform/d1.ts';
import { LARGEST_SKEW_MS } from '../platform/limits.ts';
import { Socket } from '../platform/sockets.ts';
import type { World } from '../world.ts';
import { type Step, type Steps, stepsOf } from './step.ts';

const weather = stepsOf('weather', { isHostile: true });

export const weatherSteps = {
  killFollower: weather(3, ({ node }) => node.follower.kill()),
  killBroker: weather(1, ({ node }, random) => node.events.kill(random.chance(0.5))),
  restartIsolates: weather(1, ({ node }) => {
    node.deploy();
  }),
  twoVersions: weather(4, (world, random) => twoVersions(world, random)),
  failingDatabase: weather(4, (world, random) =>
    disturbDatabase(world, random, ['lost-before', 'lost-after', 'slow']),
  ),
  crashingDatabase: weather(3, (world, random) =>
    disturbDatabase(world, random, ['crash-before', 'crash-after']),
  ),
  databaseDown: weather(2, databaseDown),
  databaseHangs: weather(2, databaseHangs),
  // the disk of one machine has no limit that the node knows
  nearlyFull: weather(1, nearlyFull, ({ isServe }) => !isServe),
  fullDisk: weather(1, (world, random) => disturbDatabase(world, random, ['full'])),
  calmDatabase: weather(3, ({ node }) => {
    node.disturbances.d1 = { chance: 0, faults: [] };
  }),
  kvDown: weather(3, disturbFor(1, 120, { kvDown: true }, { kvDown: false })),
  kvFull: weather(2, disturbFor(1, 120, { kvFull: true }, { kvFull: false })),
  kvSlow: weather(2, ({ node, settings }, random) => {
    node.disturbances.kvSlowMs = random.pick(settings.limits === 'usual' ? [0, 90_000] : [0, 3000]);
  }),
  kvHangs: weather(3, disturbFor(1, 30, { kvHanging: 0.5 }, { kvHanging: 0 })),
  wakeAhead: weather(1, wakeAhead, ({ limits }) => limits === 'usual'),
  cacheDown: weather(1, disturbFor(1, 120, { cacheDown: true }, { cacheDown: false })),
  clockJump: weather(1, ({ node, settings }, random) => {
    const jumps = settings.limits === 'usual' ? JUMPS_MS : [LARGEST_SKEW_MS];
    node.disturbances.skewMs = random.pick([0, 0, ...jumps]);
  }),
  alarmAgain: weather(2, ({ node }) => node.follower.ringAgain()),
  loseAlarm: weather(1, loseAlarm),
} satisfies Steps;

/** The last one is within what the index in KV assumes of clocks (docs/nft-index.md). */
const JUMPS_MS = [3_600_000, -3_600_000, 7000];

/** In which cron wakes an object. */
const WOKEN_MS = 65_000;

/** The follower sets its alarm by a clock that is an hour ahead, and then is right again. */
function wakeAhead(world: World): void {
  const { node, simulation } = world;
  node.disturbances.skewMs = JUMPS_MS[0]!;
  node.follower.kill();
  simulation.after(WOKEN_MS, () => {
    node.follower.kill();
    node.disturbances.skewMs = 0;
  });
}

/** A deployment: the objects before it work on for some seconds. */
export function twoVersions(
  world: World,
  random: Random,
  ms = random.between(100, 8000),
  changes: Record<string, string> = {},
): void {
  world.endOverlap?.();
  const end = world.node.deploy(changes, true);
  world.endOverlap = end;
  world.overlapAt = world.simulation.now;
  const { simulation, node } = world;
  simulation.after(ms, end);
  // the slower calls are, the more happens between what one of them reads and what it writes
  const { d1 } = node.disturbances;
  if (d1.chance > 0 || random.chance(0.3)) return;
  node.disturbances.d1 = { chance: 0.3, faults: ['slow'] };
  simulation.after(8000, () => {
    node.disturbances.d1 = { chance: 0, faults: [] };
  });
}

function disturbDatabase({ node }: World, random: Random, faults: readonly D1Fault[]): void {
  node.disturbances.d1 = { chance: random.pick([0.01, 0.03, 0.1, 0.3]), faults };
}

/** How often it is one call of D1 after which none is answered: in the midst of something. */
const DOWN_FROM = 0.03;
/** As good as never, though weather it is. */
const WAITING = 1e-9;

/** For some seconds every call of D1 fails, perhaps as soon as the broker has told something. */
function databaseDown({ node, simulation }: World, random: Random): void {
  const { disturbances, faults: before } = node;
  const from = random.pick([WAITING, DOWN_FROM]);
  const isTelling = () => from === WAITING && Socket.servedAt === simulation.now;
  const outage = {
    faults: ['lost-before'] as const,
    get chance() {
      return node.faults > before || isTelling() ? 1 : from;
    },
  };
  disturbances.d1 = outage;
  simulation.after(random.between(2, 30) * 1000, () => {
    if (disturbances.d1 === outage) disturbances.d1 = { chance: 0, faults: [] };
  });
}

/** For some seconds calls of D1 hang, of which some are done then. */
function databaseHangs({ node, simulation }: World, random: Random): void {
  const outage = { chance: random.pick([0.03, 0.3, 1]), faults: ['hangs'] as const };
  node.disturbances.d1 = outage;
  simulation.after(random.between(2, 40) * 1000, () => {
    if (node.disturbances.d1 === outage) node.disturbances.d1 = { chance: 0, faults: [] };
  });
}

/** What the platform does for so many seconds, between two numbers, and what after that. */
function disturbFor(
  from: number,
  to: number,
  now: Partial<Disturbances>,
  later: Partial<Disturbances>,
): Step['run'] {
  return ({ node, simulation }, random) => {
    Object.assign(node.disturbances, now);
    simulation.after(random.between(from, to) * 1000, () => {
      Object.assign(node.disturbances, later);
    });
  };
}

function nearlyFull(world: World, random: Random): void {
  const { disturbances } = world.node;
  disturbances.d1Bytes = random.pick([0, 8.5e9, 9.7e9]);
  if (disturbances.d1Bytes > 9.5e9)
    world.ask('/health', ({ status }) => {
      const isFull = disturbances.d1Bytes > 9.5e9;
      if (status === 200 && isFull) world.wrong('safety', 'healthy, and the database is full');
    });
}

function loseAlarm({ node, simulation }: World, random: Random): void {
  node.follower.losesAlarms = true;
  simulation.after(random.between(1, 20) * 1000, () => {
    node.follower.losesAlarms = false;
  });
}
