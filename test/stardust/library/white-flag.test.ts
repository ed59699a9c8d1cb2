/**
 * `whiteFlag` of the library against what HORNET computed: order, verdicts and roots of recorded
 * milestones; and what it refuses.
 */
import { describe, expect, it } from 'vitest';
import { libraryWhiteFlag, whiteFlagInput } from '../../../cli/conformance/library-white-flag.ts';
import { runWhiteFlag } from '../../../cli/conformance/white-flag.ts';
import type { JsonObject } from '../../../src/stardust/encoding/json-object.ts';
import { type WhiteFlagInput, whiteFlag } from '../../../src/stardust/white-flag.ts';
import { readLines } from '../../support/vectors.ts';

const vectors = readLines('hornet-suite.jsonl') as JsonObject[];

it('computes what HORNET did', async () => {
  let conflicts = 0;
  for (const vector of vectors) {
    const failure = await runWhiteFlag(vector, async (given) => {
      const computed = await libraryWhiteFlag(given);
      conflicts += computed.order.filter(({ conflictReason }) => conflictReason !== 0).length;
      return computed;
    });
    expect(failure).toBe(undefined);
  }
  expect(vectors.length).toBeGreaterThan(10);
  expect(conflicts).toBeGreaterThan(5);
});

describe('refuses', () => {
  /** The options of a recorded milestone that is not the first, with a change. */
  async function refusal(change: (options: WhiteFlagInput) => WhiteFlagInput): Promise<string> {
    let message = 'nothing was computed';
    const vector = vectors.at(-1)!;
    await runWhiteFlag(vector, async (given) => {
      message = await whiteFlag(change(whiteFlagInput(given))).then(
        () => 'nothing is refused',
        (error: Error) => error.message,
      );
      return libraryWhiteFlag(given);
    });
    return message;
  }

  it.each<[string, (options: WhiteFlagInput) => WhiteFlagInput, RegExp]>([
    ['no change is none', (options) => options, /^nothing is refused$/],
    ['a block that is missing', (options) => ({ ...options, blocks: [] }), /^E\.1: block 0x/],
    [
      'a cone that ends before the previous milestone',
      (options) => ({ ...options, isReferenced: () => true }),
      /^E\.3: the previous milestone is not in the past cone$/,
    ],
    [
      'a previous milestone that others signed',
      (options) => ({ ...options, keys: { keys: [], threshold: 1 } }),
      /^E\.3: the previous milestone is not in the past cone$/,
    ],
    [
      'a gap in the indexes',
      (options) => ({
        ...options,
        milestone: { ...options.milestone, index: options.milestone.index + 1 },
      }),
      /^E\.3: milestone \d+ does not follow milestone \d+$/,
    ],
    [
      'a time that is not later',
      (options) => ({ ...options, milestone: { ...options.milestone, timestamp: 1 } }),
      /^E\.3: milestone \d+ does not follow milestone \d+$/,
    ],
    [
      'a previous milestone that is not named',
      (options) => ({
        ...options,
        milestone: { ...options.milestone, previousMilestoneId: new Uint8Array(32) },
      }),
      /^E\.3: no previous milestone is named$/,
    ],
  ])('%s', async (_, change, message) => {
    expect(await refusal(change)).toMatch(message);
  });

  it('a threshold of 0', async () => {
    const message = await refusal((options) => ({
      ...options,
      keys: { ...options.keys, threshold: 0 },
    }));
    expect(message).toMatch(/^the threshold must be/);
  });
});
