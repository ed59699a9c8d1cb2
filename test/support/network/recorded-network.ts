/**
 * network-a, network-c, network-n and network-k, recorded from HORNET 2.0.1
 * (test/vectors/README.md#recorded-networks).
 *
 * Outputs are derived from the included transactions and the receipts. When a block became visible
 * was not recorded. It is taken to be as late as the recorded facts allow: before the milestone
 * that references it, before its children, and before the first question that named it.
 */
import { fromHex, Reader, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import {
  blockId,
  migratedOutputId,
  outputBytes,
  outputId,
} from '../../../src/stardust/wire/ids.ts';
import { protocolParametersOption } from '../../../src/stardust/wire/milestone.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { decodeParameters } from '../../../src/stardust/wire/parameters.ts';
import { UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import { readLines, readVector } from '../vectors.ts';
import { milestoneBlock, networkMilestone, parsedBlock } from './blocks.ts';
import type {
  Genesis,
  InclusionState,
  Network,
  NetworkBlock,
  NetworkMilestone,
  NetworkOutput,
} from './network-model.ts';

export { readVector };

export type RecordedName = 'network-a' | 'network-c' | 'network-n' | 'network-k';

/** A question that was put to the node while its confirmed milestone was `ledgerIndex`. */
export interface RecordedQuestion {
  name: string;
  ledgerIndex: number;
  /** The body: an object, or text where it was no proper object. */
  request: unknown;
  status: number;
  response: unknown;
}

const KEYS = [
  '0xed3c3f1a319ff4e909cf2771d79fece0ac9bd9fd2ee49ea6c0885c9cb3b1248c',
  '0xf6752f5f46a53364e2ee9c4d662d762a81efd51010282a75cd6bd03f28ef349c',
];

const questions = new Map<RecordedName, readonly RecordedQuestion[]>();
const networks = new Map<RecordedName, Network>();

/** Read once by each process, and so is the network: nobody may change them. */
export function recordedQuestions(name: RecordedName): readonly RecordedQuestion[] {
  const known = questions.get(name);
  if (known !== undefined) return known;
  const read = readLines(`${name}/whiteflag.jsonl`) as RecordedQuestion[];
  questions.set(name, read);
  return read;
}

export function recordedNetwork(name: RecordedName): Network {
  const known = networks.get(name);
  if (known !== undefined) return known;
  const read = readNetwork(name);
  networks.set(name, read);
  return read;
}

function readNetwork(name: RecordedName): Network {
  const { genesis, outputs } = readGenesis(readVector(`${name}/full_snapshot.bin`));
  const lines = readLines(`${name}/milestones.jsonl`) as { payload: string }[];
  const milestones = lines.map(({ payload }) => networkMilestone(fromHex(payload)));
  const blocks = readBlocks(name);
  addLastMilestoneBlock(blocks, milestones.at(-1)!);
  bookOutputs(milestones, [...blocks.values()], outputs);
  dateBlocks(blocks, recordedQuestions(name));
  const keys = {
    keys: KEYS.map((key) => ({ publicKey: fromHex(key), first: 0, last: 0 })),
    threshold: 2,
  };
  return { name, genesis, keys, milestones, blocks, outputs };
}

/**
 * The parts of a full snapshot that a genesis file has: header and outputs
 * (docs/snapshot-format.md#full-header, docs/snapshot-format.md#output-record).
 */
function readGenesis(file: Uint8Array): { genesis: Genesis; outputs: Map<string, NetworkOutput> } {
  const reader = new Reader(file);
  reader.take(2);
  const index = reader.u32();
  reader.u32();
  const timestamp = reader.u32();
  reader.take(32 + 4 + 32);
  const treasury = reader.u64();
  const option = decode(protocolParametersOption, reader.take(reader.u16()));
  const count = Number(reader.u64());
  reader.take(4 + 2);
  const outputs = new Map<string, NetworkOutput>();
  for (let i = 0; i < count; i++) {
    const id = reader.take(34);
    const output = {
      outputId: id,
      blockId: reader.take(32),
      bookedIndex: reader.u32(),
      bookedTimestamp: reader.u32(),
      bytes: reader.take(reader.u32()),
    };
    outputs.set(toHex(id), output);
  }
  return {
    genesis: { index, timestamp, treasury, parameters: decodeParameters(option.parameters) },
    outputs,
  };
}

interface PreparedBlock {
  block: string;
  referencedByMilestoneIndex: number | null;
  whiteFlagIndex: number | null;
  ledgerInclusionState: InclusionState | null;
  conflictReason: number | null;
}

function readBlocks(name: string): Map<string, NetworkBlock> {
  const blocks = new Map<string, NetworkBlock>();
  for (const line of readLines(`${name}/blocks.jsonl`) as PreparedBlock[]) {
    const block = networkBlock(fromHex(line.block));
    const { referencedByMilestoneIndex: index, whiteFlagIndex, ledgerInclusionState: state } = line;
    if (index !== null && whiteFlagIndex !== null && state !== null) {
      block.referenced = { index, whiteFlagIndex, state, conflict: line.conflictReason ?? 0 };
    }
    blocks.set(block.id, block);
  }
  return blocks;
}

function networkBlock(bytes: Uint8Array): NetworkBlock {
  const parsed = parsedBlock(bytes);
  const milestoneIndex = parsed.milestone?.value.index;
  return {
    id: toHex(parsed.id),
    bytes,
    parents: parsed.block.parents.map(toHex),
    ...(milestoneIndex === undefined ? {} : { milestoneIndex }),
    visibleFrom: Number.POSITIVE_INFINITY,
  };
}

/** Nothing references the last milestone's block, so the recording of network-a ends before it. */
function addLastMilestoneBlock(blocks: Map<string, NetworkBlock>, last: NetworkMilestone): void {
  const bytes = milestoneBlock(last.payload);
  const id = toHex(blockId(bytes));
  if (!blocks.has(id)) blocks.set(id, networkBlock(bytes));
}

/** Books and spends the outputs of included transactions and receipts, milestone by milestone. */
function bookOutputs(
  milestones: NetworkMilestone[],
  blocks: NetworkBlock[],
  outputs: Map<string, NetworkOutput>,
): void {
  const included = Map.groupBy(
    blocks.filter(({ referenced }) => referenced?.state === 'included'),
    ({ referenced }) => referenced!.index,
  );
  for (const { index, timestamp, id, receipt } of milestones) {
    const book = (own: Uint8Array, block: Uint8Array, output: Output) => {
      const bytes = outputBytes(output);
      const booked = { bookedIndex: index, bookedTimestamp: timestamp };
      outputs.set(toHex(own), { outputId: own, blockId: block, ...booked, bytes });
    };
    const inOrder = included
      .get(index)
      ?.sort((a, b) => a.referenced!.whiteFlagIndex - b.referenced!.whiteFlagIndex);
    for (const { bytes } of inOrder ?? []) {
      const parsed = parsedBlock(bytes);
      const { id: transactionId, value } = parsed.transaction!;
      for (const input of value.essence.inputs) {
        const spent = { index, timestamp, transactionId };
        outputs.get(toHex(outputId(input.transactionId, input.outputIndex)))!.spent = spent;
      }
      value.essence.outputs.forEach((output, i) => {
        book(outputId(transactionId, i), parsed.id, output);
      });
    }
    // E.5: plain basic outputs, and no block that made them
    receipt?.funds.forEach(({ address, deposit }, i) => {
      const condition = { type: UnlockConditionType.Address, address };
      const plain = { type: OutputType.Basic, amount: deposit, nativeTokens: [], features: [] };
      book(migratedOutputId(fromHex(id), i), new Uint8Array(32), {
        ...plain,
        unlockConditions: [condition],
      });
    });
  }
}

/**
 * Sets `visibleFrom`: the latest milestone that the facts allow, or for a block that nothing asks
 * for, the one that its parents came with.
 */
function dateBlocks(
  blocks: Map<string, NetworkBlock>,
  questions: readonly RecordedQuestion[],
): void {
  const date = (id: unknown, index: number) => {
    const block = typeof id === 'string' ? blocks.get(id) : undefined;
    if (block !== undefined) block.visibleFrom = Math.min(block.visibleFrom, index);
  };
  for (const { request, ledgerIndex } of questions) {
    const asked = (request as { parents?: unknown }).parents;
    if (Array.isArray(asked)) for (const id of asked) date(id, ledgerIndex);
  }
  for (const block of [...blocks.values()].reverse()) {
    if (block.referenced !== undefined) date(block.id, block.referenced.index - 1);
    for (const parent of block.parents) date(parent, block.visibleFrom);
  }
  for (const block of blocks.values()) {
    if (block.visibleFrom !== Number.POSITIVE_INFINITY) continue;
    const fromParents = block.parents.map((parent) => blocks.get(parent)?.visibleFrom ?? 0);
    block.visibleFrom = Math.max(block.milestoneIndex ?? 0, ...fromParents);
  }
}
