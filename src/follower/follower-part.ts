/** The part of a module in the follower (src/modules/README.md). */
import type { WriteLog } from '../platform/log.ts';
import type { ParsedBlock } from '../stardust/wire/block.ts';
import type { LastLedger, Upkeep } from './follower-context.ts';

export interface FollowerPart {
  /** Upkeep of its own, by name: after the core's, before the scrub. */
  upkeep?: Readonly<Record<string, Upkeep>>;
  /** Creates a listener to the ledger's moves; undefined if nobody listens. */
  createAnnouncer?(env: Env, log: WriteLog): Announcer | undefined;
}

/** Nothing waits for it, and nothing that it does or fails to do changes the ledger. */
export interface Announcer {
  /** The ledger may have moved: called after each milestone, and at the end of each pass. */
  moved(ledger: Pick<LastLedger, 'generation' | 'ledger'>): void;
  /** Blocks that requests see were stored. */
  stored(blocks: readonly ParsedBlock[]): void;
}
