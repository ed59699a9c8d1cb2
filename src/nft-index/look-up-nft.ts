/**
 * Looking an NFT up: in KV where its copies prove an answer, else in D1.
 */
import { describeError, writeLog } from '../log.ts';
import { openNftLedger } from './d1-ledger.ts';
import { type Entry, entryKey } from './kv-entry.ts';
import type { KvRead } from './kv-value.ts';
import type { IndexReader, NftLedger } from './ports.ts';
import { RECENT_KEY, type Recent } from './recent-changes.ts';
import { RememberedReads } from './remembered-reads.ts';
import { type Resolution, resolve } from './resolve.ts';
import { KV_CACHE_TTL_S } from './timing-assumptions.ts';

export interface NftAnswer {
  /** Where the answer is true. */
  ledgerIndex: number;
  /** 68 lower-case hex digits; undefined: no unspent output has this NFT ID. */
  outputId: string | undefined;
  source: 'kv' | 'd1';
  /** What proves KV's answer (`Proof` in resolve.ts), or why D1 was asked. */
  why: string;
}

/** Where a lookup reads. */
export interface NftSources {
  ledger: NftLedger;
  index: IndexReader;
  remembered: RememberedReads;
  /** Unix milliseconds. */
  clock: () => number;
}

/** What lookups of one isolate share. */
export function openNftSources(
  ledger: D1Database,
  index: KVNamespace,
  clock: () => number,
): NftSources {
  return {
    ledger: openNftLedger(ledger),
    index: openReader(index),
    remembered: new RememberedReads(),
    clock,
  };
}

/** For one key, a list of keys takes KV longer than the key itself; mostly one is all we need. */
function openReader(index: KVNamespace): IndexReader {
  return {
    async get(keys, options) {
      const [key, ...others] = keys;
      if (key === undefined || others.length > 0) return index.get(keys, options);
      return new Map([[key, await index.get(key, options)]]);
    },
  };
}

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
): Promise<NftAnswer | undefined> {
  const found = resolveRemembered(sources, nftId) ?? (await resolveFromKv(sources, nftId));
  if (found.kind === 'answer' && found.ledgerIndex >= minLedgerIndex) {
    const { ledgerIndex, outputId, by } = found;
    return { ledgerIndex, outputId, source: 'kv', why: by };
  }
  const row = await sources.ledger.readNft(nftId, minLedgerIndex > 0);
  if (row === undefined) return undefined;
  const why = found.kind === 'answer' ? 'a later one was asked for' : found.why;
  return { ledgerIndex: row.ledgerIndex, outputId: row.output ?? undefined, source: 'd1', why };
}

/** Where both copies are remembered, nothing is awaited. */
function resolveRemembered(
  { remembered, clock }: NftSources,
  nftId: string,
): Resolution | undefined {
  const now = clock();
  const entry = remembered.entry(nftId, now);
  const recent = remembered.recent(now);
  return entry && recent && resolve(entry, recent, nftId, now);
}

async function resolveFromKv(sources: NftSources, nftId: string): Promise<Resolution> {
  let copies: Copies;
  try {
    copies = await readCopies(sources, nftId);
  } catch (error) {
    writeLog('error', 'nft-index.unreadable', { error: describeError(error) });
    return { kind: 'ask-ledger', why: 'KV failed' };
  }
  return resolve(copies.entry, copies.recent, nftId, sources.clock());
}

interface Copies {
  entry: KvRead<Entry>;
  recent: KvRead<Recent>;
}

/** Reads what is not remembered in one operation. */
async function readCopies(
  { index, remembered, clock }: NftSources,
  nftId: string,
): Promise<Copies> {
  const now = clock();
  const key = entryKey(nftId);
  let entry = remembered.entry(nftId, now);
  let recent = remembered.recent(now);
  const missing = [...(entry ? [] : [key]), ...(recent ? [] : [RECENT_KEY])];
  if (missing.length > 0) {
    const texts = await index.get(missing, { type: 'text', cacheTtl: KV_CACHE_TTL_S });
    entry ??= report(key, remembered.keepEntry(nftId, texts.get(key) ?? null, now));
    recent ??= report(RECENT_KEY, remembered.keepRecent(texts.get(RECENT_KEY) ?? null, now));
  }
  return { entry: entry!, recent: recent! };
}

function report<T>(key: string, read: KvRead<T>): KvRead<T> {
  if (read.kind === 'malformed') writeLog('warn', 'nft-index.malformed', { key, why: read.why });
  return read;
}
