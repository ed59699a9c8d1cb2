/** Some of the questions of random-questions.test.ts on a real D1. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { askAboutNetwork, nothingAsked } from '../support/ledger/random-questions.ts';

it('on D1, where every second follower dies', async () => {
  const asked = nothingAsked();
  await askAboutNetwork(env.LEDGER, 'network on D1 0.5', asked, 0.5);
  expect(Object.entries(asked).filter(([, count]) => count === 0)).toEqual([]);
});
