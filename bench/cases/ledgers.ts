/**
 * That a white-flag request costs what its cone costs, however big the ledger is and however long
 * ago its milestone was.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WhiteFlagCase } from '../../test/support/network/network-model.ts';
import type { Bench, BenchCase } from '../case.ts';
import { audits } from '../tools/audits.ts';
import { coneLedger } from '../tools/cone-ledger.ts';
import { median } from '../tools/measure.ts';
import { Questioner } from '../tools/questions.ts';
import { withEdge } from '../tools/servers.ts';

const OPTIONS = { kind: 'transfers', count: 1000 } as const;

/**
 * The small and the big ledger in turns, as other work on the machine changes from minute to
 * minute.
 */
async function compareLedgers({ worker: folder, report }: Bench): Promise<void> {
  const [few, many] = [10_000, 1_000_000];
  const small = await coneLedger(OPTIONS, few);
  const big = await coneLedger(OPTIONS, many);
  assert.deepEqual(small.question, big.question);
  await withEdge({ folder, persistTo: small.persistTo }, (first) =>
    withEdge({ folder, persistTo: big.persistTo }, async (second) => {
      const questioners = [new Questioner(first.url), new Questioner(second.url)];
      const [smaller, bigger] = await askInTurns(
        questioners.map((questioner) => () => questioner.ask(small.question)),
      );
      for (const questioner of questioners) questioner.close();
      report({ name: `${few.toLocaleString('en')} unspent outputs`, value: smaller!, unit: 'ms' });
      report({ name: `${many.toLocaleString('en')} unspent outputs`, value: bigger!, unit: 'ms' });
      report({
        name: 'the bigger ledger by the smaller',
        value: bigger! / smaller!,
        unit: 'times',
        target: { most: 1.2 },
      });
    }),
  );
}

async function compareAudits({ worker: folder, report }: Bench): Promise<void> {
  const { persistTo, present, past } = await audits();
  await withEdge({ folder, persistTo }, async (edge) => {
    const questioner = new Questioner(edge.url);
    const questions: WhiteFlagCase[] = [present, ...past.map(({ question }) => question)];
    const [now, ...then] = await askInTurns(
      questions.map((question) => () => questioner.ask(question)),
    );
    questioner.close();
    report({ name: 'about the next milestone', value: now!, unit: 'ms' });
    past.forEach(({ depth }, i) => {
      report({ name: `about one ${depth} back`, value: then[i]!, unit: 'ms' });
      report({
        name: `${depth} back by the next`,
        value: then[i]! / now!,
        unit: 'times',
        target: { most: 1.5 },
      });
    });
  });
}

const WARM_UP = 60;
const COUNT = 41;
const PAUSE_MS = 20;

/** Medians. */
async function askInTurns(works: readonly (() => Promise<number>)[]): Promise<number[]> {
  const times = works.map((): number[] => []);
  for (let round = -WARM_UP; round < COUNT; round++) {
    for (const [i, work] of works.entries()) {
      if (round >= 0) await sleep(PAUSE_MS);
      const ms = await work();
      if (round >= 0) times[i]!.push(ms);
    }
  }
  return times.map(median);
}

export const ledgerCases: readonly BenchCase[] = [
  {
    name: 'size of the ledger',
    about: 'A cone of 1,000 transfers on 10,000 and on 1,000,000 unspent outputs.',
    run: compareLedgers,
  },
  {
    name: 'audits',
    about: 'A cone of about 1,000 transfers, of the next milestone and of past ones.',
    run: compareAudits,
  },
];
