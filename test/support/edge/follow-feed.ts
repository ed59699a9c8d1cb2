/**
 * The Worker as `npm run serve` runs it, behind the feed of a made-up network: what tests of hostile
 * networks do with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WHITE_FLAG } from '../http/contract.ts';
import { SyntheticNetwork } from '../network/synthetic-network.ts';
import type { Edge, EdgeOptions } from './edge.ts';
import { type Following, prepareFollowing } from './follow-network.ts';
import { untilLedger } from './walk-network.ts';

/** From the connection to the subscription: what is pushed before is lost. */
export const SUBSCRIBE_MS = 1500;

export interface Fed extends Following {
  network: SyntheticNetwork;
  edge: Edge;
  /** Ends the Worker and starts another one. */
  restart(): Promise<void>;
}

/** At milestone 1, once the Worker has subscribed. @param prepare is given the data folder */
export async function followFeed(
  seed: string,
  options: Partial<EdgeOptions> = {},
  prepare: (persistTo: string) => Promise<void> = async () => {},
): Promise<Fed> {
  const network = new SyntheticNetwork({ seed });
  const following = await prepareFollowing(network, { mqtt: true });
  const { double, persistTo } = following;
  await prepare(persistTo);
  const start = async () => {
    const edge = await following.start({ asServe: true, ...options });
    await fetch(`${edge.url}/health`);
    for (const end = Date.now() + 30_000; double.mqtt!.connections !== 1; await sleep(50))
      if (Date.now() > end) throw new Error('the Worker does not connect to the feed');
    await sleep(SUBSCRIBE_MS);
    return edge;
  };
  const fed: Fed = {
    ...following,
    network,
    edge: await start(),
    async restart() {
      await fed.edge.stop();
      fed.edge = await start();
    },
  };
  network.milestone();
  await double.pushTo(1);
  await untilLedger(fed.edge, 1);
  return fed;
}

/** Asks for the roots of a proposal; `ms`: how long it took. */
export async function askRoots({ edge }: Fed, request: object) {
  const began = performance.now();
  const init = { method: 'POST', body: JSON.stringify(request) };
  const answer = await fetch(edge.url + WHITE_FLAG, init);
  const { status, headers } = answer;
  const told = { status, detail: headers.get('x-error-detail'), body: await answer.json() };
  return { told, ms: Math.round(performance.now() - began) };
}

/** Issues a milestone with these parents. Returns the milliseconds until it is applied. */
export async function issueMilestone(
  { network, double, edge }: Fed,
  parents: readonly string[],
  seconds = 30,
): Promise<number> {
  const { index } = network.milestone({ parents });
  const began = performance.now();
  await double.pushTo(index);
  await untilLedger(edge, index, seconds);
  return Math.round(performance.now() - began);
}
