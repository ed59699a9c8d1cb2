/**
 * One upstream's part in a pass: its next milestones are applied until the ledger is level with it,
 * the budget is spent, or something is in the way.
 */

import { networkNames } from '../ledger/core/ledger-parameters.ts';
import { UpstreamFailure, type UpstreamHeads } from '../upstream/upstream.ts';
import { applyUpTo, fromUpstream, type PassState } from './apply-next.ts';
import type { FollowerContext } from './follower-context.ts';
import { countUpstream } from './follower-counts.ts';
import type { Ending, UpstreamOutcome } from './summarize-pass.ts';
import { Divergence } from './verify-milestone.ts';

/**
 * Applies what the upstream at this place has to give. Throws a LedgerMoved when somebody else is
 * at work on the ledger, and what the database throws.
 */
export async function tryUpstream(
  context: FollowerContext,
  place: number,
  pass: PassState,
): Promise<UpstreamOutcome> {
  const upstream = context.upstreams[place]!;
  const { counts } = context.memory;
  const appliedBefore = pass.applied;
  let latest: UpstreamHeads['latest'] | undefined;
  const end = (ending: Ending): UpstreamOutcome => {
    return { ...ending, place, applied: pass.applied - appliedBefore, latest };
  };
  try {
    const heads = await upstream.readHeads();
    latest = heads.latest;
    countUpstream(counts, place, upstream.name, heads);
    const giver = fromUpstream(context, upstream, heads.confirmed, pass);
    const ending = await applyUpTo(context, giver, pass);
    // not before: a network that is ahead may have announced another name since
    requireNetwork(ending, heads.networkName);
    return end(ending);
  } catch (error) {
    if (!(error instanceof Divergence || error instanceof UpstreamFailure)) throw error;
    const kind = error instanceof Divergence ? 'diverged' : 'failed';
    countUpstream(counts, place, upstream.name, kind);
    // where the walk ended by the upstream's word, the next try walks afresh
    if (kind === 'diverged') context.memory.missing = undefined;
    const event = kind === 'diverged' ? 'upstream.diverged' : 'upstream.failed';
    context.memory.log('warn', event, { upstream: upstream.name, detail: error.message });
    return end({ kind, reason: error.message });
  }
}

/**
 * Throws a Divergence where the upstream's network is not the ledger's. Milestones need not show
 * that: those of two networks that were made with the same keys may follow the same genesis.
 */
function requireNetwork(ending: Ending, network: string | undefined): void {
  if (network === undefined || !('position' in ending)) return;
  const names = networkNames(ending.position.announced);
  if (names.includes(network)) return;
  throw new Divergence(
    `the upstream is of network ${network}, the imported ledger of ${names.at(-1)}: ` +
      'import a snapshot of that network, or name an upstream of this one',
  );
}
