/**
 * What the explorer reads of the ledger, one function for each question.
 */
import * as v from 'valibot';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { askBytes, askJson, askJsonAndHeaders, isMissing, NodeError } from './ask.ts';
import {
  type BlockMetadata,
  blockMetadata,
  type ExplanationJson,
  explanation,
  finalCounts,
  type Info,
  info,
  type Nft,
  type NftHistoryJson,
  nft,
  nftHistory,
  nfts,
  type OutputAnswer,
  type Owners,
  outputAnswer,
  owners,
  routes,
  tips,
  utxoChanges,
} from './shapes.ts';

const part = encodeURIComponent;

/** Throws a {@link NodeError} where the node answers about another thing than the one asked for. */
export function requireSame(what: string, asked: string, answered: string): void {
  if (answered !== asked.toLowerCase())
    throw new NodeError(0, `The node was asked for ${what} ${asked}, and answers another one.`);
}

export async function readInfo(): Promise<Info> {
  const [{ json, headers }, apis] = await Promise.all([
    askJsonAndHeaders('/api/core/v2/info', info),
    askJson('/api/routes', routes),
  ]);
  const age = headers.get('x-newest-block-age');
  return {
    ...json,
    indexed: apis.indexed,
    hasEvents: apis.routes.includes('mqtt/v1'),
    blocksBy: headers.get('x-blocks-by') ?? undefined,
    newestBlockAgeSeconds: age === null ? undefined : Number(age),
  };
}

/** One NFT with its output and its owner, and the ledger index at which that is true. */
async function readNft(nftId: string, minLedgerIndex = 0) {
  const shape = v.object({ ...nft.entries, ledgerIndex: nfts.entries.ledgerIndex });
  const headers = { 'x-min-ledger-index': String(minLedgerIndex) };
  const question = minLedgerIndex > 0 ? { headers } : {};
  const said = await askJson(`/api/edge/v1/nfts/${part(nftId)}`, shape, question);
  requireSame('NFT', nftId, said.nftId);
  return { said };
}

const HISTORY_PAGE = 10;

/** What became of an NFT, the newest change first. @param cursor of the page before */
export async function readHistory(
  nftId: string,
  cursor: string | undefined,
): Promise<Said<NftHistoryJson>> {
  const query = new URLSearchParams({
    pageSize: String(HISTORY_PAGE),
    ...(cursor !== undefined && { cursor }),
  });
  const said = await askJson(`/api/edge/v1/nfts/${part(nftId)}/history?${query}`, nftHistory);
  requireSame('NFT', nftId, said.nftId);
  return { said };
}

/**
 * A held NFT, or `gone`: the history of a burned one. Throws a {@link NodeError} 404 of another.
 *
 * @param needsHistory whether one that nothing holds is an error other than 404 as long as its
 *   history, which may say that it was burned, is not read
 */
export async function readKnownNft(nftId: string, needsHistory: boolean) {
  const history = readHistory(nftId, undefined);
  // it matters only where no output holds the NFT
  history.catch(() => {});
  try {
    return { nft: await readNft(nftId), history };
  } catch (error) {
    if (!isMissing(error)) throw error;
    const gone = await history.catch((later) => Promise.reject(needsHistory ? later : error));
    if (gone.said.changes[0]?.kind === 'burned') return { gone };
    // minted between these answers, or of a replica that was behind
    const nft = await readNft(nftId, gone.said.ledgerIndex).catch((again: unknown) => {
      if (isMissing(again)) return undefined;
      throw again;
    });
    return nft === undefined ? { gone } : { nft, history };
  }
}

/** JSON that the caller judges. @param blockId of the change; the newest one without it */
export const readCertificate = (nftId: string, blockId: string | undefined) =>
  askJson(
    `/api/edge/v1/nfts/${part(nftId)}/certificate${blockId === undefined ? '' : `?block=${blockId}`}`,
    v.record(v.string(), v.unknown()),
  );

