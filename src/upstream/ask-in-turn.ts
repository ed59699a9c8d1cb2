/**
 * Asking several upstreams one after the other, until one of them has the answer.
 */
import { writeLimitedLog } from '../platform/log.ts';
import { createRanking, type Ranking } from './ranking.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

/**
 * The first answer that is not undefined. Undefined where every upstream says that it does not have
 * the thing. If none has it and at least one upstream failed, the last failure is thrown: that
 * upstream might have had it.
 *
 * An upstream that answers where an earlier one failed is asked first from then on.
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
        if (failure !== undefined) logFailure(failure);
        return answer;
      }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (failure !== undefined) logFailure(failure);
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

/** For a failure that nobody is told of, because another upstream was asked after it. */
function logFailure({ message }: UpstreamFailure): void {
  writeLimitedLog('warn', 'upstream.failed', { detail: message });
}
