/** Queries several upstreams one after the other, until one of them has the answer. */
import { writeLimitedLog } from '../platform/log.ts';
import { createRanking, type Ranking } from './ranking.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

/**
 * Returns the first answer that is not undefined; undefined if no upstream has the thing. If none
 * has it and at least one failed, the last failure is thrown: that upstream might have had it. An
 * upstream that answers after an earlier one failed is queried first from then on.
 */
export async function askInTurn<T>(
  upstreams: readonly Upstream[],
  ask: (upstream: Upstream) => Promise<T | undefined>,
  ranking: Ranking = createRanking(Date.now),
): Promise<T | undefined> {
  let failure: UpstreamFailure | undefined;
  for (const place of ranking.order(upstreams.length)) {
    try {
      const answer = await ask(upstreams[place]!);
      if (failure !== undefined) ranking.beginWith(place);
      if (answer !== undefined) {
        if (failure !== undefined) logUnseenFailure(failure);
        return answer;
      }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (failure !== undefined) logUnseenFailure(failure);
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

/** Logs a failure that no caller sees, because another upstream was queried after it. */
function logUnseenFailure({ message }: UpstreamFailure): void {
  writeLimitedLog('warn', 'upstream.failed', { detail: message });
}
