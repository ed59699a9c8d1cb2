/** Looks up an NFT: in KV if its copies prove an answer, else in D1. */
import { untilSettled } from '../platform/clock.ts';
import { describeError, writeLimitedLog } from '../platform/log.ts';
import type { OpenRecentCache, RememberedReads } from './cached-reads.ts';
import { type Entry, entryKey, type IndexReader, type KvRead } from './kv-values.ts';
import { RECENT_KEY, type Recent } from './recent-changes.ts';
import { type Resolution, resolve } from './resolve.ts';
import { KV_CACHE_TTL_S, MAX_READ_MS } from './timing-assumptions.ts';

export interface NftAnswer {
  /** Ledger index at which the answer is true. */
  ledgerIndex: number;
  /** 68 lower-case hex digits; undefined: no unspent output has this NFT ID. */
  outputId: string | undefined;
  source: 'kv' | 'd1';
  /** Proof of KV's answer (`ProvenBy` in resolve.ts), or the reason why D1 was queried. */
  why: string;
}

/** The ledger itself. */
export interface NftLedger {
  /**
   * @param latest whether a replica, which may lag behind, must not answer
   * @returns undefined where there is no ledger
   */
  readNft(
    nftId: string,
    latest: boolean,
  ): Promise<{ ledgerIndex: number; output: string | null } | undefined>;
}

export interface NftSources {
  ledger: NftLedger;
  index: IndexReader;
  openCache: OpenRecentCache;
  remembered: RememberedReads;
  /**
   * Only in `serve`, where D1 is as near: the ledger's, which an import replaces. And an absent
   * entry, which a damaged disk can hide, proves nothing there.
   */
  readGeneration?: (() => Promise<string | undefined>) | undefined;
  clock: () => number;
}

export interface NftRequest {
  url: string;
  /** Runs work once the answer is out. */
  defer(work: () => Promise<unknown>): void;
}

const KV_OPTIONS = { type: 'text', cacheTtl: KV_CACHE_TTL_S } as const;

/**
 * @param nftId 64 lower-case hex digits
 * @param minLedgerIndex the answer should be true here or later; 0: anywhere
 * @returns an answer at the ledger's own index where that is below `minLedgerIndex`; undefined
 *   where there is no ledger
 */
export async function lookUpNft(
  sources: NftSources,
  nftId: string,
  minLedgerIndex: number,
  request: NftRequest,
): Promise<NftAnswer | undefined> {
  const resolved =
    resolveRemembered(sources, nftId) ?? (await resolveRead(sources, nftId, request));
  const found = sources.readGeneration ? distrustAbsence(resolved) : resolved;
  if (found.kind === 'answer' && found.ledgerIndex >= minLedgerIndex) {
    const { ledgerIndex, outputId, by } = found;
    return { ledgerIndex, outputId, source: 'kv', why: by };
  }
  const row = await sources.ledger.readNft(nftId, minLedgerIndex > 0);
  if (row === undefined) return undefined;
  const why = found.kind === 'answer' ? 'a later one was asked for' : found.why;
  return { ledgerIndex: row.ledgerIndex, outputId: row.output ?? undefined, source: 'd1', why };
}

function distrustAbsence(found: Resolution): Resolution {
  const isAbsence = found.kind === 'answer' && found.by === 'age' && found.outputId === undefined;
  return isAbsence ? { kind: 'ask-ledger', why: 'entry is absent' } : found;
}

/** Answers from remembered copies, without waiting. */
function resolveRemembered(
  { remembered, clock }: NftSources,
  nftId: string,
): Resolution | undefined {
  const now = clock();
  const entry = remembered.entry(nftId, now);
  const recent = remembered.recent(now);
  return entry && recent && resolve(entry, recent, nftId, now);
}

async function resolveRead(
  sources: NftSources,
  nftId: string,
  request: NftRequest,
): Promise<Resolution> {
  const { remembered, clock } = sources;
  const now = clock();
  try {
    const reading = Promise.all([
      remembered.entry(nftId, now) ?? fetchEntry(sources, nftId, now),
      remembered.recent(now) ?? fetchRecent(sources, request, now),
    ]);
    const [entry, recent] = await untilSettled(reading, 'KV', MAX_READ_MS);
    return resolve(entry, recent, nftId, clock());
  } catch (error) {
    writeLimitedLog('error', 'nft-index.unreadable', { error: describeError(error) });
    return { kind: 'ask-ledger', why: 'KV failed' };
  }
}

async function fetchEntry(
  { index, remembered }: NftSources,
  nftId: string,
  now: number,
): Promise<KvRead<Entry>> {
  const key = entryKey(nftId);
  return report(key, remembered.keepEntry(nftId, await index.get(key, KV_OPTIONS), now));
}

/** Reads `recent`; only a well-formed one is taken from the cache, or put there. */
async function fetchRecent(
  { index, openCache, remembered, readGeneration }: NftSources,
  { url, defer }: NftRequest,
  now: number,
): Promise<KvRead<Recent>> {
  const cache = openCache(url);
  const cached = await cache?.match();
  if (cached !== undefined) {
    const read = remembered.keepRecent(cached, now);
    if (read.kind === 'value') return read;
  }
  const [text, own] = await Promise.all([index.get(RECENT_KEY, KV_OPTIONS), readGeneration?.()]);
  const read = report(RECENT_KEY, remembered.keepRecent(text, now));
  if (readGeneration && read.kind === 'value' && read.value.generation !== own)
    return remembered.keepRecent(null, now);
  if (cache !== undefined && text !== null && read.kind === 'value') defer(() => cache.put(text));
  return read;
}

function report<T>(key: string, read: KvRead<T>): KvRead<T> {
  if (read.kind === 'malformed')
    writeLimitedLog('warn', 'nft-index.malformed', { key, why: read.why });
  return read;
}
