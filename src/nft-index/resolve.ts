/**
 * Resolves copies of an NFT's entry and of `recent` to an answer that is true at the ledger index it
 * names, or to none (docs/nft-index.md). The copies may be of different ages, locations and
 * backends. These facts are known:
 *
 *  - An entry was read from D1: its output held the NFT at its ledger index.
 *  - A `recent` was read from D1 in one transaction: it names every NFT that changed after `from`
 *    and up to `to`, by its state at `to` or by the first digits of its ID.
 *  - Since `fromTime`, no put of an entry lacks a change up to `from`.
 *
 * The first two are true whatever happens to the copies. With the third one and the assumptions of
 * timing-assumptions.ts, whoever reads an entry {@link SETTLING_TIME_MS} after `fromTime` gets one
 * with all those changes. A `recent` is published before it is read, so the publisher's own clock
 * shows that this time has passed; the reader's clock only says which `recent` is too old.
 */
import type { Entry, KvRead } from './kv-values.ts';
import { findState, hasPrefixOf, type Recent } from './recent-changes.ts';
import { MAX_CLOCK_SKEW_MS, MAX_RECENT_AGE_MS, SETTLING_TIME_MS } from './timing-assumptions.ts';

/**
 * Proof of an answer: the entry's own ledger index, the NFT's change in `recent`, an entry whose
 * ledger index is in the range of `recent`, or the time for which the index has been settled.
 */
export type ProvenBy = 'entry' | 'change' | 'range' | 'age';

export type Resolution =
  | { kind: 'answer'; ledgerIndex: number; outputId: string | undefined; by: ProvenBy }
  | { kind: 'ask-ledger'; why: string };

/**
 * @param nftId 64 lower-case hex digits
 * @param now the reader's clock, Unix milliseconds
 */
export function resolve(
  entry: KvRead<Entry>,
  recent: KvRead<Recent>,
  nftId: string,
  now: number,
): Resolution {
  if (recent.kind !== 'value') return askLedger(`recent is ${recent.kind}`);
  const { generation, filledFrom, from, to, fromTime, publishedAt } = recent.value;
  if (now - publishedAt > MAX_RECENT_AGE_MS) return askLedger('recent is old');
  if (publishedAt - now > MAX_CLOCK_SKEW_MS) return askLedger('recent is of the future');

  // An entry of another generation or an earlier filling, and one that cannot be read, say nothing.
  // Only the end of this function needs to know that they are not absent.
  const isOwn =
    entry.kind === 'value' &&
    entry.value.generation === generation &&
    entry.value.ledgerIndex >= filledFrom;
  const own = isOwn ? entry.value : undefined;
  if (own !== undefined && own.ledgerIndex >= to)
    return answer(own.ledgerIndex, own.outputId, 'entry');

  const state = findState(recent.value, nftId);
  if (state !== undefined) return answer(to, state, 'change');
  if (hasPrefixOf(recent.value, nftId)) return askLedger('changed lately');

  // The NFT did not change after `from`: what held there holds at `to`.
  if (own !== undefined && own.ledgerIndex >= from) return answer(to, own.outputId, 'range');
  if (own === undefined && entry.kind !== 'absent')
    return askLedger(
      entry.kind === 'malformed'
        ? 'entry is malformed'
        : entry.value.generation === generation
          ? 'entry is of an earlier filling'
          : 'entry is of another ledger',
    );
  if (fromTime === null) return askLedger('index is not complete');
  if (publishedAt - fromTime < SETTLING_TIME_MS) return askLedger('index is not settled');
  return answer(to, own?.outputId ?? null, 'age');
}

function answer(ledgerIndex: number, outputId: string | null, by: ProvenBy): Resolution {
  return { kind: 'answer', ledgerIndex, outputId: outputId ?? undefined, by };
}

const askLedger = (why: string): Resolution => ({ kind: 'ask-ledger', why });
