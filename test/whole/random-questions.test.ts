/**
 * The fast path against the simple one: whatever of a random network is stored, in whatever order
 * it came, and whatever has to be fetched, questions are answered as the oracle answers them; and
 * the verdicts made at intake are those that the oracle's judge makes at any time. At least as many
 * questions as the environment asks for: `npm run test:slow -- questions` puts 10,000.
 */
import { expect, it } from 'vitest';
import { openMemory } from '../support/ledger/memory-database.ts';
import { askAboutNetwork, nothingAsked } from '../support/ledger/random-questions.ts';

const QUESTIONS = Number(process.env.QUESTIONS ?? 150);

it(`${QUESTIONS} questions are answered as the oracle answers them`, async () => {
  const db = await openMemory();
  const asked = nothingAsked();
  const { explained: _, proofs: __, ...answered } = asked;
  const count = () =>
    Object.keys(answered).reduce((sum, kind) => sum + asked[kind as keyof typeof answered], 0);
  // in every other network the follower dies now and then
  for (let i = 0; count() < QUESTIONS; i++)
    await askAboutNetwork(db, `network ${i}`, asked, (i % 2) * 0.5);
  console.log(JSON.stringify(asked));
  for (const [kind, share] of [
    ['present', 0.15],
    ['audits', 0.08],
    ['spans', 0.2],
    ['refused', 0.04],
    ['fetched', 0.06],
    ['explained', 2],
    ['proofs', 0.08],
  ] as const)
    expect([kind, asked[kind] >= share * QUESTIONS]).toEqual([kind, true]);
}, 3_600_000);
