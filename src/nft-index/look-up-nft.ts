/**
 * Looking an NFT up (design §1, §4): in KV where its copies prove an answer, else in D1.
 */
import { describeError, writeLog } from '../log.ts';
import { openNftLedger } from './d1-ledger.ts';
import { type Entry, entryKey } from './kv-entry.ts';
import type { Copy } from './kv-value.ts';
import type { IndexReader, NftLedger } from './ports.ts';
import { RECENT_KEY, type Recent } from './recent-changes.ts';
import { Memory } from './remembered-reads.ts';
import { type Resolution, resolve } from './resolve.ts';
import { CACHE_TTL } from './timing-assumptions.ts';

export interface NftAnswer {
  /** The answer is true here. */
  ledgerIndex: number;
  /** 68 lower-case hex digits; undefined where no unspent output has this NFT ID. */
  outputId: string | undefined;
  source: 'kv' | 'd1';
  /** For the log: what proves KV's answer (`Proof` in resolve.ts), or why D1 was asked. */
  why: string;
}

const ofThisIsolate = new Memory();

/**
 * @param nftId 64 lower-case hex digits
 * @param minLedgerIndex the answer should be true here or later; 0 for any
 * @returns what holds at the ledger's own index where it has not come so far; undefined where there is no ledger
 */
export function lookUpNft(
  ledger: D1Database,
  index: KVNamespace,
  nftId: string,
  minLedgerIndex: number,
  clock: () => number,
): Promise<NftAnswer | undefined> {
  return lookUpIn(
    openNftLedger(ledger),
    openReader(index),
    ofThisIsolate,
    nftId,
    minLedgerIndex,
    clock,
  );
}

/** A list of one takes KV longer than the key by itself, and mostly it is only the entry that is not remembered. */
function openReader(index: KVNamespace): IndexReader {
  return {
    async get(keys, options) {
      const [key, ...others] = keys;
      if (key === undefined || others.length > 0) return index.get(keys, options);
      return new Map([[key, await index.get(key, options)]]);
    },
  };
}

export async function lookUpIn(
  ledger: NftLedger,
  index: IndexReader,
  memory: Memory,
  nftId: string,
  minLedgerIndex: number,
  clock: () => number,
): Promise<NftAnswer | undefined> {
  const found =
    resolveRemembered(memory, nftId, clock()) ?? (await resolveFromKv(index, memory, nftId, clock));
  if (found.kind === 'answer' && found.ledgerIndex >= minLedgerIndex) {
    const { ledgerIndex, outputId, by } = found;
    return { ledgerIndex, outputId, source: 'kv', why: by };
  }
  const row = await ledger.readNft(nftId, minLedgerIndex > 0);
  if (row === undefined) return undefined;
  const why = found.kind === 'answer' ? 'a later one was asked for' : found.why;
  return { ledgerIndex: row.ledgerIndex, outputId: row.output ?? undefined, source: 'd1', why };
}

/** Where both copies are remembered nothing is waited for. */
function resolveRemembered(memory: Memory, nftId: string, now: number): Resolution | undefined {
  const entry = memory.entry(nftId, now);
  const recent = memory.recent(now);
  return entry && recent && resolve(entry, recent, nftId, now);
}

async function resolveFromKv(
  index: IndexReader,
  memory: Memory,
  nftId: string,
  clock: () => number,
): Promise<Resolution> {
  let copies: Copies;
  try {
    copies = await readCopies(index, memory, nftId, clock());
  } catch (error) {
    writeLog('error', 'nft-index.unreadable', { error: describeError(error) });
    return { kind: 'ask-ledger', why: 'KV failed' };
  }
  return resolve(copies.entry, copies.recent, nftId, clock());
}

interface Copies {
  entry: Copy<Entry>;
  recent: Copy<Recent>;
}

/** What is not remembered comes in one operation. */
async function readCopies(
  index: IndexReader,
  memory: Memory,
  nftId: string,
  now: number,
): Promise<Copies> {
  const key = entryKey(nftId);
  let entry = memory.entry(nftId, now);
  let recent = memory.recent(now);
  const missing = [...(entry ? [] : [key]), ...(recent ? [] : [RECENT_KEY])];
  if (missing.length > 0) {
    const texts = await index.get(missing, { type: 'text', cacheTtl: CACHE_TTL });
    entry ??= report(key, memory.keepEntry(nftId, texts.get(key) ?? null, now));
    recent ??= report(RECENT_KEY, memory.keepRecent(texts.get(RECENT_KEY) ?? null, now));
  }
  return { entry: entry!, recent: recent! };
}

function report<T>(key: string, copy: Copy<T>): Copy<T> {
  if (copy.kind === 'malformed') writeLog('warn', 'nft-index.malformed', { key, why: copy.why });
  return copy;
}
