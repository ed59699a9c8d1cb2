/**
 * network-a and network-c (test/vectors/README.md#recorded-networks), replayed milestone by
 * milestone from their genesis. Compared are all verdicts of the node, all signed roots, all
 * answered white-flag requests, and the ledger after milestones and at the end. The white flag here
 * is the oracle's.
 */
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { isMilestoneBlock, signatureFault } from '../../../src/stardust/milestone-keys.ts';
import { type ParsedBlock, parseBlock } from '../../../src/stardust/wire/block.ts';
import { migratedOutputs, receiptFault } from '../../../src/stardust/wire/receipt.ts';
import { verifySignature } from '../../../src/verify-signature.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import {
  coneOf,
  type Network,
  type NetworkMilestone,
  type NetworkOutput,
  stateHash,
  ZERO_ID,
} from '../../support/network/network-model.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../../support/network/recorded-network.ts';
import { type OracleRequest, type OracleResult, whiteFlag } from '../../support/oracle/oracle.ts';

/** The ledger and the tangle as the node has them after a milestone. */
interface State {
  referenced: Set<string>;
  outputs: Map<string, NetworkOutput>;
  spent: Set<string>;
  treasury: bigint;
}

interface Replay {
  milestones: {
    milestone: NetworkMilestone;
    fault: string | undefined;
    result: OracleResult;
    stateHash: string;
  }[];
  /** Answered requests, each put at the ledger index at which the node was asked. */
  answers: { expected: unknown; answer: unknown }[];
}

async function replay(name: RecordedName): Promise<Replay> {
  const network = recordedNetwork(name);
  const blocks = new Map([...network.blocks].map(([id, { bytes }]) => [id, parsedBlock(bytes)]));
  const state = genesis(network);
  const view = {
    ...state,
    blocks,
    milestoneBlocks: await findMilestoneBlocks(network, blocks),
    genesisMilestoneIndex: network.genesis.index,
    // E.7
    solidEntryPoints: new Set([ZERO_ID]),
  };
  const questions = recordedQuestions(name).filter(({ status }) => status === 200);
  const done: Replay = { milestones: [], answers: [] };
  for (const milestone of network.milestones) {
    for (const { request, response } of questions.filter(
      ({ ledgerIndex }) => ledgerIndex === milestone.index - 1,
    )) {
      done.answers.push({
        expected: response,
        answer: rootsOf(await whiteFlag(view, request as OracleRequest)),
      });
    }
    const value = readMilestone(milestone.payload);
    const { index, timestamp } = value;
    const parents = value.parents.map(toHex);
    const previousMilestoneId = toHex(value.previousMilestoneId);
    const result = await whiteFlag(view, { index, timestamp, parents, previousMilestoneId });
    const fault =
      (await signatureFault(value, fromHex(milestone.id), network.keys, verifySignature)) ??
      apply(state, network, milestone, result);
    const hash = stateHash({ ...network, outputs: state.outputs }, index);
    done.milestones.push({ milestone, fault, result, stateHash: hash });
  }
  return done;
}

function parsedBlock(bytes: Uint8Array): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.parsed;
}

async function findMilestoneBlocks(
  { keys }: Network,
  blocks: Map<string, ParsedBlock>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const [id, parsed] of blocks)
    if (await isMilestoneBlock(parsed, keys, verifySignature)) found.add(id);
  return found;
}

function genesis({ genesis, outputs }: Network): State {
  const first = [...outputs].filter(([, { bookedIndex }]) => bookedIndex === genesis.index);
  const unspent = first.map(([id, { spent: _, ...output }]) => [id, output] as const);
  return {
    referenced: new Set(),
    outputs: new Map(unspent),
    spent: new Set(),
    treasury: genesis.treasury,
  };
}

/** E.5. Returns what is wrong with the milestone, if anything is. */
function apply(
  state: State,
  network: Network,
  milestone: NetworkMilestone,
  result: OracleResult,
): string | undefined {
  const { index, timestamp, receipt } = milestone;
  const book = (outputId: Uint8Array, blockId: Uint8Array, bytes: Uint8Array) =>
    state.outputs.set(toHex(outputId), {
      outputId,
      blockId,
      bookedIndex: index,
      bookedTimestamp: timestamp,
      bytes,
    });
  for (const [id, { blockId, bytes }] of result.created) book(fromHex(id), fromHex(blockId), bytes);
  for (const [id, transactionId] of result.consumed) {
    state.outputs.get(id)!.spent = { index, timestamp, transactionId: fromHex(transactionId) };
    state.spent.add(id);
  }
  for (const { id } of result.order) state.referenced.add(id);
  if (receipt === undefined) return undefined;
  const fault = receiptFault(receipt, state.treasury, network.genesis.parameters.tokenSupply);
  for (const { id, bytes } of migratedOutputs(receipt, fromHex(milestone.id)))
    book(id, new Uint8Array(32), bytes);
  state.treasury = receipt.transaction.output.amount;
  return fault;
}

function rootsOf({ inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone }: OracleResult) {
  return metPreviousMilestone
    ? { inclusionMerkleRoot, appliedMerkleRoot }
    : 'the previous milestone was not met';
}

const networks: {
  name: RecordedName;
  milestones: number;
  answers: number;
  hashes: Record<number, string>;
}[] = [
  {
    name: 'network-a',
    milestones: 106,
    answers: 206,
    hashes: {
      81: '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e',
      106: '577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
    },
  },
  {
    name: 'network-c',
    milestones: 68,
    answers: 153,
    hashes: {
      41: '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d',
      68: '5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
    },
  },
];

describe.each(networks)('$name', async ({ name, milestones, answers, hashes }) => {
  const network = recordedNetwork(name);
  const replayed = await replay(name);

  it('has milestones that are all signed, with receipts that are all valid', () => {
    expect(replayed.milestones.length).toBe(milestones);
    expect(replayed.milestones.flatMap(({ fault }) => fault ?? [])).toEqual([]);
  });

  it('has the signed roots in every milestone', () => {
    for (const { milestone, result } of replayed.milestones) {
      const signed = readMilestone(milestone.payload);
      expect(rootsOf(result), `milestone ${milestone.index}`).toEqual({
        inclusionMerkleRoot: toHex(signed.inclusionMerkleRoot),
        appliedMerkleRoot: toHex(signed.appliedMerkleRoot),
      });
    }
  });

  it("has the node's order, state and conflict reason of every block", () => {
    for (const { milestone, result } of replayed.milestones) {
      const ours = result.order.map(({ id, isTransaction, reason }) => {
        if (!isTransaction) return { id, state: 'noTransaction', conflict: 0 };
        return { id, state: reason === 0 ? 'included' : 'conflicting', conflict: reason };
      });
      const nodes = coneOf(network, milestone.index).map(({ id, referenced }) => {
        const { state, conflict } = referenced!;
        return { id, state, conflict };
      });
      expect(ours, `milestone ${milestone.index}`).toEqual(nodes);
    }
  });

  it("gives the node's answers to white-flag requests at the same ledger index", () => {
    expect(replayed.answers.length).toBe(answers);
    for (const { expected, answer } of replayed.answers) expect(answer).toEqual(expected);
  });

  it('has the recorded state hashes', () => {
    for (const [index, hash] of Object.entries(hashes)) {
      expect(replayed.milestones[Number(index) - 1]!.stateHash, index).toBe(hash);
    }
  });
});
