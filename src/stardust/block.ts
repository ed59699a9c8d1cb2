/** Blocks: bytes, JSON and what they say. The subpath `/block` of the package (README.md). */
import { decode } from './encoding/codec.ts';
import type { ParsedBlock } from './wire/block.ts';
import { signedDigest, transactionId } from './wire/ids.ts';
import { transaction } from './wire/transaction.ts';

/**
 * Decodes a transaction payload in binary form (A.3), its type included, with its ID and what its
 * signatures sign. Throws a StardustError if it breaks rules of layout: `decodeBlock` checks
 * others.
 */
export function decodeTransaction(payload: Uint8Array): NonNullable<ParsedBlock['transaction']> {
  const value = decode(transaction, payload);
  return { value, id: transactionId(payload), signedDigest: signedDigest(value, payload) };
}

export { admissionFault, transactionAdmissionFault } from './admission.ts';
export { blockFromJson, blockToJson, type Json, type RestObject } from './json/rest-json.ts';
export {
  type Block,
  decodeBlock,
  encodeBlock,
  MAX_BLOCK_LENGTH,
  type ParsedBlock,
  type ParseResult,
  type Payload,
  parseBlock,
} from './wire/block.ts';
export { blockId, transactionId } from './wire/ids.ts';
export type { ProtocolParameters } from './wire/parameters.ts';
export type { Input, TaggedData, Transaction, TransactionEssence } from './wire/transaction.ts';
export {
  type AliasUnlock,
  type Ed25519Signature,
  type NftUnlock,
  type ReferenceUnlock,
  type SignatureUnlock,
  type Unlock,
  UnlockType,
} from './wire/unlock.ts';
