/**
 * Intake: from parsed blocks to records with numbers, each block examined once: signatures are
 * checked, verdicts made, numbers given. Nothing is written (store-blocks.ts does that).
 */
import { blake2b256 } from '../../stardust/crypto/hash.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import {
  isMilestoneBlock,
  type MilestoneRules,
  type VerifySignature,
} from '../../stardust/milestone-keys.ts';
import { hashLeaves } from '../../stardust/proof/merkle.ts';
import { judgeOverTime } from '../../stardust/semantics/judge.ts';
import { verifySignatures } from '../../stardust/semantics/signatures.ts';
import type {
  ConsumedOutput,
  JudgedTransaction,
  VerdictStep,
} from '../../stardust/semantics/verdict.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import {
  chainIdOf,
  consumedIds,
  decodeOutput,
  outputBytes,
  outputId,
} from '../../stardust/wire/ids.ts';
import type { Output } from '../../stardust/wire/output.ts';
import { decodeRecord, encodeRecord } from '../packs/block-record.ts';
import type { KnownOutput, Numbering, OutputsToFind } from './known-outputs.ts';

export interface CreatedOutput {
  number: number;
  /** Hex. */
  id: string;
  bytes: Uint8Array;
  /** Hex ID of its chain (TIP-18), if it has one. */
  chain: string | null;
  output: Output;
}

export interface PreparedBlock {
  id: string;
  number: number;
  bytes: Uint8Array;
  record: Uint8Array;
  /** Payload type (docs/protocol.md, A.1), 0 where it has none. */
  payload: number;
  /** `isKnown`: whether its content was read. */
  consumed: { number: number; id: string; isKnown: boolean }[];
  /** Whether contents were left unread, so that the upkeep can make its verdict. */
  isLeft: boolean;
  created: CreatedOutput[];
}

type ParsedTransaction = NonNullable<ParsedBlock['transaction']>;

/** IDs of the outputs that the blocks' transactions consume or create. */
export function outputsToFind(blocks: readonly ParsedBlock[]): OutputsToFind {
  const consumed = new Set<string>();
  const created = new Set<string>();
  for (const { transaction } of blocks) {
    if (transaction === undefined) continue;
    for (const id of consumedIds(transaction.value.essence)) consumed.add(toHexDigits(id));
    transaction.value.essence.outputs.forEach((_, i) => {
      created.add(toHexDigits(outputId(transaction.id, i)));
    });
  }
  return { mentioned: [...consumed.union(created)], consumed: [...consumed] };
}

