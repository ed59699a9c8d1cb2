/**
 * Bits that were flipped on disk (src/ledger/packs/pack-columns.ts): a white-flag request that reads them
 * gets an error, never roots.
 */
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../src/ledger/core/checksum.ts';
import { isPartOf } from '../../src/ledger/packs/milestone-part.ts';
import {
  ask,
  issue,
  type Question,
  questionOf,
  type Rig,
  startNew,
  storeNow,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { Random } from '../support/network/random.ts';

const db = await openMemory();

const COLUMNS = ['records', 'statuses', 'states', 'sums'] as const;

/** Bits that are flipped, one after another. */
const FLIPS = 300;

/** Two milestones, and blocks that are unreferenced; transfers among all of them. */
async function startBusy() {
  const { network, rig } = await startNew(db, 'flipped');
  const coins = [...network.genesisCoins];
  for (const count of [30, 20, 25]) {
    for (let i = 0; i < count; i++) {
      const made = network.transfer(coins.shift()!, i % 16);
      coins.push(made.coins[0]!);
      network.attachTransaction(made);
      if (i % 3 === 0) network.note();
    }
    await storeNow(rig, db);
    if (count === 25) break;
    await issue(rig, network);
  }
  return { network, rig };
}

/** The keys of the packs that a request about this milestone reads. */
async function packsOf(index: number, ledger: number): Promise<number[]> {
  const sql =
    index > ledger
      ? 'SELECT key FROM pack WHERE live = 1'
      : `SELECT DISTINCT k.value AS key FROM milestone_part m CROSS JOIN json_each(m.packs) k
         WHERE ${isPartOf('m.key', String(index))}`;
  return (await db.prepare(sql).all<{ key: number }>()).results.map(({ key }) => key);
}

async function askOrFail(rig: Rig, question: Question): Promise<unknown> {
  try {
    const answer = await ask(rig, question);
    return typeof answer === 'number' ? 'error' : answer;
  } catch (error) {
    // also of base64 and JSON that is none any more
    expect(error).toBeInstanceOf(LedgerDamaged);
    return 'error';
  }
}

it('any of some hundred flipped bits is an error', async () => {
  const { network, rig } = await startBusy();
  const random = new Random('flipped');
  const { request, response } = network.propose();
  const cases: { question: Question; answer: unknown; packs: Set<number> }[] = [
    { question: request, answer: response, packs: new Set(await packsOf(4, 3)) },
  ];
  for (const index of [2, 3]) {
    const { question, answer } = questionOf(network, index);
    cases.push({ question, answer, packs: new Set(await packsOf(index, 3)) });
  }
  const askAll = async () => {
    const answers = [];
    for (const { question } of cases) answers.push(await askOrFail(rig, question));
    return answers;
  };
  expect(await askAll()).toEqual(cases.map(({ answer }) => answer));

  const { results } = await db.prepare('SELECT * FROM pack ORDER BY key').all();
  expect(results.length).toBeGreaterThan(0);
  const seen = { errors: 0 };
  const read = results.filter(({ key }) => cases.some(({ packs }) => packs.has(Number(key))));
  for (let i = 0; i < FLIPS; i++) {
    const row = random.pick(read);
    const column = random.pick(COLUMNS);
    const text = String(row[column]);
    expect(text.length).toBeGreaterThan(0);
    const at = random.below(text.length);
    const character = String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(7)));
    const flipped = text.slice(0, at) + character + text.slice(at + 1);
    const write = (value: string) =>
      db.prepare(`UPDATE pack SET ${column} = ?2 WHERE key = ?1`).bind(row.key, value).run();
    await write(flipped);
    const due = cases.map(({ answer, packs }) => (packs.has(Number(row.key)) ? 'error' : answer));
    const what = { column, at, flipped: character, key: row.key };
    const answers = await askAll();
    // one of the sums is of which numbers are free: of the last live pack all requests read it, of
    // others none
    const expected = due.map((answer, i) => {
      const isEither =
        column === 'sums' &&
        [cases[i]!.answer, 'error'].some(
          (either) => JSON.stringify(either) === JSON.stringify(answers[i]),
        );
      return isEither ? answers[i] : answer;
    });
    expect({ ...what, answers }).toEqual({ ...what, answers: expected });
    seen.errors += due.filter((each) => each === 'error').length;
    await write(text);
  }
  expect(seen.errors).toBeGreaterThanOrEqual(FLIPS);
  expect(await askAll()).toEqual(cases.map(({ answer }) => answer));
});
