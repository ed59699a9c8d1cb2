/**
 * Schemas of answers (docs/contract.md, TIP-25, TIP-26). They describe the routes in openapi.json,
 * and tests hold real answers against them. The Worker does not contain them.
 */
import * as v from 'valibot';
import { describeReason } from '../../src/stardust/semantics/conflict-reason.ts';

const uint32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));
const number = v.pipe(v.number(), v.minValue(0));

function hex(digits: number) {
  return v.pipe(v.string(), v.regex(new RegExp(`^0x[0-9a-f]{${digits}}$`)));
}
const hash = hex(64);
const decimal = v.pipe(v.string(), v.regex(/^\d+$/));

/** An object of the protocol in the JSON form that TIP-25 gives it. */
function tip25(what: string) {
  return v.pipe(v.looseObject({}), v.description(`${what}, as TIP-25 writes it.`));
}

export const ErrorBody = v.strictObject({
  error: v.strictObject({
    code: v.pipe(v.number(), v.integer(), v.description('The status.')),
    message: v.string(),
  }),
});

export const Nft = v.strictObject({
  ledgerIndex: uint32,
  items: v.pipe(v.array(hex(68)), v.length(1)),
});

export const NftList = v.strictObject({
  ledgerIndex: uint32,
  pageSize: uint32,
  cursor: v.optional(
    v.pipe(v.string(), v.regex(/^[0-9a-f]{76}\.\d+$/), v.description('For the next page.')),
  ),
  items: v.pipe(v.array(hex(68)), v.description('By time of creation, then by ID.')),
});

export const WhiteFlag = v.strictObject({ inclusionMerkleRoot: hash, appliedMerkleRoot: hash });

export const ApiRoutes = v.strictObject({ routes: v.array(v.string()) });

const milestone = v.strictObject({ index: uint32, timestamp: uint32, milestoneId: hash });

export const Info = v.strictObject({
  name: v.string(),
  version: v.string(),
  status: v.strictObject({
    isHealthy: v.boolean(),
    latestMilestone: milestone,
    confirmedMilestone: milestone,
    pruningIndex: uint32,
  }),
  supportedProtocolVersions: v.array(uint32),
  protocol: v.strictObject({
    version: uint32,
    networkName: v.string(),
    bech32Hrp: v.string(),
    minPowScore: uint32,
    belowMaxDepth: uint32,
    rentStructure: v.strictObject({
      vByteCost: uint32,
      vByteFactorData: uint32,
      vByteFactorKey: uint32,
    }),
    tokenSupply: decimal,
  }),
  pendingProtocolParameters: v.array(
    v.strictObject({
      type: v.literal(1),
      targetMilestoneIndex: uint32,
      protocolVersion: uint32,
      params: v.pipe(v.string(), v.regex(/^0x([0-9a-f]{2})*$/)),
    }),
  ),
  baseToken: v.strictObject({
    name: v.string(),
    tickerSymbol: v.string(),
    unit: v.string(),
    subunit: v.string(),
    decimals: uint32,
    useMetricPrefix: v.boolean(),
  }),
  metrics: v.strictObject({
    blocksPerSecond: number,
    referencedBlocksPerSecond: number,
    referencedRate: number,
  }),
  features: v.array(v.string()),
});

export const OutputMetadata = v.strictObject({
  blockId: hash,
  transactionId: hash,
  outputIndex: uint32,
  isSpent: v.boolean(),
  milestoneIndexSpent: v.optional(uint32),
  milestoneTimestampSpent: v.optional(uint32),
  transactionIdSpent: v.optional(hash),
  milestoneIndexBooked: uint32,
  milestoneTimestampBooked: uint32,
  ledgerIndex: uint32,
});

export const Output = v.strictObject({ metadata: OutputMetadata, output: tip25('The output') });

const bech32 = v.pipe(v.string(), v.regex(/^[!-~]+1[02-9ac-hj-np-z]{59}$/));

