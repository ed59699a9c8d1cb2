/**
 * What a new subscriber of one output, block or transaction is told at once: how it stands in D1
 * (core/mqtt/server.go, onSubscribeTopic).
 */
import type { Database } from '../ledger/core/database.ts';
import { readMilestoneIds } from '../ledger/read/milestone-contents.ts';
import { readUnspentOutputs } from '../ledger/read/output-status.ts';
import { readBlock, readIncludedBlock } from '../ledger/read/stored-block.ts';
import { blockMetadataTopic, includedBlockTopic, outputTopic } from '../mqtt/topics.ts';
import { blockEventToJson, outputEventToJson } from '../stardust/json/event-json.ts';
import { parseBlock } from '../stardust/wire/block.ts';
import { decodeOutput } from '../stardust/wire/ids.ts';
import { carriedMilestone, jsonBytes, parentsOf } from './milestone-events.ts';

export interface EventMessage {
  topic: string;
  payload: Uint8Array;
}

const OUTPUT = /^outputs\/0x([0-9a-f]{68})$/;
const BLOCK = /^block-metadata\/0x([0-9a-f]{64})$/;
const INCLUDED = /^transactions\/0x([0-9a-f]{64})\/included-block$/;

/** Reads, each of which takes one step, for new subscriptions to these topics. */
export function initialReads(
  db: Database,
  topics: readonly string[],
): (() => Promise<EventMessage[]>)[] {
  const named = (pattern: RegExp) => topics.flatMap((topic) => pattern.exec(topic)?.[1] ?? []);
  const outputs = named(OUTPUT);
  return [
    ...(outputs.length > 0 ? [() => tellOutputs(db, outputs)] : []),
    ...named(BLOCK).map((id) => () => tellBlock(db, id)),
    ...named(INCLUDED).map((id) => () => tellIncludedBlock(db, id)),
  ];
}

/** Nothing of outputs that are spent, as in the reference. */
async function tellOutputs(db: Database, ids: readonly string[]): Promise<EventMessage[]> {
  return (await readUnspentOutputs(db, ids)).map((output) => ({
    topic: outputTopic(`0x${output.outputId}`),
    payload: jsonBytes(outputEventToJson(output, decodeOutput(output.bytes))),
  }));
}

async function tellBlock(db: Database, id: string): Promise<EventMessage[]> {
  const found = await readBlock(db, id);
  if (found === undefined) return [];
  const { bytes, referenced } = found;
  const result = parseBlock(bytes);
  const claim = result.ok && referenced ? carriedMilestone(result.parsed) : undefined;
  const known = await readMilestoneIds(db, claim ? [claim.index] : []);
  const milestoneIndex = claim && known.get(claim.index) === claim.id ? claim.index : undefined;
  const event = { id, parents: parentsOf(bytes), referenced, milestoneIndex };
  return [{ topic: blockMetadataTopic(`0x${id}`), payload: jsonBytes(blockEventToJson(event)) }];
}

async function tellIncludedBlock(db: Database, id: string): Promise<EventMessage[]> {
  const found = await readIncludedBlock(db, id);
  return found === undefined
    ? []
    : [{ topic: includedBlockTopic(`0x${id}`), payload: found.bytes }];
}
