/**
 * Runs a story: entry after entry in virtual time, with the invariants after each, and then calm
 * weather, in which everything must come to rest. The same story gives the same hashes.
 */
import { createHash } from 'node:crypto';
import { dump } from '../support/ledger/memory-database.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { Random } from '../support/network/random.ts';
import { checkAlways, checkSettled } from './checks/invariants.ts';
import { checkPut } from './checks/rest.ts';
import { bundleProduct, type Patch } from './platform/bundle.ts';
import { STEPS } from './steps/steps.ts';
import type { Story } from './story.ts';
import { World, Wrong } from './world.ts';

export interface Outcome {
  failure: Wrong | undefined;
  /** Of the notes, the lines of log without stacks, and the database: equal for equal stories. */
  hash: string;
  milestones: number;
  world: World;
}

/** Frames of a stack: files and lines are other ones in another checkout. */
const FRAMES = /\\n {4}at .*?(?="[,}])/g;

/**
 * @param script by hand, what happens once all entries are done
 */
export async function runStory(
  story: Story,
  patches: readonly Patch[] = [],
  script?: (world: World) => Promise<void>,
): Promise<Outcome> {
  const makeIsolate = await bundleProduct(story.settings.limits, patches);
  const world = await World.open(story, makeIsolate);
  world.node.onPut = (...given) => checkPut(world, ...given);
  const failure = await play(world, story, script).catch((error: unknown) => {
    if (error instanceof Wrong) return error;
    throw error;
  });
  const { notes, node, network } = world;
  const hash = createHash('sha256');
  hash.update(JSON.stringify(notes));
  for (const { at, text } of node.lines) hash.update(`${at} ${text.replace(FRAMES, '')}\n`);
  hash.update(JSON.stringify(await dump(node.sqlite)));
  node.sqlite.close();
  world.simulation.end();
  return {
    failure,
    hash: hash.digest('hex').slice(0, 16),
    milestones: lastIndex(network) - world.snapshotIndex,
    world,
  };
}

async function play(
  world: World,
  { seed, entries }: Story,
  script?: (world: World) => Promise<void>,
): Promise<undefined> {
  const { simulation, network, life, start } = world;
  for (const { at, step, seed: own } of entries) {
    await simulation.runUntil(start + at);
    await checkAlways(world);
    const random = new Random(`${seed} ${own} ${step}`);
    network.random = random;
    life.random = random;
    world.note(step, String(own));
    try {
      await STEPS[step].run(world, random);
    } catch (error) {
      throw new Error(`step ${step} (${own}): ${(error as Error).stack}`);
    }
    world.publishNews();
  }
  await script?.(world);
  await checkSettled(world, seed);
}
