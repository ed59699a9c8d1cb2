/**
 * Blocks: bytes, JSON and what they say. The subpath `/block` of the package (README.md).
 */
export { blockFromJson } from './json/read-rest-json.ts';
export { blockToJson, type Json, type RestObject } from './json/rest-json.ts';
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
