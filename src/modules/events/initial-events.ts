/**
 * First messages of a new subscriber of outputs, blocks or transactions: their state in D1
 * (core/mqtt/server.go, onSubscribeTopic).
 */
import type { Database } from '../../ledger/core/database.ts';
import { milestoneIndexOf } from '../../ledger/read/milestone-index.ts';
import { readUnspentOutputs } from '../../ledger/read/output-status.ts';
import { readBlock, readIncludedBlock } from '../../ledger/read/stored-block.ts';
import { blockMetadataTopic, includedBlockTopic, outputTopic } from '../../mqtt/topics.ts';
import type { MilestoneKeys } from '../../stardust/milestone-keys.ts';
import { parseBlock } from '../../stardust/wire/block.ts';
import { decodeOutput } from '../../stardust/wire/ids.ts';
import { blockEventToJson, outputEventToJson } from './event-json.ts';
import { readKnownIds } from './known-ids.ts';
import { jsonBytes, parentsOf } from './milestone-events.ts';

export interface EventMessage {
  topic: string;
  payload: Uint8Array;
}

const OUTPUT = /^outputs\/0x([0-9a-f]{68})$/;
const BLOCK = /^block-metadata\/0x([0-9a-f]{64})$/;
const INCLUDED = /^transactions\/0x([0-9a-f]{64})\/included-block$/;

/** Outputs that are read at once: a large one, with 16 KB of metadata, is 70 KB as JSON. */
const OUTPUTS_AT_ONCE = 25;

/** The first output of a transaction: by that the ledger knows its block. */
const firstOutput = (transactionId: string) => `${transactionId}0000`;

/** Messages for new subscriptions to these topics. Each step reads D1 once, and a bounded part. */
export async function* tellInitial(
  db: Database,
  topics: readonly string[],
  keys: MilestoneKeys | undefined,
): AsyncGenerator<EventMessage[], void> {
  const named = (pattern: RegExp) => topics.flatMap((topic) => pattern.exec(topic)?.[1] ?? []);
  const [outputs, blocks, transactions] = [named(OUTPUT), named(BLOCK), named(INCLUDED)];
  if (outputs.length + blocks.length + transactions.length === 0) return;
  const ofOutputs = [...outputs, ...transactions.map(firstOutput)];
  const known = await readKnownIds(db, { blocks, outputs: ofOutputs });
  yield [];
  const unspent = outputs.filter((id) => known.has(id));
  for (let i = 0; i < unspent.length; i += OUTPUTS_AT_ONCE)
    yield await tellOutputs(db, unspent.slice(i, i + OUTPUTS_AT_ONCE));
  for (const id of blocks) if (known.has(id)) yield await tellBlock(db, id, keys);
  for (const id of transactions)
    if (known.has(firstOutput(id))) yield await tellIncludedBlock(db, id);
}

/** Nothing of outputs that are spent, as in the reference. */
async function tellOutputs(db: Database, ids: readonly string[]): Promise<EventMessage[]> {
  return (await readUnspentOutputs(db, ids)).map((output) => ({
    topic: outputTopic(`0x${output.outputId}`),
    payload: jsonBytes(outputEventToJson(output, decodeOutput(output.bytes))),
  }));
}

async function tellBlock(
  db: Database,
  id: string,
  keys: MilestoneKeys | undefined,
): Promise<EventMessage[]> {
  const found = await readBlock(db, id);
  if (!found) return [];
  const { bytes, referenced } = found;
  const result = parseBlock(bytes);
  const milestoneIndex =
    result.ok && referenced ? await milestoneIndexOf(result.parsed, keys) : undefined;
  const event = { id, parents: parentsOf(bytes), referenced, milestoneIndex };
  return [{ topic: blockMetadataTopic(`0x${id}`), payload: jsonBytes(blockEventToJson(event)) }];
}

async function tellIncludedBlock(db: Database, id: string): Promise<EventMessage[]> {
  const found = await readIncludedBlock(db, id);
  return found ? [{ topic: includedBlockTopic(`0x${id}`), payload: found.bytes }] : [];
}
