/**
 * GET /health (design §1, §5): empty, 200 or 503; why not healthy stands in X-Error-Detail.
 */
import { detailHeader } from './errors.ts';
import type { NodeStatus } from './node.ts';
import type { RouteContext } from './route.ts';

/** As in the reference (formats-and-clients.md §2). */
const MAX_AGE_SECONDS = 5 * 60;

/** Why the node is not healthy, for people; undefined if it is. `now` in Unix milliseconds. */
export function findAilment(status: NodeStatus | undefined, now: number): string | undefined {
  if (status === undefined) return 'no ledger was imported yet';
  const { follower, ledger } = status;
  if (follower.state === 'stopped' || follower.state === 'diverged') return `${follower.state}: ${follower.reason}`;
  const age = Math.floor(now / 1000) - ledger.timestamp;
  return age > MAX_AGE_SECONDS ? `the ledger at milestone ${ledger.index} is ${age} seconds old` : undefined;
}

export async function answerHealth({ node, notes }: RouteContext): Promise<Response> {
  const status = await node.readStatus();
  if (status !== undefined) notes.ledgerIndex = status.ledger.index;
  const ailment = findAilment(status, Date.now());
  if (ailment === undefined) return new Response(null);
  notes.detail = ailment;
  return new Response(null, { status: 503, headers: detailHeader(ailment) });
}
