/**
 * The questions of random-questions.worker.test.ts on SQLite in this process, which is quicker, and
 * as many of them as the environment asks for: `npm run test:slow -- questions` puts 10,000.
 */
import { expect, it } from 'vitest';
import { openMemory } from '../support/ledger/memory-database.ts';
import { askAboutNetwork, nothingAsked } from '../support/ledger/random-questions.ts';

const QUESTIONS = Number(process.env.QUESTIONS ?? 50);

it(`${QUESTIONS} questions are answered as the oracle answers them`, async () => {
  // as much of D1 as the ledger uses
  const db = (await openMemory()) as unknown as D1Database;
  const asked = nothingAsked();
  const count = () => asked.present + asked.audits + asked.spans + asked.refused;
  for (let i = 0; count() < QUESTIONS; i++)
    await askAboutNetwork(db, `network of many questions ${i}`, asked);
  console.log(JSON.stringify(asked));
  expect(asked.spans).toBeGreaterThan(QUESTIONS / 10);
  expect(asked.present).toBeGreaterThan(QUESTIONS / 10);
}, 3_600_000);
