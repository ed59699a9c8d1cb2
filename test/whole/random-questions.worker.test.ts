/** Some of the questions of random-questions.test.ts on a real D1. */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { askAboutNetwork, nothingAsked } from '../support/ledger/random-questions.ts';

vi.setConfig({ testTimeout: 300_000 });

it.each([0, 0.5])('on D1, where the follower dies with probability %s', async (mortality) => {
  const asked = nothingAsked();
  await askAboutNetwork(env.LEDGER, `network on D1 ${mortality}`, asked, mortality);
  expect(Object.entries(asked).filter(([, count]) => count === 0)).toEqual([]);
});
