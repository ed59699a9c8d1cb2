/** D1 Time Travel in place: the ledger goes back, and KV, caches and objects stay ahead. */
import { expect, it } from 'vitest';
import { Random } from '../support/network/random.ts';
import { EVENTS } from '../support/network/random-network.ts';
import { readNft } from './checks/reads.ts';
import { runStory } from './run-story.ts';
import { issue } from './steps/coordinators.ts';
import { PLAIN, type Settings } from './story.ts';
import type { World } from './world.ts';

const SETTINGS: Settings = {
  ...PLAIN,
  limits: 'brief',
  staleMs: 10_000,
  upstreams: [{ hasFeed: false, isLiar: false }],
  kind: 'hostile',
};

/** What happens to NFTs in each milestone. */
const CHANGES = ['mint', 'mint', 'moveNft', 'moveNft', 'moveNft', 'burnNft'] as const;

/** Milestones by which the ledger is set back, and for a while most of them do not come again. */
const [BACK, LACKED] = [16, 14];

it('NFTs are where the ledger says, also once Time Travel is undone', async () => {
  const indexes: number[] = [];
  const script = async (world: World) => {
    const { network, node, simulation, life, truth } = world;
    const random = new Random('set back 2');
    network.random = random;
    life.random = random;
    const goOn = async (milestones: number, reads: number) => {
      for (let second = 0; second < 5 * milestones; second++) {
        if (second % 5 === 0) {
          for (const name of CHANGES) EVENTS[name][1](life);
          world.publishNews();
          issue(world);
        }
        for (const id of random.sample(truth.nftIds, reads)) readNft(world, id);
        await simulation.pass(1000);
      }
      indexes.push(await world.ledgerIndex());
    };
    const travel = (to: Uint8Array) => {
      node.sqlite.deserialize(to);
      world.noteImport();
    };
    const [{ conduct }] = world.upstreams as [(typeof world.upstreams)[number]];
    await goOn(12, 2);
    const before = node.sqlite.serialize();
    await goOn(BACK, 2);
    const after = node.sqlite.serialize();
    conduct.lag = LACKED;
    travel(before);
    await goOn(6, 10);
    conduct.lag = 0;
    travel(after);
    await goOn(8, 20);
  };
  const { failure } = await runStory(
    { seed: 'set back', settings: SETTINGS, entries: [] },
    [],
    script,
  );
  expect(failure).toBeUndefined();
  const [first, last, lacking, end] = indexes as [number, number, number, number];
  expect([last - first, end - last]).toEqual([BACK, 14]);
  expect(lacking).toBeLessThan(last);
});
