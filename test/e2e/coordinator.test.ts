/**
 * A coordinator whose quorum has the Worker as its only member (docs/protocol.md, E.4): before each
 * milestone it asks for the roots of blocks that are a moment old, and goes on only with the right
 * ones, in two seconds (`IN_TIME=1`, on a quiet machine). The network is alive: transactions of all
 * kinds, conflicts, blocks that come between question and milestone.
 */
import { expect, it } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { IN_TIME, isLate, untilLedger } from '../support/edge/walk-network.ts';
import { newLife, takeStock } from '../support/network/accounts.ts';
import { somethingHappens } from '../support/network/random-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const MILESTONES = Number(process.env.MILESTONES ?? 8);

/** Milliseconds: inx-coordinator's default. */
const QUORUM_TIMEOUT = 2000;

/**
 * The answer of the quorum's only member; asked again, as a coordinator does at its next tick,
 * where time is not what is tested.
 */
async function askRoots(url: string, request: object): Promise<unknown> {
  for (let tries = IN_TIME ? 1 : 10; ; tries--) {
    const signal = AbortSignal.timeout(IN_TIME ? QUORUM_TIMEOUT : 30_000);
    const response = await fetch(`${url}/api/core/v2/whiteflag`, {
      method: 'POST',
      body: JSON.stringify(request),
      signal,
    });
    if (tries === 1 || !(isLate(response) || isBehind(response))) return response.json();
  }
}

/** Whether the follower had not come to the milestone before within the time of a request. */
function isBehind({ status, headers }: Response): boolean {
  return status === 404 && /the ledger is at \d+$/.test(headers.get('x-error-detail') ?? '');
}

it(`${MILESTONES} milestones, none refused, none late`, async () => {
  const network = new SyntheticNetwork({ seed: 'coordinator' });
  await using following = await prepareFollowing(network);
  const { double } = following;
  const edge = await following.start();
  await untilLedger(edge, network.genesis.index);
  const life = newLife(network);
  const times: number[] = [];
  for (let i = 0; i < MILESTONES; i++) {
    takeStock(life);
    const events = i === 0 ? 0 : 40;
    for (let done = 0; done < events; done++) {
      somethingHappens(life);
      // most of the blocks come before the last moment
      if (done === 25) await new Promise((resolve) => setTimeout(resolve, 700));
    }
    const { request, response } = network.propose();
    const asked = performance.now();
    const answer = await askRoots(edge.url, request).catch((error: unknown) => String(error));
    times.push(Math.round(performance.now() - asked));
    const heard = `milestone ${request.index} after ${times.at(-1)} ms\n${edge.log.slice(-20).join('\n')}`;
    expect(answer, heard).toEqual(response);
    const { index } = network.milestone({ parents: request.parents, timestamp: request.timestamp });
    double.confirm(index);
  }
  console.log(`milliseconds to an answer: ${times.sort((a, b) => a - b).join(' ')}`);
}, 600_000);
