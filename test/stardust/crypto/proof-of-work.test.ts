/**
 * Proof of work (src/stardust/crypto/proof-of-work.ts), on blocks of the Shimmer mainnet, which
 * asked for a score of 1,500.
 */
import { describe, expect, it } from 'vitest';
import { readSampleMilestone } from '../../../cli/start/sample.ts';
import { hasProofOfWork, trailingZeros } from '../../../src/stardust/crypto/proof-of-work.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';

const MIN_SCORE = 1500;

const blocks = [17339, 17340]
  .flatMap((index) => readSampleMilestone(index).blocks)
  .map(fromHex)
  .filter((bytes) => {
    const result = parseBlock(bytes);
    return result.ok && result.parsed.milestone === undefined;
  });

const scoreOf = (bytes: Uint8Array) => 3 ** trailingZeros(bytes) / bytes.length;

describe('blocks of the mainnet', () => {
  it('have all done the work', () => {
    expect(blocks.length).toBeGreaterThan(50);
    for (const bytes of blocks) {
      expect(hasProofOfWork(bytes, MIN_SCORE)).toBe(true);
      expect(scoreOf(bytes)).toBeGreaterThanOrEqual(MIN_SCORE);
    }
  });

  it('have not, as soon as a bit is another', () => {
    for (const bytes of blocks.slice(0, 20)) {
      for (const at of [0, 40, bytes.length - 9, bytes.length - 8, bytes.length - 1]) {
        const changed = Uint8Array.from(bytes);
        changed[at] = changed[at]! ^ 1;
        expect(hasProofOfWork(changed, MIN_SCORE)).toBe(false);
        expect(hasProofOfWork(changed, 0)).toBe(true);
      }
    }
  });

  it('have it up to their score and no further', () => {
    for (const bytes of blocks.slice(0, 20)) {
      const score = scoreOf(bytes);
      expect(hasProofOfWork(bytes, Math.floor(score))).toBe(true);
      expect(hasProofOfWork(bytes, Math.floor(score) + 1)).toBe(false);
    }
  });
});
