/**
 * What the lies are about: things of the sample, and where a node is asked for them.
 */
export const INDEX = 17_339;
const MILESTONE_TIME = 1_664_385_901;

/** Blocks of the milestone, at places 0, 3, 5 and 14. */
export const DATA_BLOCK = '0xa62cbf7fe64933c8aa1525971bb652b61c70e59ad319542f91346568e6478eff';
export const APPLIED_BLOCK = '0xf2174f3af8c862ba7b099c9ce56ecb5146c200521a8dbba9b0389ae645b10f1d';
export const TRANSACTION_BLOCK =
  '0xd79a2feb857ffe4791bfae2d2e991463bbcc6d9f9d2eeb1276d0931f16ae14dd';
export const MILESTONE_BLOCK = '0x904351e0e82ec26389d96310fe060b050b056fddef701887b50baea07b62c35c';

/** Blocks with transactions that were applied, in their order. */
export const APPLIED: readonly string[] = [
  APPLIED_BLOCK,
  TRANSACTION_BLOCK,
  '0x3662e8583722f6d748bc0e4484382b98102c2f27d60eb09a0df119ce80ed9774',
  '0xeb00583e444cca869aea899431258fe784bbb7eba0e8fe8c1c6e2a7493efe327',
  '0x28d171d774fbde727bf1defbfd80a8b23315fc3dc28eb2f7ea8fb19892027bf4',
];

/** The transaction of {@link TRANSACTION_BLOCK}. */
export const TRANSACTION = '0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e';

export const NFT = '0xe7da3bc1857f9c782b79e916023d57132f6c063d7c5b8c963a6bc2c75112f002';
export const NFT_OUTPUT = '0xfc8c116e1d636b4de2b5ab3992b1a2a5abf23badcf54b2e62ed9e18597bffa550100';
export const OTHER_NFT_OUTPUT =
  '0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e0100';

/** An NFT that {@link TRANSACTION} made. */
export const MADE_NFT = '0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7';

/** IDs of nothing. */
export const NOTHING = `0x${'77'.repeat(32)}`;
export const MADE_UP = `0x${'ab'.repeat(32)}`;

export const INFO = '/api/core/v2/info';
export const MILESTONE = `/api/core/v2/milestones/by-index/${INDEX}`;
export const ANY_MILESTONE = /^\/api\/core\/v2\/milestones\//;
export const EXPLANATION = `/api/edge/v1/whiteflag/${INDEX}`;
export const WHITE_FLAG = '/api/core/v2/whiteflag';
export const PROPOSAL = '/api/edge/v1/whiteflag';
export const ANY_BLOCK = /^\/api\/core\/v2\/blocks\/0x[0-9a-f]{64}$/;
export const ANY_METADATA = /^\/api\/core\/v2\/.*\/metadata$/;
export const ANY_PROOF = /^\/api\/edge\/v1\/blocks\/0x[0-9a-f]{64}\/proof$/;
export const ONE_NFT = /^\/api\/edge\/v1\/nfts\/0x[0-9a-f]{64}$/;
export const CERTIFICATE = /^\/api\/edge\/v1\/nfts\/0x[0-9a-f]{64}\/certificate$/;
export const HISTORY = /^\/api\/edge\/v1\/nfts\/0x[0-9a-f]{64}\/history\?/;
export const NFTS_OF = /^\/api\/indexer\/v1\/outputs\/nft\?issuer=/;
export const NFTS_BY_ID = /^\/api\/edge\/v1\/nfts\?ids=/;
export const ANY_OUTPUT = /^\/api\/core\/v2\/outputs\/0x[0-9a-f]{68}$/;
export const FINAL = '/api/edge/v1/final';
export const ANY_FINAL_PROOF = /^\/api\/edge\/v1\/final\/(?:outputs|nfts)\/0x/;

export const pathOfMilestone = (id: string) => `/api/core/v2/milestones/${id}`;
export const pathOfBlock = (id: string) => `/api/core/v2/blocks/${id}`;
export const pathOfMetadata = (id: string) => `/api/core/v2/blocks/${id}/metadata`;
export const pathOfProof = (id: string) => `/api/edge/v1/blocks/${id}/proof`;

const PARENTS = [
  '0x0fb96a59c09b21e67777fd347fa889b5b05c78326fe693358155d55b4bc6fd65',
  '0x225160c0779aeeb416ce0501102aa498d1bc495c48e4a7afb25d8676c7f533b9',
  '0x246a3ae99760834264022ec0e9e5a745ef989b01d3d4f94abc1ceb69ce78485a',
  '0x6b01eec4ee2c35c691c4b76cf94e4ed95b3643621dcb401b70da6b4d0a29a7b3',
  MILESTONE_BLOCK,
  '0xabbe8683ba4b93629c847766b90ab6dcb0e0b78977eb8a4b48b66965256c98e1',
];

/** The milestone of the sample, computed again. */
export const PAST_PROPOSAL = `#/proposal?index=${INDEX}&timestamp=${MILESTONE_TIME}&previousMilestoneId=0xe339ae0bac60cc7910d61f4086a164cfcc6500b357415a2719c3f89959967cf5&parents=${PARENTS.join('+')}`;
