/**
 * An honest node of a recorded network at one of its milestones: true, and as old as that milestone.
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import type { Fetch } from '../http/contract.ts';
import { recordedNode } from '../http/recorded-node.ts';
import { fetchFrom } from '../http/stub-node.ts';
import { questionOf } from '../ledger/ledger-harness.ts';
import { coneOf, type Network } from '../network/network-model.ts';
import { readAnswer, type Source, toRequest } from './lying-node.ts';

/** The white flag is answered to the coordinator's question, and to no other. */
export function fetchRecorded(network: Network, index: number): Fetch {
  const { question, answer } = questionOf(network, index);
  const { inclusionMerkleRoot, appliedMerkleRoot } = answer as Record<string, string>;
  return fetchFrom({
    node: {
      ...recordedNode(network, index),
      async computeWhiteFlag({ index, timestamp, parents, previousMilestoneId }) {
        const asked = {
          index,
          timestamp,
          parents: parents.map((id) => `0x${id}`),
          previousMilestoneId: `0x${previousMilestoneId}`,
        };
        for (const [name, value] of Object.entries(asked))
          if (String(value) !== String(question[name as keyof typeof asked]))
            throw new Error(`another ${name} than the coordinator's: ${value}`);
        return {
          ok: true,
          inclusionMerkleRoot: fromHex(inclusionMerkleRoot!),
          appliedMerkleRoot: fromHex(appliedMerkleRoot!),
          blocks: coneOf(network, index).length,
          stages: {},
        };
      },
    },
  });
}

/** @param files answers what is not of the API: the explorer */
export function recordedSource(network: Network, index: number, files: Source): Source {
  const fetchNode = fetchRecorded(network, index);
  return (asked) =>
    asked.path.startsWith('/api/')
      ? readAnswer(fetchNode(asked.path, toRequest(asked)))
      : files(asked);
}
