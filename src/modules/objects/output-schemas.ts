/**
 * Schemas of outputs and their parts as TIP-25 writes and names them
 * (src/stardust/json/rest-json.ts). A field `type` tells the kinds apart.
 */
import * as json from '../../http/openapi/json-schema.ts';

export const ed25519AddressSchema = json.namedKind('Ed25519Address', 0, {
  pubKeyHash: json.hashSchema,
});

const aliasAddress = json.namedKind('AliasAddress', 8, { aliasId: json.hashSchema });

const nftAddress = json.namedKind('NFTAddress', 16, { nftId: json.hashSchema });

const address = json.named('Address', json.oneOf(ed25519AddressSchema, aliasAddress, nftAddress));

const nativeToken = json.namedObject('NativeToken', {
  id: json.hexOf(38),
  amount: json.uint256Schema,
});

const unlockCondition = json.named(
  'UnlockCondition',
  json.oneOf(
    json.namedKind('AddressUnlockCondition', 0, { address }),
    json.namedKind('StorageDepositReturnUnlockCondition', 1, {
      returnAddress: address,
      amount: json.uint64Schema,
    }),
    json.namedKind('TimelockUnlockCondition', 2, { unixTime: json.unixTimeSchema }),
    json.namedKind('ExpirationUnlockCondition', 3, {
      returnAddress: address,
      unixTime: json.unixTimeSchema,
    }),
    json.namedKind('StateControllerAddressUnlockCondition', 4, { address }),
    json.namedKind('GovernorAddressUnlockCondition', 5, { address }),
    json.namedKind('ImmutableAliasAddressUnlockCondition', 6, { address: aliasAddress }),
  ),
);

const feature = json.named(
  'Feature',
  json.oneOf(
    json.namedKind('SenderFeature', 0, { address }),
    json.namedKind('IssuerFeature', 1, { address }),
    json.namedKind('MetadataFeature', 2, { data: json.bytesSchema }),
    json.namedKind('TagFeature', 3, { tag: json.bytesSchema }),
  ),
);

const tokenScheme = json.namedKind('SimpleTokenScheme', 0, {
  mintedTokens: json.uint256Schema,
  meltedTokens: json.uint256Schema,
  maximumSupply: json.uint256Schema,
});

const unlockConditions = json.arrayOf(unlockCondition, { minItems: 1 });
const nativeTokens = json.arrayOf(nativeToken, { minItems: 1, maxItems: 64 });
const features = json.arrayOf(feature, { minItems: 1 });
const immutableFeatures = features;

const basicOutput = json.namedKind(
  'BasicOutput',
  3,
  { amount: json.uint64Schema, unlockConditions },
  { nativeTokens, features },
);

const aliasOutput = json.namedKind(
  'AliasOutput',
  4,
  {
    amount: json.uint64Schema,
    aliasId: json.hashSchema,
    stateIndex: json.uint32Schema,
    foundryCounter: json.uint32Schema,
    unlockConditions,
  },
  { nativeTokens, stateMetadata: json.bytesSchema, features, immutableFeatures },
);

const foundryOutput = json.namedKind(
  'FoundryOutput',
  5,
  { amount: json.uint64Schema, serialNumber: json.uint32Schema, tokenScheme, unlockConditions },
  { nativeTokens, features, immutableFeatures },
);

export const nftOutputSchema = json.namedKind(
  'NFTOutput',
  6,
  { amount: json.uint64Schema, nftId: json.hashSchema, unlockConditions },
  { nativeTokens, features, immutableFeatures },
);

export const outputSchema = json.named(
  'Output',
  json.oneOf(basicOutput, aliasOutput, foundryOutput, nftOutputSchema),
);

export const utxoInputSchema = json.namedKind('UTXOInput', 0, {
  transactionId: json.hashSchema,
  transactionOutputIndex: json.uint16Schema,
});
