/**
 * Serves the sample once for all tests in browsers: `inject('sample')`.
 */
import type { TestProject } from 'vitest/node';
import { serveSample } from '../edge/sample.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sample: {
      url: string;
      /** An NFT that the ledger holds, and its output. */
      nft: { nftId: string; outputId: string };
      /** URLs of other nodes: without a ledger, fresh from a snapshot, and one white flag a minute. */
      empty: string;
      fresh: string;
      limited: string;
    };
  }
}

export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const worker = await serveSample();
  const [empty, fresh, limited] = await Promise.all([
    worker.startEmpty(),
    worker.startFresh(),
    worker.startEmpty({}, 1),
  ]);
  provide('sample', { url: worker.url, nft: worker.nft, empty, fresh, limited });
  return () => worker.stop();
}
