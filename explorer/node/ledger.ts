/**
 * What the explorer reads of the ledger, one function for each question.
 */
import * as v from 'valibot';
import { askBytes, askJson } from './ask.ts';
import {
  blockMetadata,
  explanation,
  info,
  milestone,
  nft,
  nftBatch,
  nftList,
  outputAnswer,
  tips,
} from './shapes.ts';

const part = encodeURIComponent;

export const readInfo = () => askJson('/api/core/v2/info', info);

/** One NFT with its output and its owner, and the ledger index at which that is true. */
export const readNft = (nftId: string) =>
  askJson(
    `/api/edge/v1/nfts/${part(nftId)}`,
    v.object({ ...nft.entries, ledgerIndex: v.number() }),
  );

/** Up to 100 NFTs at one ledger index. */
export const readNfts = (nftIds: readonly string[]) =>
  askJson(`/api/edge/v1/nfts?ids=${nftIds.join()}`, nftBatch);

/** A page of the unspent NFT outputs of an address or an issuer; of all, without a filter. */
export function listNftOutputs(filter: Record<string, string>) {
  return askJson(`/api/indexer/v1/outputs/nft?${new URLSearchParams(filter)}`, nftList);
}

export const readOutput = (outputId: string) =>
  askJson(`/api/core/v2/outputs/${part(outputId)}`, outputAnswer);

export const readBlockMetadata = (blockId: string) =>
  askJson(`/api/core/v2/blocks/${part(blockId)}/metadata`, blockMetadata);

export const readBlockJson = (blockId: string) =>
  askJson(`/api/core/v2/blocks/${part(blockId)}`, v.record(v.string(), v.unknown()));

export const readBlockBytes = (blockId: string) => askBytes(`/api/core/v2/blocks/${part(blockId)}`);

/** The block whose transaction was applied. */
export const readIncludedBlock = (transactionId: string) =>
  askJson(
    `/api/core/v2/transactions/${part(transactionId)}/included-block/metadata`,
    blockMetadata,
  );

const milestonePath = (milestone: string) =>
  `/api/core/v2/milestones/${/^\d+$/.test(milestone) ? 'by-index/' : ''}${part(milestone)}`;

/** @param name index or ID */
export const readMilestone = (name: string) => askJson(milestonePath(name), milestone);

/** @param name index or ID */
export const readMilestoneBytes = (name: string) => askBytes(milestonePath(name));

/** The blocks of an applied milestone, in white-flag order, with verdicts. */
export const readExplanation = (index: number) =>
  askJson(`/api/edge/v1/whiteflag/${index}`, explanation);

/** The Merkle path of a block to its milestone's roots: JSON that the caller checks. */
export const readProof = (blockId: string) =>
  askJson(
    `/api/edge/v1/blocks/${part(blockId)}/proof`,
    v.object({ proof: v.unknown(), appliedProof: v.optional(v.unknown()) }),
  );

export const readTips = () => askJson('/api/core/v2/tips', tips);

export interface ProposalRequest {
  index: number;
  timestamp: number;
  parents: readonly string[];
  previousMilestoneId: string;
}

/** The cone of a proposal, or of a past milestone computed again, with verdicts and rules. */
export const explainProposal = (request: ProposalRequest) =>
  askJson('/api/edge/v1/whiteflag', explanation, JSON.stringify(request));
