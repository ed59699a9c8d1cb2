/**
 * The answers of the node, as far as the explorer reads them (docs/contract.md). What does not have
 * its shape is an error, and never shown in part.
 */
import * as v from 'valibot';

/** Of an output, of which none has more than 32 KiB (C-1): four times that. */
const hex = v.pipe(v.string(), v.maxLength(1 << 18), v.regex(/^0x[0-9a-f]*$/));
const id = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{64}$/));
const outputId = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{68}$/));
/** Indexes, places and times all have 32 bits. */
const uint = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));
/** Of a few words: a name, a version, a reason. */
const words = v.pipe(v.string(), v.maxLength(500));
/** Visible ASCII, as bech32 has it; whatever else a node sends is no address. */
const addressText = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,200}$/));
const digits = v.pipe(v.string(), v.regex(/^\d{1,78}$/));

const milestoneInfo = v.object({ index: uint, timestamp: uint, milestoneId: words });

/** `GET /api/core/v2/info`. */
export const info = v.object({
  version: words,
  status: v.object({
    isHealthy: v.boolean(),
    confirmedMilestone: milestoneInfo,
    pruningIndex: uint,
  }),
  protocol: v.object({
    networkName: words,
    // BIP 173, in lower case
    bech32Hrp: v.pipe(v.string(), v.regex(/^[\x21-\x40\x5b-\x7e]{1,83}$/)),
    rentStructure: v.object({ vByteCost: uint, vByteFactorData: uint, vByteFactorKey: uint }),
  }),
  baseToken: v.object({
    tickerSymbol: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,20}$/)),
    // an amount has 20 digits (A.0)
    decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(20)),
  }),
  metrics: v.object({ referencedBlocksPerSecond: v.pipe(v.number(), v.minValue(0)) }),
  features: v.array(words),
});
export type Info = v.InferOutput<typeof info> & {
  /** Kinds of outputs that the node has in lists: NFTs alone, or all of them. */
  indexed: readonly string[];
  /** Whether the node announces milestones. */
  hasEvents: boolean;
  /** How blocks come, such as "feed"; undefined if no network is followed. */
  blocksBy: string | undefined;
  /** Since the newest one came. */
  newestBlockAgeSeconds: number | undefined;
};

/** Whether the network has ended, as the node says: nothing comes after its ledger. */
export function saysEnded({ features }: Info): boolean {
  return features.includes('finalMilestone');
}

/** Whether the node lists outputs of every kind, not NFTs alone. */
export function indexesAll({ indexed }: Info): boolean {
  return ['nft', 'basic', 'alias', 'foundry'].every((kind) => indexed.includes(kind));
}

/** `GET /api/routes`. */
export const routes = v.object({ routes: v.array(words), indexed: v.array(words) });

const address = v.variant('type', [
  v.object({ type: v.literal(0), pubKeyHash: id }),
  v.object({ type: v.literal(8), aliasId: id }),
  v.object({ type: v.literal(16), nftId: id }),
]);
export type JsonAddress = v.InferOutput<typeof address>;

/** Features and unlock conditions: those that are shown by name; of others only the type counts. */
const feature = v.looseObject({
  type: uint,
  address: v.optional(address),
  data: v.optional(hex),
  tag: v.optional(hex),
});

/** An output of any kind (TIP-25). */
export const output = v.looseObject({
  type: uint,
  amount: v.optional(digits),
  nftId: v.optional(id),
  unlockConditions: v.optional(
    v.array(v.looseObject({ type: uint, address: v.optional(address) })),
  ),
  features: v.optional(v.array(feature)),
  immutableFeatures: v.optional(v.array(feature)),
});
export type Output = v.InferOutput<typeof output>;

const outputMetadata = v.object({
  blockId: id,
  transactionId: id,
  outputIndex: uint,
  isSpent: v.boolean(),
  milestoneIndexSpent: v.optional(uint),
  milestoneTimestampSpent: v.optional(uint),
  transactionIdSpent: v.optional(id),
  milestoneIndexBooked: uint,
  milestoneTimestampBooked: uint,
  ledgerIndex: uint,
});
export type OutputMetadata = v.InferOutput<typeof outputMetadata>;

/** No block creates the outputs of migrated funds (TIP-34), nor those that a ledger begins with. */
export const hasNoBlock = ({ blockId }: OutputMetadata) => /^0x0+$/.test(blockId);

/** `GET /api/core/v2/outputs/:outputId`. */
export const outputAnswer = v.object({ metadata: outputMetadata, output });
export type OutputAnswer = v.InferOutput<typeof outputAnswer>;

