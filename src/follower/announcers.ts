/** The announcers of all modules as one. What a module throws is logged, and stops nothing. */
import { describeError, type WriteLog } from '../platform/log.ts';
import type { Announcer, FollowerPart } from './follower-context.ts';

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
