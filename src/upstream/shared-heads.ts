/**
 * How far the upstreams are, for all requests of an isolate: an upstream is asked for its `info`
 * once a second at most, and again when the ledger has moved. Requests that come meanwhile share
 * the answer, or the failure.
 */
import { hasPassed } from '../clock.ts';
import type { ReferenceOptions } from './read-references.ts';

/** An upstream does not go back; what it has confirmed stays so. */
const REMEMBERED_MS = 1000;

/** For requests about the ledger index: how {@link ReferenceOptions} have it read. */
export type ReadConfirmedAt = (ledger: number) => NonNullable<ReferenceOptions['readConfirmed']>;

/**
 * @param clock Unix milliseconds
 * @param keepAlive lets a question outlive the request that put it, as others wait for its answer
 */
export function createSharedHeads(
  clock: () => number,
  keepAlive: (work: Promise<unknown>) => void,
): ReadConfirmedAt {
  /** By the upstream's place. */
  const asked = new Map<number, { ledger: number; at: number; confirmed: Promise<number> }>();
  return (ledger) => (upstream, place) => {
    const now = clock();
    const last = asked.get(place);
    // what was asked before the ledger moved may say that the upstream is behind, and is old
    if (last?.ledger === ledger && !hasPassed(REMEMBERED_MS, last.at, now)) return last.confirmed;
    const confirmed = upstream.readHeads().then((heads) => heads.confirmed);
    asked.set(place, { ledger, at: now, confirmed });
    keepAlive(confirmed.catch(() => {}));
    return confirmed;
  };
}
