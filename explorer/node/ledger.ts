/**
 * What the explorer reads of the ledger, one function for each question.
 */
import * as v from 'valibot';
import { askBytes, askJson, askJsonAndHeaders } from './ask.ts';
import {
  blockMetadata,
  explanation,
  type Info,
  info,
  milestone,
  type Nft,
  nft,
  nftList,
  nfts,
  outputAnswer,
  tips,
} from './shapes.ts';

const part = encodeURIComponent;

export async function readInfo(): Promise<Info> {
  const { json, headers } = await askJsonAndHeaders('/api/core/v2/info', info);
  const age = headers.get('x-newest-block-age');
  return {
    ...json,
    blocksBy: headers.get('x-blocks-by') ?? undefined,
    newestBlockAgeSeconds: age === null ? undefined : Number(age),
  };
}

/** One NFT with its output and its owner, and the ledger index at which that is true. */
export const readNft = (nftId: string) =>
  askJson(
    `/api/edge/v1/nfts/${part(nftId)}`,
    v.object({ ...nft.entries, ledgerIndex: v.number() }),
  );

/** A page of the NFTs of an address or an issuer, of one moment. */
export const readNftPage = (filter: Record<string, string>) =>
  askJson(`/api/edge/v1/nfts?${new URLSearchParams(filter)}`, nfts);

/** The first NFTs of the ledger. */
export async function readFirstNfts(count: number): Promise<readonly Nft[]> {
  const { items } = await askJson(`/api/indexer/v1/outputs/nft?pageSize=${count}`, nftList);
  if (items.length === 0) return [];
  const batch = await askJson(`/api/edge/v1/nfts?ids=${items.join()}`, nfts);
  // one that was moved meanwhile is not in its output any more
  return batch.nfts.filter((each) => each !== null);
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
