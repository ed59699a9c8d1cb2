/**
 * Schemas of outputs and their parts as TIP-25 writes and names them
 * (src/stardust/json/rest-json.ts). A field `type` tells the kinds apart.
 */
import {
  arrayOf,
  bytesSchema,
  constantOf,
  hashSchema,
  hexOf,
  named,
  objectOf,
  oneOf,
  uint16Schema,
  uint32Schema,
  uint64Schema,
  uint256Schema,
  unixTimeSchema,
} from './json-schema.ts';

export const ed25519AddressSchema = named(
  'Ed25519Address',
  objectOf({ type: constantOf(0), pubKeyHash: hashSchema }),
);

const aliasAddress = named('AliasAddress', objectOf({ type: constantOf(8), aliasId: hashSchema }));

const nftAddress = named('NFTAddress', objectOf({ type: constantOf(16), nftId: hashSchema }));

const address = named('Address', oneOf(ed25519AddressSchema, aliasAddress, nftAddress));

const nativeToken = named('NativeToken', objectOf({ id: hexOf(38), amount: uint256Schema }));

const unlockCondition = named(
  'UnlockCondition',
  oneOf(
    named('AddressUnlockCondition', objectOf({ type: constantOf(0), address })),
    named(
      'StorageDepositReturnUnlockCondition',
      objectOf({ type: constantOf(1), returnAddress: address, amount: uint64Schema }),
    ),
    named('TimelockUnlockCondition', objectOf({ type: constantOf(2), unixTime: unixTimeSchema })),
    named(
      'ExpirationUnlockCondition',
      objectOf({ type: constantOf(3), returnAddress: address, unixTime: unixTimeSchema }),
    ),
    named('StateControllerAddressUnlockCondition', objectOf({ type: constantOf(4), address })),
    named('GovernorAddressUnlockCondition', objectOf({ type: constantOf(5), address })),
    named(
      'ImmutableAliasAddressUnlockCondition',
      objectOf({ type: constantOf(6), address: aliasAddress }),
    ),
  ),
);

const feature = named(
  'Feature',
  oneOf(
    named('SenderFeature', objectOf({ type: constantOf(0), address })),
    named('IssuerFeature', objectOf({ type: constantOf(1), address })),
    named('MetadataFeature', objectOf({ type: constantOf(2), data: bytesSchema })),
    named('TagFeature', objectOf({ type: constantOf(3), tag: bytesSchema })),
  ),
);

const tokenScheme = named(
  'SimpleTokenScheme',
  objectOf({
    type: constantOf(0),
    mintedTokens: uint256Schema,
    meltedTokens: uint256Schema,
    maximumSupply: uint256Schema,
  }),
);

const unlockConditions = arrayOf(unlockCondition, { minItems: 1 });
const nativeTokens = arrayOf(nativeToken, { minItems: 1, maxItems: 64 });
const features = arrayOf(feature, { minItems: 1 });
const immutableFeatures = features;

const basicOutput = named(
  'BasicOutput',
  objectOf(
    { type: constantOf(3), amount: uint64Schema, unlockConditions },
    { nativeTokens, features },
  ),
);

const aliasOutput = named(
  'AliasOutput',
  objectOf(
    {
      type: constantOf(4),
      amount: uint64Schema,
      aliasId: hashSchema,
      stateIndex: uint32Schema,
      foundryCounter: uint32Schema,
      unlockConditions,
    },
    { nativeTokens, stateMetadata: bytesSchema, features, immutableFeatures },
  ),
);

const foundryOutput = named(
  'FoundryOutput',
  objectOf(
    {
      type: constantOf(5),
      amount: uint64Schema,
      serialNumber: uint32Schema,
      tokenScheme,
      unlockConditions,
    },
    { nativeTokens, features, immutableFeatures },
  ),
);

export const nftOutputSchema = named(
  'NFTOutput',
  objectOf(
    { type: constantOf(6), amount: uint64Schema, nftId: hashSchema, unlockConditions },
    { nativeTokens, features, immutableFeatures },
  ),
);

export const outputSchema = named(
  'Output',
  oneOf(basicOutput, aliasOutput, foundryOutput, nftOutputSchema),
);

export const utxoInputSchema = named(
  'UTXOInput',
  objectOf({
    type: constantOf(0),
    transactionId: hashSchema,
    transactionOutputIndex: uint16Schema,
  }),
);
