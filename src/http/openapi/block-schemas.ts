/**
 * Schemas of blocks, payloads and milestones as TIP-25 writes and names them
 * (src/stardust/json/rest-json.ts). A field `type` tells the kinds apart.
 */
import {
  arrayOf,
  bytesSchema,
  constantOf,
  described,
  flagSchema,
  hashSchema,
  hexOf,
  milestoneIndexSchema,
  named,
  objectOf,
  oneOf,
  uint8Schema,
  uint16Schema,
  uint64Schema,
  unixTimeSchema,
} from './json-schema.ts';
import { ed25519AddressSchema, outputSchema, utxoInputSchema } from './output-schemas.ts';

const signature = named(
  'Ed25519Signature',
  objectOf({ type: constantOf(0), publicKey: hashSchema, signature: hexOf(64) }),
);

const reference = described('Index of the unlock that it refers to.', uint16Schema);

const unlock = named(
  'Unlock',
  oneOf(
    named('SignatureUnlock', objectOf({ type: constantOf(0), signature })),
    named('ReferenceUnlock', objectOf({ type: constantOf(1), reference })),
    named('AliasUnlock', objectOf({ type: constantOf(2), reference })),
    named('NFTUnlock', objectOf({ type: constantOf(3), reference })),
  ),
);

const taggedData = named(
  'TaggedDataPayload',
  objectOf({ type: constantOf(5) }, { tag: bytesSchema, data: bytesSchema }),
);

const transactionEssence = named(
  'TransactionEssence',
  objectOf(
    {
      type: constantOf(1),
      networkId: uint64Schema,
      inputs: arrayOf(utxoInputSchema, { minItems: 1, maxItems: 128 }),
      inputsCommitment: hashSchema,
      outputs: arrayOf(outputSchema, { minItems: 1, maxItems: 128 }),
    },
    { payload: taggedData },
  ),
);

const transaction = named(
  'TransactionPayload',
  objectOf({ type: constantOf(6), essence: transactionEssence, unlocks: arrayOf(unlock) }),
);

const treasuryTransaction = named(
  'TreasuryTransactionPayload',
  objectOf({
    type: constantOf(4),
    input: named('TreasuryInput', objectOf({ type: constantOf(1), milestoneId: hashSchema })),
    output: named('TreasuryOutput', objectOf({ type: constantOf(2), amount: uint64Schema })),
  }),
);

const migratedFunds = named(
  'MigratedFundsEntry',
  objectOf({
    tailTransactionHash: hexOf(49),
    address: ed25519AddressSchema,
    deposit: uint64Schema,
  }),
);

export const receiptOptionSchema = named(
  'ReceiptMilestoneOption',
  objectOf({
    type: constantOf(0),
    migratedAt: described('Milestone index of the legacy network.', milestoneIndexSchema),
    funds: arrayOf(migratedFunds),
    transaction: treasuryTransaction,
    final: flagSchema,
  }),
);

export const protocolParametersOptionSchema = named(
  'ProtocolParamsMilestoneOption',
  objectOf({
    type: constantOf(1),
    targetMilestoneIndex: milestoneIndexSchema,
    protocolVersion: uint8Schema,
    params: {
      type: 'string',
      pattern: '^(0x([0-9a-f]{2})+)?$',
      description: 'Bytes as hex text; the empty text if there are none.',
    },
  }),
);

const parents = arrayOf(hashSchema, { minItems: 1, maxItems: 8 });

export const milestonePayloadSchema = named(
  'MilestonePayload',
  objectOf(
    {
      type: constantOf(7),
      index: milestoneIndexSchema,
      timestamp: unixTimeSchema,
      protocolVersion: uint8Schema,
      previousMilestoneId: hashSchema,
      parents,
      inclusionMerkleRoot: hashSchema,
      appliedMerkleRoot: hashSchema,
      signatures: arrayOf(signature, { minItems: 1 }),
    },
    {
      metadata: bytesSchema,
      options: arrayOf(
        named('MilestoneOption', oneOf(receiptOptionSchema, protocolParametersOptionSchema)),
        {
          minItems: 1,
        },
      ),
    },
  ),
);

export const blockSchema = named(
  'Block',
  objectOf(
    { protocolVersion: uint8Schema, parents, nonce: uint64Schema },
    { payload: named('Payload', oneOf(taggedData, transaction, milestonePayloadSchema)) },
  ),
);
