/**
 * Schemas of blocks, payloads and milestones as TIP-25 writes and names them
 * (src/stardust/json/rest-json.ts). A field `type` tells the kinds apart.
 */
import * as json from '../../http/openapi/json-schema.ts';
import { ed25519AddressSchema, outputSchema, utxoInputSchema } from './output-schemas.ts';

const signature = json.namedKind('Ed25519Signature', 0, {
  publicKey: json.hashSchema,
  signature: json.hexOf(64),
});

const reference = json.described('Index of the unlock that it refers to.', json.uint16Schema);

const unlock = json.named(
  'Unlock',
  json.oneOf(
    json.namedKind('SignatureUnlock', 0, { signature }),
    json.namedKind('ReferenceUnlock', 1, { reference }),
    json.namedKind('AliasUnlock', 2, { reference }),
    json.namedKind('NFTUnlock', 3, { reference }),
  ),
);

const taggedData = json.namedKind(
  'TaggedDataPayload',
  5,
  {},
  { tag: json.bytesSchema, data: json.bytesSchema },
);

const transactionEssence = json.namedKind(
  'TransactionEssence',
  1,
  {
    networkId: json.uint64Schema,
    inputs: json.arrayOf(utxoInputSchema, { minItems: 1, maxItems: 128 }),
    inputsCommitment: json.hashSchema,
    outputs: json.arrayOf(outputSchema, { minItems: 1, maxItems: 128 }),
  },
  { payload: taggedData },
);

const transaction = json.namedKind('TransactionPayload', 6, {
  essence: transactionEssence,
  unlocks: json.arrayOf(unlock),
});

const treasuryTransaction = json.namedKind('TreasuryTransactionPayload', 4, {
  input: json.namedKind('TreasuryInput', 1, { milestoneId: json.hashSchema }),
  output: json.namedKind('TreasuryOutput', 2, { amount: json.uint64Schema }),
});

const migratedFunds = json.namedObject('MigratedFundsEntry', {
  tailTransactionHash: json.hexOf(49),
  address: ed25519AddressSchema,
  deposit: json.uint64Schema,
});

export const receiptOptionSchema = json.namedKind('ReceiptMilestoneOption', 0, {
  migratedAt: json.described('Milestone index of the legacy network.', json.milestoneIndexSchema),
  funds: json.arrayOf(migratedFunds),
  transaction: treasuryTransaction,
  final: json.flagSchema,
});

const milestoneOption = json.named(
  'MilestoneOption',
  json.oneOf(receiptOptionSchema, json.protocolParametersOptionSchema),
);

const parents = json.arrayOf(json.hashSchema, { minItems: 1, maxItems: 8 });

export const milestonePayloadSchema = json.namedKind(
  'MilestonePayload',
  7,
  {
    index: json.milestoneIndexSchema,
    timestamp: json.unixTimeSchema,
    protocolVersion: json.uint8Schema,
    previousMilestoneId: json.hashSchema,
    parents,
    inclusionMerkleRoot: json.hashSchema,
    appliedMerkleRoot: json.hashSchema,
    signatures: json.arrayOf(signature, { minItems: 1 }),
  },
  {
    metadata: json.bytesSchema,
    options: json.arrayOf(milestoneOption, { minItems: 1 }),
  },
);

export const blockSchema = json.namedObject(
  'Block',
  { protocolVersion: json.uint8Schema, parents, nonce: json.uint64Schema },
  { payload: json.named('Payload', json.oneOf(taggedData, transaction, milestonePayloadSchema)) },
);
