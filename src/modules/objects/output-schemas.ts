/**
 * Schemas of outputs and their parts as TIP-25 writes and names them
 * (src/stardust/json/rest-json.ts). A field `type` tells the kinds apart.
 */
import * as json from '../../http/openapi/json-schema.ts';

export const ed25519AddressSchema = json.named(
  'Ed25519Address',
  json.objectOf({ type: json.constantOf(0), pubKeyHash: json.hashSchema }),
);

const aliasAddress = json.named(
  'AliasAddress',
  json.objectOf({ type: json.constantOf(8), aliasId: json.hashSchema }),
);

const nftAddress = json.named(
  'NFTAddress',
  json.objectOf({ type: json.constantOf(16), nftId: json.hashSchema }),
);

const address = json.named('Address', json.oneOf(ed25519AddressSchema, aliasAddress, nftAddress));

const nativeToken = json.named(
  'NativeToken',
  json.objectOf({ id: json.hexOf(38), amount: json.uint256Schema }),
);

const unlockCondition = json.named(
  'UnlockCondition',
  json.oneOf(
    json.named('AddressUnlockCondition', json.objectOf({ type: json.constantOf(0), address })),
    json.named(
      'StorageDepositReturnUnlockCondition',
      json.objectOf({
        type: json.constantOf(1),
        returnAddress: address,
        amount: json.uint64Schema,
      }),
    ),
    json.named(
      'TimelockUnlockCondition',
      json.objectOf({ type: json.constantOf(2), unixTime: json.unixTimeSchema }),
    ),
    json.named(
      'ExpirationUnlockCondition',
      json.objectOf({
        type: json.constantOf(3),
        returnAddress: address,
        unixTime: json.unixTimeSchema,
      }),
    ),
    json.named(
      'StateControllerAddressUnlockCondition',
      json.objectOf({ type: json.constantOf(4), address }),
    ),
    json.named(
      'GovernorAddressUnlockCondition',
      json.objectOf({ type: json.constantOf(5), address }),
    ),
    json.named(
      'ImmutableAliasAddressUnlockCondition',
      json.objectOf({ type: json.constantOf(6), address: aliasAddress }),
    ),
  ),
);

const feature = json.named(
  'Feature',
  json.oneOf(
    json.named('SenderFeature', json.objectOf({ type: json.constantOf(0), address })),
    json.named('IssuerFeature', json.objectOf({ type: json.constantOf(1), address })),
    json.named(
      'MetadataFeature',
      json.objectOf({ type: json.constantOf(2), data: json.bytesSchema }),
    ),
    json.named('TagFeature', json.objectOf({ type: json.constantOf(3), tag: json.bytesSchema })),
  ),
);

const tokenScheme = json.named(
  'SimpleTokenScheme',
  json.objectOf({
    type: json.constantOf(0),
    mintedTokens: json.uint256Schema,
    meltedTokens: json.uint256Schema,
    maximumSupply: json.uint256Schema,
  }),
);

const unlockConditions = json.arrayOf(unlockCondition, { minItems: 1 });
const nativeTokens = json.arrayOf(nativeToken, { minItems: 1, maxItems: 64 });
const features = json.arrayOf(feature, { minItems: 1 });
const immutableFeatures = features;

const basicOutput = json.named(
  'BasicOutput',
  json.objectOf(
    { type: json.constantOf(3), amount: json.uint64Schema, unlockConditions },
    { nativeTokens, features },
  ),
);

const aliasOutput = json.named(
  'AliasOutput',
  json.objectOf(
    {
      type: json.constantOf(4),
      amount: json.uint64Schema,
      aliasId: json.hashSchema,
      stateIndex: json.uint32Schema,
      foundryCounter: json.uint32Schema,
      unlockConditions,
    },
    { nativeTokens, stateMetadata: json.bytesSchema, features, immutableFeatures },
  ),
);

const foundryOutput = json.named(
  'FoundryOutput',
  json.objectOf(
    {
      type: json.constantOf(5),
      amount: json.uint64Schema,
      serialNumber: json.uint32Schema,
      tokenScheme,
      unlockConditions,
    },
    { nativeTokens, features, immutableFeatures },
  ),
);

export const nftOutputSchema = json.named(
  'NFTOutput',
  json.objectOf(
    {
      type: json.constantOf(6),
      amount: json.uint64Schema,
      nftId: json.hashSchema,
      unlockConditions,
    },
    { nativeTokens, features, immutableFeatures },
  ),
);

export const outputSchema = json.named(
  'Output',
  json.oneOf(basicOutput, aliasOutput, foundryOutput, nftOutputSchema),
);

export const utxoInputSchema = json.named(
  'UTXOInput',
  json.objectOf({
    type: json.constantOf(0),
    transactionId: json.hashSchema,
    transactionOutputIndex: json.uint16Schema,
  }),
);
