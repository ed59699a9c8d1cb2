/**
 * Guards the upstream against what anonymous requests can make us ask it: a budget of blocks, and a breaker that opens when it fails again and again.
 *
 * One for each isolate: enough to keep a flood from passing through, without a round trip of its own.
 */
import type { BlockSource } from '../ledger/block-source.ts';
import { UpstreamFailure } from './upstream.ts';

/** Blocks that the requests of one isolate may have fetched in a window; a busy coordinator needs a tenth of it. */
const BLOCKS = 20_000;
const WINDOW = 10_000;

/** After so many failures in a row nothing is asked for a while; milliseconds. */
const FAILURES = 5;
const PAUSE = 1000;

export type Guard = (source: BlockSource) => BlockSource;

export function createFetchQuota(clock: () => number): Guard {
  let windowEnd = 0;
  let spent = 0;
  let failures = 0;
  let closedAgain = 0;

  function admit(blocks: number): void {
    const now = clock();
    if (now < closedAgain)
      throw new UpstreamFailure('upstream failed again and again, it is left alone for a moment');
    if (now >= windowEnd) {
      windowEnd = now + WINDOW;
      spent = 0;
    }
    spent += blocks;
    if (spent > BLOCKS) throw new UpstreamFailure('requests had too many blocks fetched');
  }

  return (source) => ({
    ...source,
    async fetch(ids) {
      admit(ids.length);
      try {
        const blocks = await source.fetch(ids);
        failures = 0;
        return blocks;
      } catch (error) {
        if (error instanceof UpstreamFailure && ++failures >= FAILURES) {
          failures = 0;
          closedAgain = clock() + PAUSE;
        }
        throw error;
      }
    },
  });
}