/** NFTs by the IDs of their outputs; without those that moved, ended or came meanwhile. */
export async function readNfts(ids: readonly string[]): Promise<readonly Nft[]> {
  if (ids.length === 0) return [];
  const batch = await askJson(`/api/edge/v1/nfts?ids=${ids.join()}`, nfts);
  if (batch.nfts.length !== ids.length)
    throw new NodeError(0, `The node was asked for ${ids.length} NFTs, and answers others.`);
  for (const [i, nft] of batch.nfts.entries())
    if (nft !== null) requireSame('output', ids[i]!, nft.outputId);
  return batch.nfts.filter((each) => each !== null);
}

export async function askOutput(outputId: string): Promise<Said<OutputAnswer>> {
  return { said: await askJson(`/api/core/v2/outputs/${part(outputId)}`, outputAnswer) };
}

export async function readBlockMetadata(blockId: string): Promise<Said<BlockMetadata>> {
  const said = await askJson(`/api/core/v2/blocks/${part(blockId)}/metadata`, blockMetadata);
  requireSame('block', blockId, said.blockId);
  return { said };
}

export const readBlockJson = (blockId: string) =>
  askJson(`/api/core/v2/blocks/${part(blockId)}`, v.record(v.string(), v.unknown()));

export const readBlockBytes = (blockId: string) => askBytes(`/api/core/v2/blocks/${part(blockId)}`);

/** Of the block whose transaction was applied, as the node says. */
export async function askIncludedBlock(transactionId: string): Promise<Said<BlockMetadata>> {
  const path = `/api/core/v2/transactions/${part(transactionId)}/included-block/metadata`;
  return { said: await askJson(path, blockMetadata) };
}

export const milestonePath = (milestone: string) =>
  `/api/core/v2/milestones/${/^\d+$/.test(milestone) ? 'by-index/' : ''}${part(milestone)}`;

/** @param name index or ID */
export const readMilestoneBytes = (name: string) => askBytes(milestonePath(name));

/** From this index down, as far as the node keeps milestones. */
export function indexesFrom(index: number, count: number, pruningIndex: number): readonly number[] {
  const least = Math.max(pruningIndex + 1, index - count + 1, 1);
  return Array.from({ length: Math.max(0, index - least + 1) }, (_, i) => index - i);
}

/** The blocks of an applied milestone, in white-flag order, with verdicts. */
export async function askExplanation(index: number): Promise<Said<ExplanationJson>> {
  const said = await askJson(`/api/edge/v1/whiteflag/${index}`, explanation);
  requireSame('milestone', String(index), String(said.index));
  return { said };
}

/** IDs of the outputs that a milestone created, sorted. */
export async function readCreated(index: number): Promise<readonly string[]> {
  const path = `${milestonePath(String(index))}/utxo-changes`;
  const said = await askJson(path, utxoChanges);
  requireSame('milestone', String(index), String(said.index));
  return said.createdOutputs;
}

/** Up to 1,000 owners of a collection, those of the most NFTs first. */
export async function readOwners(issuer: string): Promise<Owners> {
  const path = `/api/edge/v1/collections/${part(issuer)}/owners?pageSize=1000`;
  const answer = await askJson(path, owners);
  return { ...answer, owners: answer.owners.toSorted((a, b) => b.nftCount - a.nftCount) };
}

export const readFinalCounts = () => askJson('/api/edge/v1/final', finalCounts);

/** The Merkle path of a block to its milestone's roots: JSON that the caller checks. */
export const askProof = (blockId: string) =>
  askJson(
    `/api/edge/v1/blocks/${part(blockId)}/proof`,
    v.object({ proof: v.unknown(), appliedProof: v.optional(v.unknown()) }),
  );

export const askTips = () => askJson('/api/core/v2/tips', tips);

export interface ProposalRequest {
  index: number;
  timestamp: number;
  parents: readonly string[];
  previousMilestoneId: string;
}

/** The cone of a proposal, or of a past milestone computed again, with verdicts and rules. */
export async function explainProposal(request: ProposalRequest): Promise<Said<ExplanationJson>> {
  const body = JSON.stringify(request);
  const said = await askJson('/api/edge/v1/whiteflag', explanation, { body });
  requireSame('milestone', String(request.index), String(said.index));
  return { said };
}
