/** A network that the built Worker follows over HTTP, and what the Worker is asked meanwhile. */
import type { RecordedQuestion } from '../network/recorded-network.ts';
import type { Edge } from './edge.ts';

/**
 * The contract's status for questions that the node refuses in its own way
 * (test/vectors/README.md).
 */
const REFUSED: Record<string, number> = {
  'no parents': 400,
  'parent without prefix': 400,
  'short parent': 400,
  'not JSON': 400,
  'index as text': 400,
  'no previous milestone': 400,
  'unknown previous milestone': 400,
  'index too low': 400,
  'timestamp not raised': 400,
  'unknown parent': 404,
  'index too high': 404,
  'same parent twice': 200,
};

export function expectedStatus({ name, status }: RecordedQuestion): number {
  return status === 200 ? 200 : (REFUSED[name] ?? Number.NaN);
}

export async function ask(
  url: string,
  { request }: RecordedQuestion,
): Promise<{ status: number; body: unknown; isLate: boolean }> {
  const body = typeof request === 'string' ? request : JSON.stringify(request);
  const response = await fetch(`${url}/api/core/v2/whiteflag`, { method: 'POST', body });
  return { status: response.status, body: await response.json(), isLate: isLate(response) };
}

export async function lookUpNft(
  url: string,
  nftId: string,
): Promise<{ status: number; ledgerIndex: number; items: string[] | null }> {
  const response = await fetch(`${url}/api/indexer/v1/outputs/nft/${nftId}`);
  const { items } = (await response.json()) as { items?: string[] };
  return {
    status: response.status,
    ledgerIndex: Number(response.headers.get('x-ledger-index')),
    items: items ?? null,
  };
}

export interface Info {
  status: {
    isHealthy: boolean;
    confirmedMilestone: { index: number; timestamp: number; milestoneId: string };
    latestMilestone: { index: number };
  };
  protocol: { rentStructure: { vByteCost: number }; belowMaxDepth: number };
  pendingProtocolParameters: unknown[];
}

export async function readInfo(url: string): Promise<Info> {
  const response = await fetch(`${url}/api/core/v2/info`);
  if (response.status !== 200) throw new Error(`info: ${response.status} ${await response.text()}`);
  return (await response.json()) as Info;
}

/** Between two looks at the ledger, if the log does not say that it has come to the milestone. */
const LOOK_EVERY_MS = 1000;

/** Waits until the ledger stands at `index`; fails after `seconds`. */
export async function untilLedger(edge: Edge, index: number, seconds = 20): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  const isApplied = new RegExp(`"follower.milestone-applied".*"index":${index}\\b`);
  for (;;) {
    const applied = edge.nextLine(isApplied, LOOK_EVERY_MS);
    const at = (await readInfo(edge.url)).status.confirmedMilestone.index;
    if (at === index) return;
    if (at > index || Date.now() > deadline)
      throw new Error([`the ledger is at ${at}, not ${index}`, ...edge.log.slice(-40)].join('\n'));
    await applied;
  }
}

/**
 * Set where the machine is quiet: answers must then come in time. Elsewhere only wrong ones count,
 * as a test must not fail because the machine was busy.
 */
export const IN_TIME = process.env.IN_TIME !== undefined;

/** What an answer says that came too late because an upstream was slow. */
export const LATE = 'what is missing here could not be had in time';

/**
 * Whether the Worker gave up because the upstream, which runs in the same process as the test, was
 * slow.
 */
export function isLate(answer: Response): boolean {
  return answer.status === 500 && answer.headers.get('x-error-detail') === LATE;
}
