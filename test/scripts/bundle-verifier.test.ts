/**
 * The page's verifier: what is committed is what the script makes of its sources, and it needs
 * nothing but a browser.
 */
import { expect, it } from 'vitest';
import { bundleVerifier } from '../../scripts/bundle-verifier.ts';
import verifier from '../../src/http/assets/verifier.json';

it('src/http/assets/verifier.json is what `npm run bundle-verifier` makes', async () => {
  // not by toBe, which would print both
  expect((await bundleVerifier()) === verifier, 'run npm run bundle-verifier').toBe(true);
});

it('imports nothing, keeps the notice of noble, and is no burden', () => {
  expect(verifier).not.toMatch(/\bimport\b|\brequire\b/);
  expect(verifier).toContain('noble-curves - MIT License');
  expect(verifier.length).toBeLessThan(100_000);
});
