/**
 * Floods that cost the sender nothing: blocks around milestone payloads need no proof of work, and
 * those that stand on nothing are never stored. The heap that they take is measured.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { milestone } from '../../../src/stardust/wire/milestone.ts';
import { blockAround, readMilestone } from '../../support/network/blocks.ts';
import type { Random } from '../../support/network/random.ts';
import { LIMITED_POOL_BYTES } from '../platform/limits.ts';
import type { World } from '../world.ts';
import { type Steps, stepsOf } from './step.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export const memorySteps = {
  // where the pool is far larger the flood would have to be, too
  floodPool: stepsOf('sender', { isHostile: true })(
    2,
    floodPool,
    ({ limits, upstreams }) =>
      /small|mixed/.test(limits) && upstreams.some(({ hasFeed }) => hasFeed),
  ),
} satisfies Steps;

/** Milestones that are pushed with each block. */
const MILESTONES_OF_BLOCK = 2;
const SIGNATURES = 255;
const SIGNATURE_BYTES = 96;

/** The pool counts what it holds, give or take as much again. */
const MAX_FACTOR = 2;
const NOISE_BYTES = 3_000_000;

/** Milliseconds in which what was pushed is in the pool, and not yet given up. */
const PUSHED_MS = 900;

async function floodPool(world: World, random: Random): Promise<void> {
  const { upstreams, simulation, network } = world;
  const target = upstreams.find(({ conduct }) => conduct.hasFeed && conduct.isUp);
  if (target === undefined) return;
  // what comes late would be held by the simulator
  target.conduct.pushes = {};
  const last = network.milestones.at(-1)!;
  const largestPayload = payloadsOf(last.payload, random);
  const payload = largestPayload(last.index);
  const before = await heapNow();
  // many milestones, or copies of one
  const isOne = random.chance(0.5);
  const ahead = () => (isOne ? 2 : 2 + random.u32() / 2);
  const count = Math.ceil((1.5 * LIMITED_POOL_BYTES) / (SIGNATURES * SIGNATURE_BYTES));
  for (let i = 0; i < count; i++) {
    const parents = [`0xfe${random.bytes(31).toHex()}`, `0xff${random.bytes(31).toHex()}`];
    target.push({ topic: 'blocks', payload: blockAround(parents, payload) });
    for (let n = 0; n < MILESTONES_OF_BLOCK; n++)
      target.push({
        topic: 'milestones',
        payload: largestPayload(last.index + ahead()),
      });
    // more at once would be too many packets
    await simulation.pass(1);
  }
  await simulation.pass(PUSHED_MS - count);
  const held = (await heapNow()) - before;
  const most = MAX_FACTOR * LIMITED_POOL_BYTES + NOISE_BYTES;
  // not among the notes: it differs from run to run
  if (held > most)
    world.wrong('economy', `a pool of ${LIMITED_POOL_BYTES} bytes takes over ${most} of heap`);
}

/** Milestones with as many signatures as a payload may have, all of them worthless. */
function payloadsOf(real: Uint8Array, random: Random): (index: number) => Uint8Array {
  const signatures = Array.from({ length: SIGNATURES }, (_, i) => ({
    type: 0 as const,
    publicKey: Uint8Array.of(i, ...random.bytes(31)),
    signature: random.bytes(64),
  }));
  const base = readMilestone(real);
  // copies are no equals
  const next = () => ({ ...base, timestamp: random.u32(), signatures });
  return (index) => encode(milestone, { ...next(), index: Math.floor(index) });
}

/** Buffers are freed some time after the objects that had them. */
async function heapNow(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
