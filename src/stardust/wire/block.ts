/**
 * Blocks (TIP-0024; docs/protocol.md, A.1, C-1 to C-3), and parsed blocks: a block with the IDs
 * that its bytes determine.
 */
import {
  type Codec,
  decode,
  encodeChecked,
  optionalPayload,
  record,
  u8,
  u32,
  u64,
  union,
} from '../encoding/codec.ts';
import { caughtRefusal, located, refusal } from '../error.ts';
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

/** A block that keeps C-1 to C-3 and its payload's rules, except those of parameters. */
export interface ParsedBlock {
  id: Uint8Array;
  /** The block's bytes; all byte fields of the value are views of them. */
  bytes: Uint8Array;
  block: Block;
  /** Present when the payload is a transaction. */
  transaction?: { value: Transaction; id: Uint8Array; signedDigest: Uint8Array };
  /**
   * Present when the payload is a milestone, whose signatures are unchecked (milestone-keys.ts).
   */
  milestone?: { value: Milestone; id: Uint8Array };
}

export type ParseResult =
  | { ok: true; parsed: ParsedBlock }
  | { ok: false; rule: string; reason: string };

/** Returns the payload's bytes, between version, parents and length, and the nonce (A.1). */
function payloadBytes(value: Block, bytes: Uint8Array): Uint8Array {
  return bytes.subarray(2 + value.parents.length * 32 + 4, bytes.length - 8);
}

/**
 * Decodes any bytes as a block. The result refers to a copy, so the caller may change `received`
 * afterwards. Throws a StardustError if the block breaks a rule that does not depend on protocol
 * parameters; admission.ts checks the others.
 *
 * @example
 * ```ts
 * import { decodeBlock } from '@stardust-edge/protocol/block';
 * import { toHex } from '@stardust-edge/protocol/bytes';
 *
 * export function describe(bytes: Uint8Array): string {
 *   const { id, transaction } = decodeBlock(bytes);
 *   const outputs = transaction?.value.essence.outputs.length ?? 0;
 *   return `block ${toHex(id)} has ${outputs} outputs`;
 * }
 * ```
 */
export function decodeBlock(received: Uint8Array): ParsedBlock {
  if (received.length > MAX_BLOCK_LENGTH) throw refusal('C-1', `block of ${received.length} bytes`);
  // not slice(): of a Node Buffer it returns a view
  const bytes = new Uint8Array(received);
  const value = decode(block, bytes, 'C-1');
  const parsed: ParsedBlock = { id: blockId(bytes), bytes, block: value };
  if (value.payload?.type === 6) {
    try {
      checkTransaction(value.payload);
    } catch (error) {
      throw located(error, 'payload');
    }
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
  return parsed;
}

/**
 * The block's bytes. Throws a StardustError if {@link decodeBlock} would refuse them, or read
 * another block in them.
 *
 * @example
 * ```ts
 * import { blockFromJson, encodeBlock } from '@stardust-edge/protocol/block';
 *
 * const json = { protocolVersion: 2, parents: [`0x${'00'.repeat(32)}`], nonce: '0' };
 * console.log(encodeBlock(blockFromJson(json)).length); // 46
 * ```
 */
export function encodeBlock(value: Block): Uint8Array {
  return decodeBlock(encodeChecked(block, value)).bytes;
}

/** Decodes like {@link decodeBlock}, for bytes of strangers: a refusal is a result. */
export function parseBlock(received: Uint8Array): ParseResult {
  try {
    return { ok: true, parsed: decodeBlock(received) };
  } catch (error) {
    const { rule, reason } = caughtRefusal(error);
    return { ok: false, rule, reason };
  }
}
