/**
 * A coordinator and strangers, while upstreams hang: its proposals are answered as without them, and
 * milestones are applied.
 */
import { expect, it } from 'vitest';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { Random } from '../support/network/random.ts';
import { askTimed, posting, type Timed } from './checks/white-flag.ts';
import { runStory } from './run-story.ts';
import { issue } from './steps/coordinators.ts';
import { PLAIN, type Settings } from './story.ts';
import type { Conduct } from './upstream.ts';
import type { World } from './world.ts';

const COORDINATOR = '203.0.113.9';
const PROPOSALS = 8;

const settingsOf = (upstreams: number, hasFeed: boolean): Settings => ({
  ...PLAIN,
  upstreams: Array.from({ length: upstreams }, () => ({ hasFeed, isLiar: false })),
  kind: 'calm',
});

const HANGS: Partial<Conduct> = { hanging: 1 };
const TARPIT: Partial<Conduct> = { hindered: { block: 'tarpits' } };

const SCENARIOS = [
  // pushed blocks need D1 alone
  { upstreams: 1, hung: 1, hasFeed: true, wanted: 'unknown' },
  // every upstream is asked what references a block
  { upstreams: 3, hung: 2, hasFeed: false, wanted: 'old' },
  // it has what the coordinator names, and never answers about what it has not
  { upstreams: 1, hung: 1, hasFeed: false, wanted: 'unknown', depth: 5, how: TARPIT },
];

const RUN = process.env.SLOW ? SCENARIOS : SCENARIOS.slice(1, 2);

it.each(RUN)('$hung of $upstreams hang, and strangers read $wanted blocks', async (scenario) => {
  const { upstreams, hung, hasFeed, wanted, depth = 1, how = HANGS } = scenario;
  const answers: Timed[] = [];
  let behind = 0;
  const script = async (world: World) => {
    const { network, simulation } = world;
    const random = new Random('hanging');
    network.random = random;
    const run = (ms: number) => simulation.pass(ms);
    const end = async () => {
      issue(world, [network.milestoneBlock!]);
      await run(10_000);
    };
    const propose = () => {
      const below = network.milestoneBlock!;
      let top = below;
      for (let level = 0; level < depth; level++) top = network.note([top], random.bytes(8));
      const parents = [below, top];
      world.publishNews();
      const { request } = network.propose({ parents: [below] });
      const init = posting({ ...request, parents }, COORDINATOR);
      answers.push(askTimed(world, '/api/core/v2/whiteflag', init));
    };
    let readers = 0;
    const read = () => {
      const block =
        wanted === 'old' ? network.note([old], random.bytes(8)) : toHex(random.bytes(32));
      const headers = { 'cf-connecting-ip': `198.51.100.${readers++ % 256}` };
      world.ask(`/api/core/v2/blocks/${block}`, () => {}, { headers });
    };
    const old = network.note([network.milestoneBlock!]);
    await end();
    propose();
    await run(1000);
    for (const { conduct } of world.upstreams.slice(0, hung)) Object.assign(conduct, how);
    // until it is known that they hang
    await end();
    for (let i = 0; i < PROPOSALS; i++) {
      propose();
      for (let ms = 0; ms < 500; ms += 50) {
        read();
        await run(50);
      }
    }
    if (hung < upstreams) await end();
    behind = network.milestones.at(-1)!.index - (await world.ledgerIndex());
    for (const { conduct } of world.upstreams) Object.assign(conduct, { hanging: 0, hindered: {} });
  };
  const story = { seed: 'hanging', settings: settingsOf(upstreams, hasFeed), entries: [] };
  const { failure } = await runStory(story, [], script);
  expect(failure).toBeUndefined();
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // one slow call of D1 takes 40 ms
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(500);
  expect(behind).toBe(0);
});
