/**
 * Schemas of outputs and their parts as TIP-25 writes and names them
 * (src/stardust/json/rest-json.ts). A field `type` tells the kinds apart.
 */
import * as json from '../../http/openapi/json-schema.ts';

export const ed25519AddressSchema = json.namedObject('Ed25519Address', {
  type: json.constantOf(0),
  pubKeyHash: json.hashSchema,
});

const aliasAddress = json.namedObject('AliasAddress', {
  type: json.constantOf(8),
  aliasId: json.hashSchema,
});

const nftAddress = json.namedObject('NFTAddress', {
  type: json.constantOf(16),
  nftId: json.hashSchema,
});

const address = json.named('Address', json.oneOf(ed25519AddressSchema, aliasAddress, nftAddress));

const nativeToken = json.namedObject('NativeToken', {
  id: json.hexOf(38),
  amount: json.uint256Schema,
});

const unlockCondition = json.named(
  'UnlockCondition',
  json.oneOf(
    json.namedObject('AddressUnlockCondition', { type: json.constantOf(0), address }),
    json.namedObject('StorageDepositReturnUnlockCondition', {
      type: json.constantOf(1),
      returnAddress: address,
      amount: json.uint64Schema,
    }),
    json.namedObject('TimelockUnlockCondition', {
      type: json.constantOf(2),
      unixTime: json.unixTimeSchema,
    }),
    json.namedObject('ExpirationUnlockCondition', {
      type: json.constantOf(3),
      returnAddress: address,
      unixTime: json.unixTimeSchema,
    }),
    json.namedObject('StateControllerAddressUnlockCondition', {
      type: json.constantOf(4),
      address,
    }),
    json.namedObject('GovernorAddressUnlockCondition', { type: json.constantOf(5), address }),
    json.namedObject('ImmutableAliasAddressUnlockCondition', {
      type: json.constantOf(6),
      address: aliasAddress,
    }),
  ),
);

const feature = json.named(
  'Feature',
  json.oneOf(
    json.namedObject('SenderFeature', { type: json.constantOf(0), address }),
    json.namedObject('IssuerFeature', { type: json.constantOf(1), address }),
    json.namedObject('MetadataFeature', { type: json.constantOf(2), data: json.bytesSchema }),
    json.namedObject('TagFeature', { type: json.constantOf(3), tag: json.bytesSchema }),
  ),
);

const tokenScheme = json.namedObject('SimpleTokenScheme', {
  type: json.constantOf(0),
  mintedTokens: json.uint256Schema,
  meltedTokens: json.uint256Schema,
  maximumSupply: json.uint256Schema,
});

const unlockConditions = json.arrayOf(unlockCondition, { minItems: 1 });
const nativeTokens = json.arrayOf(nativeToken, { minItems: 1, maxItems: 64 });
const features = json.arrayOf(feature, { minItems: 1 });
const immutableFeatures = features;

const basicOutput = json.namedObject(
  'BasicOutput',
  { type: json.constantOf(3), amount: json.uint64Schema, unlockConditions },
  { nativeTokens, features },
);

const aliasOutput = json.namedObject(
  'AliasOutput',
  {
    type: json.constantOf(4),
    amount: json.uint64Schema,
    aliasId: json.hashSchema,
    stateIndex: json.uint32Schema,
    foundryCounter: json.uint32Schema,
    unlockConditions,
  },
  { nativeTokens, stateMetadata: json.bytesSchema, features, immutableFeatures },
);

const foundryOutput = json.namedObject(
  'FoundryOutput',
  {
    type: json.constantOf(5),
    amount: json.uint64Schema,
    serialNumber: json.uint32Schema,
    tokenScheme,
    unlockConditions,
  },
  { nativeTokens, features, immutableFeatures },
);

export const nftOutputSchema = json.namedObject(
  'NFTOutput',
  {
    type: json.constantOf(6),
    amount: json.uint64Schema,
    nftId: json.hashSchema,
    unlockConditions,
  },
  { nativeTokens, features, immutableFeatures },
);

export const outputSchema = json.named(
  'Output',
  json.oneOf(basicOutput, aliasOutput, foundryOutput, nftOutputSchema),
);

export const utxoInputSchema = json.namedObject('UTXOInput', {
  type: json.constantOf(0),
  transactionId: json.hashSchema,
  transactionOutputIndex: json.uint16Schema,
});
