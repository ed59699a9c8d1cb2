/**
 * Blocks (TIP-0024; docs/protocol.md, A.1, C-1 to C-3), and parsed blocks: a block with the IDs
 * that its bytes determine.
 */
import { Reader, Refusal } from '../encoding/bytes.ts';
import {
  type Codec,
  decode,
  optionalPayload,
  record,
  u8,
  u32,
  u64,
  union,
} from '../encoding/codec.ts';
import { blockId, milestoneId, signedDigest, transactionId } from './ids.ts';
import { type Milestone, milestone, parents } from './milestone.ts';
import { checkTransaction } from './syntax.ts';
import { type TaggedData, type Transaction, taggedData, transaction } from './transaction.ts';

export type Payload = TaggedData | Transaction | Milestone;

export interface Block {
  protocolVersion: number;
  parents: Uint8Array[];
  payload: Payload | undefined;
  /** uint64. */
  nonce: bigint;
}

/** C-1: the most bytes that a block may have. */
export const MAX_BLOCK_LENGTH = 32768;

const payload: Codec<Payload> = union<Payload>('C-3', u32, {
  5: taggedData,
  6: transaction,
  7: milestone,
});

export const block: Codec<Block> = record<Block>({
  protocolVersion: u8,
  parents,
  payload: optionalPayload('C-3', payload),
  nonce: u64,
});

/**
 * A block that keeps C-1 to C-3 and every rule of its payload that does not depend on the protocol
 * parameters.
 */
export interface ParsedBlock {
  id: Uint8Array;
  /** The block's bytes; all byte fields of the value are views of them. */
  bytes: Uint8Array;
  block: Block;
  /** Present when the payload is a transaction. */
  transaction?: { value: Transaction; id: Uint8Array; signedDigest: Uint8Array };
  /**
   * Present when the payload is a milestone. Its signatures have not been checked
   * (milestone-keys.ts).
   */
  milestone?: { value: Milestone; id: Uint8Array };
}

export type ParseResult =
  | { ok: true; parsed: ParsedBlock }
  | { ok: false; rule: string; reason: string };

/**
 * The payload's bytes within the block's. Before them stand version, parents and length, after them
 * the nonce (A.1).
 */
function payloadBytes(value: Block, bytes: Uint8Array): Uint8Array {
  return bytes.subarray(2 + value.parents.length * 32 + 4, bytes.length - 8);
}

/**
 * Parses any bytes as a block. The result refers to a copy, so the caller may change `received`
 * afterwards.
 *
 * Rules that depend on the protocol parameters are checked in admission.ts.
 */
export function parseBlock(received: Uint8Array): ParseResult {
  if (received.length > MAX_BLOCK_LENGTH) {
    return { ok: false, rule: 'C-1', reason: `C-1: block of ${received.length} bytes` };
  }
  // not slice(): of a Node Buffer it returns a view
  const bytes = new Uint8Array(received);
  try {
    const value = decode(block, new Reader(bytes), 'C-1');
    const parsed: ParsedBlock = { id: blockId(bytes), bytes, block: value };
    if (value.payload?.type === 6) {
      checkTransaction(value.payload);
      const own = payloadBytes(value, bytes);
      parsed.transaction = {
        value: value.payload,
        id: transactionId(own),
        signedDigest: signedDigest(value.payload, own),
      };
    } else if (value.payload?.type === 7) {
      parsed.milestone = {
        value: value.payload,
        id: milestoneId(value.payload, payloadBytes(value, bytes)),
      };
    }
    return { ok: true, parsed };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, rule: error.rule, reason: error.message };
    throw error;
  }
}
