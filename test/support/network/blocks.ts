/**
 * Blocks around payloads that are bytes already (TIP-0024), and the milestones in them.
 */

import { fromHex, toHex, Writer } from '../../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../../src/stardust/encoding/codec.ts';
import { type ParsedBlock, parseBlock } from '../../../src/stardust/wire/block.ts';
import { milestoneId } from '../../../src/stardust/wire/ids.ts';
import {
  announcedParameters,
  type Milestone,
  milestone,
  receiptOf,
} from '../../../src/stardust/wire/milestone.ts';
import { taggedData } from '../../../src/stardust/wire/transaction.ts';
import type { NetworkMilestone } from './network-model.ts';

const PROTOCOL_VERSION = 2;

/** A block with nonce 0; its parents are put in order. */
export function blockAround(
  parents: readonly string[],
  payload: Uint8Array | undefined,
): Uint8Array {
  const writer = new Writer().u8(PROTOCOL_VERSION).u8(parents.length);
  for (const parent of [...parents].sort()) writer.put(fromHex(parent));
  writer.u32(payload?.length ?? 0);
  if (payload !== undefined) writer.put(payload);
  return writer.u64(0n).finish();
}

export function taggedDataPayload(tag: Uint8Array, data: Uint8Array): Uint8Array {
  return encode(taggedData, { type: 5, tag, data });
}

/** The block in which a coordinator issues its milestone: the payload's parents. */
export function milestoneBlock(payload: Uint8Array): Uint8Array {
  return blockAround(readMilestone(payload).parents.map(toHex), payload);
}

const parsedBefore = new WeakMap<Uint8Array, ParsedBlock>();

/** Of a network's blocks, each of which is parsed once: many questions are about the same ones. */
export function parsedBlock(bytes: Uint8Array): ParsedBlock {
  let parsed = parsedBefore.get(bytes);
  if (parsed === undefined) {
    const result = parseBlock(bytes);
    if (!result.ok) throw new Error(`a block of a test network: ${result.reason}`);
    parsed = result.parsed;
    parsedBefore.set(bytes, parsed);
  }
  return parsed;
}

export function readMilestone(payload: Uint8Array): Milestone {
  return decode(milestone, payload);
}

export function networkMilestone(payload: Uint8Array): NetworkMilestone {
  const value = readMilestone(payload);
  const receipt = receiptOf(value);
  const announced = announcedParameters(value);
  return {
    index: value.index,
    timestamp: value.timestamp,
    id: toHex(milestoneId(value, payload)),
    payload,
    ...(receipt === undefined ? {} : { receipt }),
    ...(announced === undefined ? {} : { announced }),
  };
}
