/**
 * What a feed pushed and is not stored or applied yet, in memory.
 *
 * The follower stores what `blocks.next` returns (src/follower/pushed/store-pushed.ts). It applies the one
 * of `milestones.at` that is signed, if D1 and `blocks` have its past cone
 * (src/follower/apply-next.ts). What is missing is left to a pass, which fetches it.
 */

import { BLOCKS, CONFIRMED_MILESTONE, MILESTONES } from '../../mqtt/topics.ts';
import { createPushedBlocks, type PushedBlocks, type PushOptions } from './pushed-blocks.ts';
import { createPushedMilestones, type PushedMilestones } from './pushed-milestones.ts';

export interface Pushed {
  readonly blocks: PushedBlocks;
  readonly milestones: PushedMilestones;
  /** Takes a message of the feed. */
  take(topic: string, payload: Uint8Array): void;
  /** Forgets everything, as after an import. */
  clear(): void;
}

/**
 * @param clock Unix milliseconds
 * @param milestoneCame called when a milestone was pushed or confirmed: there may be something to
 *   do at once
 */
export function createPushed(
  options: PushOptions,
  clock: () => number,
  milestoneCame: () => void,
): Pushed {
  const blocks = createPushedBlocks(options);
  const milestones = createPushedMilestones();
  return {
    blocks,
    milestones,
    take(topic, payload) {
      switch (topic) {
        case BLOCKS:
          return blocks.push(payload, clock());
        case MILESTONES:
          milestones.push(payload);
          return milestoneCame();
        case CONFIRMED_MILESTONE:
          milestones.confirm(payload);
          return milestoneCame();
      }
    },
    clear() {
      blocks.clear();
      milestones.clear();
    },
  };
}
