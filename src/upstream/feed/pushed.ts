/**
 * What a feed brought and nobody has taken in hand yet: the whole of it, in memory.
 *
 * Whoever follows takes it from here. A pass that has this does not ask for tips while the feed is
 * live: it stores what `blocks.next` gives, and fetches what `blocks.missing` names. The milestone
 * that is due is one of `milestones.at`, if it is properly signed; its cone is there when the
 * database knows all IDs that `blocks.beyond` leads to from its parents. The same is asked about
 * the parents of a proposal, before what is held is stored for its sake.
 */
import { createPushedBlocks, type PushedBlocks, type PushOptions } from './pushed-blocks.ts';
import { createPushedMilestones, type PushedMilestones } from './pushed-milestones.ts';
import { BLOCKS, CONFIRMED, MILESTONES } from './topics.ts';

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
        case CONFIRMED:
          milestones.confirm(payload, clock());
          return milestoneCame();
      }
    },
    clear() {
      blocks.clear();
      milestones.clear();
    },
  };
}
