/**
 * Finds out whether a milestone references a block, by the word of every configured upstream. No
 * signed root can tell yet whether the word is true, so any "yes" wins: a liar can refuse an
 * answer, and make a wrong one only if no honest upstream speaks (SECURITY.md).
 */
import { within } from '../platform/clock.ts';
import { writeLimitedLog } from '../platform/log.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

export interface ReferenceOptions {
  upstreams: readonly Upstream[];
  /** Only milestones before this index count. */
  index: number;
}

/**
 * Returns the milestone before `index` that references the block by hex ID, null if none does,
 * undefined if no upstream knows it. Throws an UpstreamFailure if nobody can tell.
 *
 * @param onSilence called if null is the word of some upstreams, while others failed
 */
export type ReadReference = (
  id: string,
  onSilence?: () => void,
) => Promise<number | null | undefined>;

interface Voter {
  upstream: Upstream;
  /** Milestone index that it has confirmed; it is asked until it answers. */
  confirmed: Promise<number> | undefined;
  /** Why it is asked no more: it answered neither question. */
  down: unknown;
}

/**
 * Queries all upstreams at once. The first "yes, by a milestone before `index`" decides. A "no"
 * counts if the upstream has confirmed milestone `index` - 1, and decides when all others have
 * spoken or failed. So an upstream that fails or is behind is not in the way of another one. One
 * that is late or has too many requests is: a stored block stays visible, and nobody can tell.
 */
export function createReferenceReader({ upstreams, index }: ReferenceOptions): ReadReference {
  const voters = upstreams.map(
    (upstream): Voter => ({ upstream, confirmed: undefined, down: undefined }),
  );

  async function vote(voter: Voter, id: string): Promise<number | null | undefined> {
    const { upstream } = voter;
    if (voter.down !== undefined) throw voter.down;
    // first, so that of an upstream that hangs no question about blocks takes a connection
    voter.confirmed ??= upstream.readHeads().then(({ confirmed }) => confirmed);
    const confirmed = await voter.confirmed.catch((error: unknown) => {
      voter.confirmed = undefined;
      if (!(error instanceof UpstreamFailure) || error.isBusy) throw error;
      return error;
    });
    const reference = await upstream.readReference(id).catch((error: unknown) => {
      if (confirmed instanceof UpstreamFailure) voter.down = error;
      throw error;
    });
    // a "yes" needs no heads: one answer that was lost must not leave the word to a liar
    if (typeof reference === 'number' && reference < index) return reference;
    if (confirmed instanceof UpstreamFailure) throw confirmed;
    if (reference === undefined) return undefined;
    if (confirmed < index - 1)
      throw new UpstreamFailure(
        `${upstream.name} is at milestone ${confirmed}, behind ${index - 1}`,
      );
    return null;
  }

  return (id, onSilence) => {
    const { promise, resolve, reject } = Promise.withResolvers<number | null | undefined>();
    let silent = voters.length;
    let answer: null | undefined;
    let failure: UpstreamFailure | undefined;
    let isOneBusy = false;

    const take = async (voter: Voter) => {
      try {
        const reference = await vote(voter, id);
        if (typeof reference === 'number') return resolve(reference);
        if (reference === null) answer = null;
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) return reject(error);
        failure = error;
        isOneBusy ||= error.isBusy;
        // another upstream may have the answer
        if (upstreams.length > 1)
          writeLimitedLog('warn', 'upstream.failed', { detail: error.message });
      }
      if (--silent > 0) return;
      if (failure !== undefined && (answer === undefined || isOneBusy)) return reject(failure);
      if (failure !== undefined) onSilence?.();
      resolve(answer);
    };
    for (const voter of voters) void take(voter);
    return promise;
  };
}

/** Throws an UpstreamFailure at the deadline; what was queried may still be answered. */
export const untilLate = <T>(work: Promise<T>, deadline: number): Promise<T> =>
  within(deadline - Date.now(), work, () => {
    throw new UpstreamFailure('not all upstreams say in time what is referenced');
  });
