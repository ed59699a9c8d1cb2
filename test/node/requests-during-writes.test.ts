/**
 * Requests that fetch blocks while the ledger does not stand still: blocks are stored and
 * milestones applied between any two of its questions to the upstream. The answer is the one about
 * the state that was asked for, or an error.
 */
import { describe, expect, it } from 'vitest';
import type { Upstream } from '../../src/upstream/upstream.ts';
import {
  ask,
  ledgerIndex,
  questionOf,
  type Rig,
  startLedger,
  startNew,
  storeNow,
  takeNext,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { oracleAnswer } from '../support/network/oracle-view.ts';
import { Random } from '../support/network/random.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { stopClock } from '../support/stopped-clock.ts';

stopClock();

const db = await openMemory();

/** The upstream with something happening before the block number `when` is read. */
function interrupted(upstream: Upstream, when: number, work: () => Promise<unknown>): Upstream {
  let read = 0;
  return {
    ...upstream,
    async readBlock(id) {
      if (++read === when) await work();
      return upstream.readBlock(id);
    },
  };
}

it.each(process.env.SLOW ? ['one', 'two', 'three'] : ['one'])(
  'the answer is right, whatever happens meanwhile (%s)',
  async (seed) => {
    const network = randomNetwork({ seed: `meanwhile ${seed}`, milestones: 6, events: 40 });
    const random = new Random(seed);
    const asked = 4;
    const begin = async (): Promise<Rig> => {
      const rig = await startLedger(db, network, 0);
      while ((await ledgerIndex(db)) < asked - 1) await takeNext(rig, db);
      return rig;
    };
    const { question } = questionOf(network, asked);

    const visible = [...network.blocks.values()]
      .filter(({ visibleFrom }) => visibleFrom < asked)
      .map(({ id }) => id);
    const some = () => random.sample(visible, 3);
    const works: ((rig: Rig) => Promise<unknown>)[] = [
      // some of its blocks are stored, or all
      (rig) => storeNow(withTips(rig, ...some()), db),
      (rig) => storeNow(rig, db),
      // the milestone comes that it is about, and the one after
      (rig) => takeNext(rig, db),
      async (rig) => {
        await takeNext(rig, db);
        await takeNext(rig, db);
      },
    ];
    for (const [i, work] of works.entries()) {
      for (const when of [1, 2, 7, 15]) {
        const rig = await begin();
        const parents = [...new Set([...question.parents, ...random.sample(visible, 2)])].slice(
          0,
          8,
        );
        const upstream = interrupted(rig.upstream, when, () => work(rig));
        const answer = await ask(rig, { ...question, parents }, { upstreams: [upstream] });
        const due = await oracleAnswer(network, { ...question, parents });
        expect([i, when, answer]).toEqual([i, when, due]);
      }
    }
    expect(lastIndex(network)).toBeGreaterThan(asked + 1);
  },
);

describe('what the milestone itself does that is taken in meanwhile', () => {
  const start = () => startNew(db, 'itself');

  /**
   * Asks about the next milestone, which is issued and taken in before the first block is fetched.
   */
  const askMeanwhile = async (
    network: SyntheticNetwork,
    rig: Rig,
    parents: string[],
    referenced: string[],
  ) => {
    const { request, response } = network.propose({ parents });
    network.milestone({ parents: referenced });
    const upstream = interrupted(rig.upstream, 1, () => takeNext(rig, db));
    expect(await ask(rig, request, { upstreams: [upstream] })).toEqual(response);
    expect(await ledgerIndex(db)).toBe(request.index);
  };

  it('an output that it creates is not there for those that do not have its block in their past', async () => {
    const { network, rig, root } = await start();
    const made = network.transfer(network.genesisCoins[0]!, 1);
    const producer = network.attachTransaction(made, [root]);
    const consumer = network.attachTransaction(network.transfer(made.coins[0]!, 2), [root]);
    await askMeanwhile(network, rig, [root, consumer], [root, producer]);
  });

  it('an output that it spends is there for those that do not have the spending block in their past', async () => {
    const { network, rig, root } = await start();
    const first = network.attachTransaction(network.transfer(network.genesisCoins[0]!, 1), [root]);
    const second = network.attachTransaction(network.transfer(network.genesisCoins[0]!, 2), [root]);
    await askMeanwhile(network, rig, [root, second], [root, first]);
  });
});