const nft = {
  nftId: hash,
  outputId: hex(68),
  owner: v.strictObject({
    address: v.pipe(
      bech32,
      v.description("The one address that can unlock the output at the ledger's time."),
    ),
    canUnlock: v.pipe(v.boolean(), v.description('False while a timelock holds the output.')),
    timelockedUntil: v.optional(v.pipe(uint32, v.description('Unix seconds; while it holds.'))),
    passesTo: v.optional(
      v.pipe(
        v.strictObject({ address: bech32, unixTime: uint32 }),
        v.description('Whose it will be from that time on, where it is to expire.'),
      ),
    ),
  }),
  metadata: OutputMetadata,
  output: tip25('The output'),
};

export const NftOutput = v.strictObject({ ledgerIndex: uint32, ...nft });

export const NftOutputs = v.strictObject({
  ledgerIndex: uint32,
  nfts: v.pipe(
    v.array(v.nullable(v.strictObject(nft))),
    v.description('In the order asked for; null where no unspent output holds the NFT.'),
  ),
});

const reasons = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const).map(
  (reason) => `${reason}: ${describeReason(reason)}`,
);

export const ExplainedMilestone = v.strictObject({
  ...milestone.entries,
  inclusionMerkleRoot: hash,
  appliedMerkleRoot: hash,
  blocks: v.pipe(
    v.array(
      v.strictObject({
        blockId: hash,
        whiteFlagIndex: uint32,
        payload: v.picklist(['none', 'transaction', 'milestone', 'taggedData']),
        ledgerInclusionState: v.picklist(['noTransaction', 'included', 'conflicting']),
        conflictReason: v.optional(v.pipe(uint32, v.description(`${reasons.join('; ')}.`))),
        explanation: v.optional(v.pipe(v.string(), v.description('The reason in words.'))),
      }),
    ),
    v.description('In white-flag order.'),
  ),
});

const explainedBlock = ExplainedMilestone.entries.blocks.pipe[0].item;

export const WhiteFlagExplanation = v.strictObject({
  index: uint32,
  timestamp: uint32,
  inclusionMerkleRoot: hash,
  appliedMerkleRoot: hash,
  blocks: v.array(
    v.strictObject({
      ...explainedBlock.entries,
      transactionId: v.optional(hash),
      rule: v.optional(
        v.pipe(v.string(), v.description('Of docs/protocol.md: the one that decided.')),
      ),
      decidingInput: v.optional(
        v.strictObject({ input: uint32, outputId: hex(68), spentBy: v.optional(hash) }),
      ),
      decidingOutput: v.optional(v.strictObject({ output: uint32, outputId: hex(68) })),
    }),
  ),
});

const proof = v.pipe(
  v.looseObject({}),
  v.description(
    'The Merkle tree cut down to the way to the block: {l, r} is a node, ' +
      '{h} the hash of what was cut away, {value} the block ID.',
  ),
);

const inclusion = {
  milestone: tip25('The milestone payload, signed'),
  block: tip25('The block'),
  proof,
};

/** As inx-poi writes and reads it. */
export const Inclusion = v.strictObject(inclusion);

export const ProofJudgement = v.strictObject({ valid: v.boolean() });

export const Proof = v.strictObject({ ...inclusion, appliedProof: v.optional(proof) });

export const Block = tip25('The block');

export const BlockMetadata = v.strictObject({
  blockId: hash,
  parents: v.array(hash),
  isSolid: v.boolean(),
  referencedByMilestoneIndex: v.optional(uint32),
  milestoneIndex: v.optional(v.pipe(uint32, v.description('Of the milestone that it carries.'))),
  ledgerInclusionState: v.optional(v.picklist(['noTransaction', 'included', 'conflicting'])),
  conflictReason: v.optional(uint32),
  whiteFlagIndex: v.optional(uint32),
});

export const Milestone = tip25('The milestone payload, signed');

export const UtxoChanges = v.strictObject({
  index: uint32,
  createdOutputs: v.array(hex(68)),
  consumedOutputs: v.array(hex(68)),
});

export const Receipts = v.strictObject({
  receipts: v.array(
    v.strictObject({ receipt: tip25('The milestone option'), milestoneIndex: uint32 }),
  ),
});

export const Treasury = v.strictObject({ milestoneId: hash, amount: decimal });

export const Tips = v.strictObject({ tips: v.pipe(v.array(hash), v.maxLength(8)) });
