/**
 * At least 500 questions about random networks, answered as the oracle answers them; 10,000 of them
 * with `npm run test:slow -- questions`.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { askAboutNetwork, nothingAsked } from '../support/ledger/random-questions.ts';

vi.setConfig({ testTimeout: 300_000 });

describe('random networks', () => {
  const asked = nothingAsked();

  it.each(Array.from({ length: 8 }, (_, i) => [`network of questions ${i}`]))('%s', (seed) =>
    askAboutNetwork(env.LEDGER, seed, asked),
  );

  it('were asked about in every way', () => {
    const { present, audits, spans, refused, explained, proofs } = asked;
    expect(present + audits + spans + refused).toBeGreaterThanOrEqual(500);
    expect(present).toBeGreaterThan(80);
    expect(audits).toBeGreaterThan(40);
    expect(spans).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(20);
    expect(explained).toBeGreaterThan(1000);
    expect(proofs).toBeGreaterThan(60);
  });
});
