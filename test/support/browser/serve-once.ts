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
      /** Also: with every kind of output indexed, and at the end of a network. */
      indexed: string;
      ended: string;
      empty: string;
      fresh: string;
      limited: string;
    };
  }
}

export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const worker = await serveSample();
  const [empty, fresh, limited, indexed, ended] = await Promise.all([
    worker.startEmpty(),
    worker.startFresh(),
    worker.startEmpty({}, 1),
    worker.startIndexed(),
    worker.startEnded(),
  ]);
  provide('sample', { url: worker.url, nft: worker.nft, empty, fresh, limited, indexed, ended });
  return () => worker.stop();
}
