/**
 * Whether a milestone references a block, by the word of every configured upstream.
 *
 * No signed root can tell yet whether the word is true, so any "yes" wins: an upstream that lies
 * can then refuse an answer, and make a wrong one only if no honest upstream speaks (SECURITY.md).
 */
import { writeLog } from '../log.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

/**
 * Milliseconds that an upstream has to contradict the first one that says "not referenced". Later
 * it is not waited for, so that one that hangs delays a request by this once.
 */
export const CONTRADICTION_MS = 200;

export interface ReferenceOptions {
  upstreams: readonly Upstream[];
  /** Only milestones before this index count. */
  index: number;
  /** Milestone index that an upstream, by its place, has confirmed; by default it is asked once. */
  readConfirmed?: (upstream: Upstream, place: number) => Promise<number>;
}

/**
 * By hex ID: the milestone before `index` that references the block, or null where none does, or
 * undefined where no upstream knows the block. Throws an UpstreamFailure where nobody can tell.
 */
export type ReadReference = (id: string) => Promise<number | null | undefined>;

interface Voter {
  upstream: Upstream;
  confirmed: Promise<number> | undefined;
  /** Aborted when it was waited for in vain; then it is not asked again. */
  late: AbortController;
  isLogged: boolean;
}

/**
 * All upstreams are asked at once, and
 *  - the first "yes, by a milestone before `index`" decides;
 *  - a "no" counts if the upstream has confirmed milestone `index` - 1. It decides when all others
 *    have spoken or failed, at the latest {@link CONTRADICTION_MS} after it came.
 * So an upstream that fails or is behind is not in the way while another one is up.
 */
export function createReferenceReader({
  upstreams,
  index,
  readConfirmed = async (upstream) => (await upstream.readHeads()).confirmed,
}: ReferenceOptions): ReadReference {
  const voters = upstreams.map(
    (upstream): Voter => ({
      upstream,
      confirmed: undefined,
      late: new AbortController(),
      isLogged: false,
    }),
  );

  async function vote(voter: Voter, place: number, id: string): Promise<number | null | undefined> {
    const { upstream, late } = voter;
    // first, so that of an upstream that hangs no question about blocks takes a connection
    voter.confirmed ??= readConfirmed(upstream, place);
    const confirmed = await voter.confirmed;
    const reference = await upstream.readReference(id, late.signal);
    if (reference === undefined) return undefined;
    if (reference !== null && reference < index) return reference;
    if (confirmed < index - 1)
      throw new UpstreamFailure(
        `${upstream.name} is at milestone ${confirmed}, behind ${index - 1}`,
      );
    return null;
  }

  return (id) => {
    const { promise, resolve, reject } = Promise.withResolvers<number | null | undefined>();
    const silent = new Set(voters.filter(({ late }) => !late.signal.aborted));
    if (silent.size === 0) {
      // each was too slow for another one once
      for (const voter of voters) {
        voter.late = new AbortController();
        silent.add(voter);
      }
    }
    let answer: null | undefined;
    let failure: UpstreamFailure | undefined;
    let stopWaiting: (() => void) | undefined;

    const end = () => {
      stopWaiting?.();
      if (answer === null || failure === undefined) resolve(answer);
      else reject(failure);
    };
    const giveUpWaiting = () => {
      for (const voter of silent) {
        logOnce(voter, `${voter.upstream.name} does not say in time what is referenced`);
        voter.late.abort();
      }
      end();
    };
    const take = async (voter: Voter) => {
      try {
        const reference = await vote(voter, voters.indexOf(voter), id);
        if (typeof reference === 'number') {
          stopWaiting?.();
          resolve(reference);
          return;
        }
        if (reference === null) {
          answer = null;
          if (stopWaiting === undefined) {
            const timer = setTimeout(giveUpWaiting, CONTRADICTION_MS);
            stopWaiting = () => clearTimeout(timer);
          }
        }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) return reject(error);
        failure = error;
        if (upstreams.length > 1 && !voter.late.signal.aborted) logOnce(voter, error.message);
      }
      silent.delete(voter);
      if (silent.size === 0) end();
    };
    for (const voter of silent) void take(voter);
    return promise;
  };
}

/** For a failure that need not be the answer's: the request may succeed by another upstream. */
function logOnce(voter: Voter, detail: string): void {
  if (voter.isLogged) return;
  voter.isLogged = true;
  writeLog('warn', 'upstream.failed', { detail });
}
