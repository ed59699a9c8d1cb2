/** A node without an upstream, whose ledger an import replaces. */
import { expect, it } from 'vitest';
import { lastIndex } from '../support/network/network-model.ts';
import { Random } from '../support/network/random.ts';
import { CLOSED_MS, listen } from './checks/events.ts';
import { runStory } from './run-story.ts';
import { issue } from './steps/coordinators.ts';
import { PLAIN, type Settings } from './story.ts';
import type { World } from './world.ts';

const SETTINGS: Settings = {
  ...PLAIN,
  upstreams: [{ hasFeed: false, isLiar: false }],
  kind: 'calm',
};

it('sends away who listened to the ledger that was replaced', async () => {
  const listening: number[] = [];
  const script = async (world: World) => {
    const { network, node, simulation, listeners } = world;
    const random = new Random('alone');
    network.random = random;
    const { UPSTREAM_URL = '' } = node.vars;
    issue(world, [network.milestoneBlock!]);
    await simulation.pass(10_000);
    node.deploy({ UPSTREAM_URL: '' });
    listen(world, random, 1, true);
    await simulation.pass(10_000);
    listening.push(listeners.size);
    world.startImport(lastIndex(network));
    await simulation.pass(CLOSED_MS);
    listening.push(listeners.size);
    node.deploy({ UPSTREAM_URL });
  };
  const { failure } = await runStory(
    { seed: 'alone', settings: SETTINGS, entries: [] },
    [],
    script,
  );
  expect(failure).toBeUndefined();
  expect(listening).toEqual([1, 0]);
});