/** Contents of the outputs that transactions consume. */
export interface ContentSource {
  /** Characters of the content of the output with this hex ID, at most; 0 where it is not known. */
  lengthOf(id: string): number;
  /** Reads outputs by hex ID. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, { bytes?: Uint8Array }>>;
}

/** Characters of contents read at once: 16 MB. A block of 6 KB may consume 128 outputs of 21 KB. */
const MAX_READ_LENGTH = 8_000_000;

/** Readings in one step of storing; the upkeep makes the other verdicts (resolve-verdicts.ts). */
const MAX_READINGS = 3;

/**
 * Prepares blocks in the order given, parents before children, and adds the blocks and outputs to
 * the numbering. Throws an Error if a parent is in neither: the caller's fault, not the block's.
 */
export async function prepareBlocks(
  blocks: readonly ParsedBlock[],
  numbering: Numbering,
  rules: MilestoneRules,
  source: ContentSource,
): Promise<PreparedBlock[]> {
  // first what all of them create: a transaction may stand before the one that it spends from
  const created = blocks.map(({ transaction }) =>
    transaction ? numberCreated(transaction, numbering) : [],
  );
  const prepared: PreparedBlock[] = [];
  let readings = 0;
  for (const { some, unread } of groupByLength(blocks, numbering, source)) {
    const isLeft = unread.length > 0 && ++readings > MAX_READINGS;
    const contents = unread.length === 0 || isLeft ? NO_CONTENTS : await source.read(unread);
    for (const parsed of some) {
      const own = created[prepared.length]!;
      const block = await prepareBlock(parsed, own, { numbering, contents }, rules);
      prepared.push({ ...block, isLeft });
    }
  }
  return prepared;
}

/** Yields the blocks in order, in groups that can be judged by one reading. */
function* groupByLength(
  blocks: readonly ParsedBlock[],
  { outputs }: Numbering,
  { lengthOf }: ContentSource,
): Generator<{ some: ParsedBlock[]; unread: string[] }> {
  let some: ParsedBlock[] = [];
  let unread = new Set<string>();
  let length = 0;
  for (const block of blocks) {
    const { consumed } = outputsToFind([block]);
    // each block decodes what it consumes, also what others consume
    const own = consumed.filter((id) => outputs.get(id)?.bytes === undefined && lengthOf(id) > 0);
    const ownLength = own.reduce((sum, id) => sum + lengthOf(id), 0);
    if (length + ownLength > MAX_READ_LENGTH && some.length > 0) {
      yield { some, unread: [...unread] };
      some = [];
      unread = new Set();
      length = 0;
    }
    some.push(block);
    for (const id of own) unread.add(id);
    length += ownLength;
  }
  if (some.length > 0) yield { some, unread: [...unread] };
}

/** Contents of outputs that the blocks create, and of those that were read. */
interface KnownContents {
  numbering: Numbering;
  contents: ReadonlyMap<string, { bytes?: Uint8Array }>;
}

const NO_CONTENTS: KnownContents['contents'] = new Map();

async function prepareBlock(
  parsed: ParsedBlock,
  created: CreatedOutput[],
  known: KnownContents,
  rules: MilestoneRules,
): Promise<Omit<PreparedBlock, 'isLeft'>> {
  const { numbering } = known;
  const id = toHexDigits(parsed.id);
  const parents = parsed.block.parents.map((parent) => {
    const stored = numbering.blocks.get(toHexDigits(parent));
    if (stored === undefined)
      throw new Error(`block ${id} comes before its parent ${toHexDigits(parent)}`);
    return stored.number;
  });
  const number = numbering.nextBlock++;
  numbering.blocks.set(id, { number, milestone: null });

  const { transaction } = parsed;
  const consumed = transaction ? numberConsumed(transaction, known) : [];
  const steps =
    transaction && consumed.every(({ bytes }) => bytes !== undefined)
      ? await judgeTransaction(transaction, consumed as Content[], rules.verify)
      : [];
  const inputs = consumed.map((output) => output.number);
  const outputs = created.map((output) => output.number);
  const { milestone } = parsed;
  const isVerified = await isMilestoneBlock(parsed, rules.keys, rules.verify);
  const record = encodeRecord({
    number,
    parents,
    leaf: hashLeaves([parsed.id]),
    ...(milestone && { milestone: { id: milestone.id, isVerified } }),
    ...(transaction && { transaction: { inputs, outputs, steps } }),
  });
  return {
    id,
    number,
    bytes: parsed.bytes,
    record,
    payload: parsed.block.payload?.type ?? 0,
    consumed: consumed.map((output) => ({
      number: output.number,
      id: output.hexId,
      isKnown: output.bytes !== undefined,
    })),
    created,
  };
}

/** Gives the outputs that a transaction creates numbers and contents. */
function numberCreated(transaction: ParsedTransaction, numbering: Numbering): CreatedOutput[] {
  return transaction.value.essence.outputs.map((output, i) => {
    const id = outputId(transaction.id, i);
    const hexId = toHexDigits(id);
    const known = numberedOutput(hexId, numbering);
    known.bytes ??= outputBytes(output);
    const chainId = chainIdOf(output, id);
    return {
      number: known.number,
      id: hexId,
      bytes: known.bytes,
      chain: chainId ? toHexDigits(chainId) : null,
      output,
    };
  });
}

interface Consumed {
  number: number;
  id: Uint8Array;
  hexId: string;
  /** Absent while it is not known: then there can be no verdict. */
  bytes?: Uint8Array;
}

type Content = Consumed & { bytes: Uint8Array };

function numberConsumed(
  transaction: ParsedTransaction,
  { numbering, contents }: KnownContents,
): Consumed[] {
  return consumedIds(transaction.value.essence).map((id) => {
    const hexId = toHexDigits(id);
    const { number, bytes = contents.get(hexId)?.bytes } = numberedOutput(hexId, numbering);
    return { number, id, hexId, ...(bytes && { bytes }) };
  });
}

/** The verdict at every timestamp, signatures checked (S1 to S6). */
async function judgeTransaction(
  transaction: ParsedTransaction,
  consumed: readonly OutputContent[],
  verify: VerifySignature,
): Promise<VerdictStep[]> {
  const { tx, outputs } = await readJudged(transaction, consumed, verify);
  return judgeOverTime(tx, outputs);
}

/** Hashes of contents, as long as these live: rivals consume the same. */
const hashes = new WeakMap<Uint8Array, Uint8Array>();

interface OutputContent {
  id: Uint8Array;
  bytes: Uint8Array;
}

/** Collects what a verdict on the transaction is made from. */
export async function readJudged(
  transaction: ParsedTransaction,
  consumed: readonly OutputContent[],
  verify: VerifySignature,
): Promise<{ tx: JudgedTransaction; outputs: ConsumedOutput[] }> {
  const validSignatures = await verifySignatures(transaction, verify);
  const outputs = consumed.map(({ id, bytes }) => {
    const hash = hashes.getOrInsertComputed(bytes, blake2b256);
    return { id, bytes, hash, output: decodeOutput(bytes) };
  });
  return { tx: { ...transaction, validSignatures }, outputs };
}

/**
 * Returns what the transaction consumes, in order; undefined while one of the outputs is not known.
 *
 * @param outputs contents by hex ID
 */
export function contentsConsumed(
  transaction: ParsedTransaction,
  outputs: ReadonlyMap<string, { bytes?: Uint8Array }>,
): OutputContent[] | undefined {
  const consumed: OutputContent[] = [];
  for (const id of consumedIds(transaction.value.essence)) {
    const bytes = outputs.get(toHexDigits(id))?.bytes;
    if (bytes === undefined) return undefined;
    consumed.push({ id, bytes });
  }
  return consumed;
}

function numberedOutput(id: string, numbering: Numbering): KnownOutput {
  let known = numbering.outputs.get(id);
  if (known === undefined) {
    known = { number: numbering.nextOutput++ };
    numbering.outputs.set(id, known);
  }
  return known;
}

/**
 * Completes the record of a stored block by its verdict; undefined while an output that it consumes
 * is not known.
 *
 * @param outputs contents by hex ID
 */
export async function completeRecord(
  stored: Uint8Array,
  parsed: ParsedBlock,
  outputs: ReadonlyMap<string, { bytes?: Uint8Array }>,
  verify: VerifySignature,
): Promise<Uint8Array | undefined> {
  const record = decodeRecord(stored);
  if (parsed.transaction === undefined || record.transaction === undefined)
    throw new Error(`block number ${record.number} carries no transaction`);
  const consumed = contentsConsumed(parsed.transaction, outputs);
  if (consumed === undefined) return undefined;
  const steps = await judgeTransaction(parsed.transaction, consumed, verify);
  return encodeRecord({ ...record, transaction: { ...record.transaction, steps } });
}
