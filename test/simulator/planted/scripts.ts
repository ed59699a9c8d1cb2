/**
 * Sequences of steps by hand that bring planted mistakes to light (plants.ts), each of which is
 * right without its mistake. Where seeds do not find a mistake whose script does, they do not come
 * to such a sequence.
 */

import { runMain, UsageError } from '../../../cli/lib/process/command-line.ts';
import { EVENTS } from '../../support/network/random-network.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { checkAlways } from '../checks/invariants.ts';
import { readNft } from '../checks/reads.ts';
import type { Patch } from '../platform/bundle.ts';
import { runStory } from '../run-story.ts';
import { issue } from '../steps/coordinators.ts';
import { PLAIN, type Settings } from '../story.ts';
import type { World } from '../world.ts';
import { PLANTS } from './plants.ts';

const USAGE = `Usage: node tools/run.js test/simulator/planted/scripts.ts [NAME…]

Runs all scripts, or those that are named, with and without the planted mistake of this name. Exit
code 1 if a mistake is not seen, or something else is.`;

const SETTINGS: Settings = {
  ...PLAIN,
  limits: 'brief',
  upstreams: [{ hasFeed: true, isLiar: false }],
  kind: 'hostile',
};

/** Milliseconds in which the node does what is due. */
async function pass(world: World, ms: number): Promise<void> {
  await world.simulation.pass(ms);
  await checkAlways(world);
}

async function milestone(world: World): Promise<void> {
  issue(world);
  await pass(world, 5000);
}

interface Script {
  constants?: readonly Patch[];
  /** What is said of it. */
  said: RegExp;
  run(world: World): Promise<void>;
}

const SCRIPTS: Record<string, Script> = {
  'former-L1': {
    constants: [
      {
        name: 'few inputs at once',
        file: 'src/ledger/write/resolve-verdicts.ts',
        text: 'const INPUTS_AT_ONCE = 256',
        instead: 'const INPUTS_AT_ONCE = 2',
      },
    ],
    said: /economy|ledger stays/,
    async run(world) {
      const { network, life } = world;
      for (let i = 0; i < 6; i++) EVENTS.pay[1](life);
      await milestone(world);
      const [one, two, three] = life.coins.splice(0, 3);
      const to = (spend: NonNullable<typeof one>) =>
        basic(spend.by, { amount: spend.coin.output.amount });
      const below = [network.milestoneBlock!];
      // the first spender wins, and what the second one makes never comes to be
      const first = network.transaction([one!], [to(one!)]);
      const part = one!.coin.output.amount / 2n;
      const second = network.transaction(
        [one!],
        [
          basic(two!.by, { amount: part }),
          basic(one!.by, { amount: one!.coin.output.amount - part }),
        ],
      );
      const winner = network.attachTransaction(first, below);
      network.attachTransaction(second, [winner]);
      const [hidden, other] = [two!, three!].map((spend) =>
        network.transaction([spend], [to(spend)]),
      );
      const both = [
        { coin: second.coins[0]!, by: two!.by },
        { coin: hidden!.coins[0]!, by: two!.by },
      ];
      const amount = both.reduce((sum, { coin }) => sum + coin.output.amount, 0n);
      const stuck = network.attachTransaction(
        network.transaction(both, [basic(two!.by, { amount })]),
        below,
      );
      network.setAside(stuck);
      const later = network.attachTransaction(
        network.transaction([{ coin: other!.coins[0]!, by: three!.by }], [to(three!)]),
        below,
      );
      network.setAside(later);
      world.publishNews();
      await pass(world, 4000);
      await milestone(world);
      const shown = [hidden!, other!].map((made) =>
        network.attachTransaction(made, [network.milestoneBlock!]),
      );
      world.publishNews();
      await pass(world, 4000);
      issue(world, [network.milestoneBlock!, ...shown]);
      await pass(world, 5000);
      // a milestone decides what it needs alone: only the upkeep goes on for ever
      await pass(world, 120_000);
      issue(world, [network.milestoneBlock!, stuck, later]);
    },
  },
  'former-L4-changed': {
    said: /NFT|nft/,
    async run(world) {
      const { life } = world;
      for (let i = 0; i < 5; i++) EVENTS.mint[1](life);
      await milestone(world);
      await pass(world, SETTLED_MS);
      EVENTS.moveNft[1](life);
      EVENTS.burnNft[1](life);
      await milestone(world);
      await world.node.sqlite.prepare('UPDATE nft SET changed = changed + 1').run();
      world.isFlipped = true;
      world.isRowFlipped = true;
      EVENTS.mint[1](life);
      await milestone(world);
      for (const id of world.truth.nftIds) readNft(world, id);
    },
  },
};

/** After which a change leaves the window of the index in KV, where limits are brief. */
const SETTLED_MS = 40_000;

/** What is wrong without the planted mistake, and with it. */
async function tryScript(name: string): Promise<{ isRight: boolean; said: string }> {
  const { constants = [], said, run } = SCRIPTS[name]!;
  const story = { seed: name, settings: SETTINGS, entries: [] };
  const { changes } = PLANTS.find((plant) => plant.name === name)!;
  const planted = changes.map((change) => ({ name, ...change }));
  const { failure: without } = await runStory(story, constants, run);
  const { failure: with_ } = await runStory(story, [...constants, ...planted], run);
  const isRight = without === undefined && said.test(with_?.message ?? '');
  return { isRight, said: `without it ${without?.message}, with it ${with_?.message}` };
}

await runMain(USAGE, async (named) => {
  let failures = 0;
  for (const name of named.length > 0 ? named : Object.keys(SCRIPTS)) {
    if (SCRIPTS[name] === undefined) throw new UsageError(`no script is named ${name}`);
    const { isRight, said } = await tryScript(name);
    if (!isRight) failures++;
    console.log(`${name} ${isRight ? 'is seen' : 'IS NOT SEEN'}: ${said}`);
  }
  return failures > 0 ? 1 : 0;
});