/** `GET /api/edge/v1/outputs?ids=…`. */
export const unspentOutputs = v.object({
  ledgerIndex: uint,
  outputs: v.pipe(v.array(v.nullable(outputAnswer)), v.maxLength(100)),
});

/** One NFT of `GET /api/edge/v1/nfts`, with or without its ledger index. */
export const nft = v.object({
  nftId: id,
  outputId,
  owner: v.object({
    address: addressText,
    canUnlock: v.boolean(),
    timelockedUntil: v.optional(uint),
    passesTo: v.optional(v.object({ address: addressText, unixTime: uint })),
  }),
  metadata: outputMetadata,
  output,
});
export type Nft = v.InferOutput<typeof nft>;

/** `GET /api/edge/v1/nfts?…`: a batch by IDs, or a page of an address or an issuer. */
export const nfts = v.object({
  ledgerIndex: uint,
  nfts: v.pipe(v.array(v.nullable(nft)), v.maxLength(100)),
  cursor: v.optional(v.string()),
});

const owner = nft.entries.owner;

const nftChange = v.object({
  milestoneIndex: uint,
  milestoneTimestamp: uint,
  transactionId: id,
  blockId: id,
  outputId: v.nullable(outputId),
  kind: v.picklist(['minted', 'transferred', 'changed', 'burned']),
  owner: v.nullable(owner),
});
export type NftChangeJson = v.InferOutput<typeof nftChange>;

/** `GET /api/edge/v1/nfts/:nftId/history`. */
export const nftHistory = v.object({
  nftId: id,
  ledgerIndex: uint,
  since: uint,
  complete: v.boolean(),
  changes: v.pipe(v.array(nftChange), v.maxLength(100)),
  cursor: v.optional(v.string()),
});
export type NftHistoryJson = v.InferOutput<typeof nftHistory>;

/** `GET /api/indexer/v1/outputs?…`, and of one kind or one chain. */
export const outputIds = v.object({
  ledgerIndex: uint,
  items: v.pipe(v.array(outputId), v.maxLength(1000)),
  cursor: v.optional(v.string()),
});

/** `GET …/blocks/:blockId/metadata`, and of an included block. */
export const blockMetadata = v.object({
  blockId: id,
  referencedByMilestoneIndex: v.optional(uint),
  whiteFlagIndex: v.optional(uint),
  ledgerInclusionState: v.optional(v.picklist(['noTransaction', 'included', 'conflicting'])),
  conflictReason: v.optional(uint),
});
export type BlockMetadata = v.InferOutput<typeof blockMetadata>;

/** A block of an explanation: of a milestone, or of a proposal. */
const explainedBlock = v.object({
  blockId: id,
  whiteFlagIndex: uint,
  payload: v.picklist(['none', 'transaction', 'milestone', 'taggedData']),
  ledgerInclusionState: v.picklist(['noTransaction', 'included', 'conflicting']),
  conflictReason: v.optional(uint),
  explanation: v.optional(words),
  /** Of a proposal alone. */
  transactionId: v.optional(id),
  decidingInput: v.optional(v.object({ input: uint, outputId, spentBy: v.optional(id) })),
  decidingOutput: v.optional(v.object({ output: uint, outputId })),
});
export type ExplainedBlockJson = v.InferOutput<typeof explainedBlock>;

/** `GET` and `POST /api/edge/v1/whiteflag`. */
export const explanation = v.object({
  index: uint,
  timestamp: uint,
  inclusionMerkleRoot: id,
  appliedMerkleRoot: id,
  // 16 MiB have some more
  blocks: v.pipe(v.array(explainedBlock), v.maxLength(50_000)),
});
export type ExplanationJson = v.InferOutput<typeof explanation>;

/** `GET /api/core/v2/milestones/by-index/:index/utxo-changes`. */
export const utxoChanges = v.object({
  index: uint,
  createdOutputs: v.pipe(v.array(outputId), v.maxLength(200_000)),
});

/** `GET /api/edge/v1/collections/:issuer/owners`. */
export const owners = v.object({
  ledgerIndex: uint,
  nftCount: uint,
  ownerCount: uint,
  owners: v.pipe(v.array(v.object({ address: addressText, nftCount: uint })), v.maxLength(1000)),
});

export type Owners = v.InferOutput<typeof owners>;

const count = v.object({ count: v.pipe(v.number(), v.integer(), v.minValue(0)) });

/** `GET /api/edge/v1/final`. */
export const finalCounts = v.object({ outputs: count, nfts: count });

/** `GET /api/core/v2/tips`. */
export const tips = v.object({ tips: v.pipe(v.array(id), v.maxLength(8)) });
