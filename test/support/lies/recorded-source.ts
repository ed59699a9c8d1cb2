/**
 * An honest node of a recorded network at one of its milestones: true, and as old as that milestone.
 */
import type { Fetch } from '../http/contract.ts';
import { recordedNode } from '../http/recorded-node.ts';
import { fetchFrom } from '../http/stub-node.ts';
import type { Network } from '../network/network-model.ts';
import { readAnswer, type Source, toRequest } from './lying-node.ts';

export async function fetchRecorded(
  network: Network,
  index: number,
  indexAll = false,
): Promise<Fetch> {
  return fetchFrom({ node: await recordedNode(network, index, undefined, indexAll) });
}

/**
 * @param files answers what is not of the API: the explorer
 * @param indexAll whether outputs of every kind are in lists
 */
export async function recordedSource(
  network: Network,
  index: number,
  files: Source,
  indexAll = false,
): Promise<Source> {
  const fetchNode = await fetchRecorded(network, index, indexAll);
  return (asked) =>
    asked.path.startsWith('/api/')
      ? readAnswer(fetchNode(asked.path, toRequest(asked)))
      : files(asked);
}
