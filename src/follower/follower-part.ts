/** The part of a module in the follower (src/modules/README.md). */
import type { LedgerPart } from '../ledger/ledger-part.ts';
import { describeError, type WriteLog } from '../platform/log.ts';
import type { Settings } from '../settings.ts';
import type { ParsedBlock } from '../stardust/wire/block.ts';
import type { Ranking } from '../upstream/ask-in-turn.ts';
import type { LastLedger, TakePushed, Upkeep } from './follower-context.ts';

export interface FollowerPart {
  /** Upkeep of its own, by name: after the core's, before the scrub. */
  upkeep?: Readonly<Record<string, Upkeep>>;
  ledger?: LedgerPart;
  /** Creates a listener to the ledger's moves; undefined if nobody listens. */
  createAnnouncer?(env: Env, log: WriteLog): Announcer | undefined;
  /**
   * Opens a feed of an upstream, which is closed at the final milestone. Without one, upstreams are
   * polled.
   */
  openFeed?(settings: Settings, ranking: Ranking, take: TakePushed): Feed;
}

/** A connection on which an upstream pushes. Nothing is believed or waited for. */
export interface Feed {
  state(): FeedState;
  stop(): void;
}

/** `down`: no session. `silent`: a session that brings nothing. `live`: messages are coming. */
export type FeedState = 'down' | 'silent' | 'live';

/** Nothing waits for it, and nothing that it does or fails to do changes the ledger. */
export interface Announcer {
  /** The ledger may have moved: called after each milestone, and at the end of each pass. */
  moved(ledger: Pick<LastLedger, 'generation' | 'ledger'>): void;
  /** Blocks that requests see were stored. */
  stored(blocks: readonly ParsedBlock[]): void;
}

/** Makes the announcers of all modules one. A failure of one is logged, and stops nothing. */
export function createAnnouncers(
  modules: readonly FollowerPart[],
  env: Env,
  log: WriteLog,
): Announcer {
  function attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      log('error', 'follower.not-announced', { error: describeError(error) });
      return undefined;
    }
  }
  const all = modules.flatMap((each) => attempt(() => each.createAnnouncer?.(env, log)) ?? []);
  return {
    moved(ledger) {
      for (const each of all) attempt(() => each.moved(ledger));
    },
    stored(blocks) {
      for (const each of all) attempt(() => each.stored(blocks));
    },
  };
}
