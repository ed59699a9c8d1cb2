/**
 * From copies of an NFT's entry and of `recent` to an answer that is true at the ledger index it names, or to none (design §4, platform.md §3).
 *
 * The copies may be of different age, and either may be of another location or backend than the last time. What is known of them:
 *  - an entry was read from D1: its output held at its ledger index;
 *  - a `recent` was read from D1 at once: it names every NFT that changed after `from` and up to `to`, with its state at `to`;
 *  - from `fromTime` on, no put of an entry lacks a change up to `from`.
 * The first two are true for ever, whatever happens to the copies. The third one says, by the assumptions of times.ts, that whoever reads an entry
 * {@link SETTLED} after `fromTime` gets one that has them all. `recent` was published before it was read, so the publisher's own clock decides on that, and
 * what a reader's clock says only decides on what is too old to be useful.
 */

import type { Entry } from './kv-entry.ts';
import type { Copy } from './kv-value.ts';
import { findAnswer, isAmongOthers, type Recent } from './recent-changes.ts';
import { CLOCKS, RECENT_AGE, SETTLED } from './timing-assumptions.ts';

/** By what an answer is true: the entry itself, the change in `recent`, the entry's ledger index in its range, or the entry's age. */
export type Proof = 'entry' | 'change' | 'range' | 'age';

export type Resolution =
  | { kind: 'answer'; ledgerIndex: number; outputId: string | undefined; by: Proof }
  | { kind: 'ask-ledger'; why: string };

export function resolve(
  entry: Copy<Entry>,
  recent: Copy<Recent>,
  nftId: string,
  now: number,
): Resolution {
  if (recent.kind !== 'value') return askLedger(`recent is ${recent.kind}`);
  const { generation, from, to, fromTime, publishedAt } = recent.value;
  if (now - publishedAt > RECENT_AGE) return askLedger('recent is old');
  if (publishedAt - now > CLOCKS) return askLedger('recent is of the future');

  // An entry of another generation, or none that can be read, is no entry; that it is not absent matters only at the end.
  const own =
    entry.kind === 'value' && entry.value.generation === generation ? entry.value : undefined;
  if (own !== undefined && own.ledgerIndex >= to)
    return answer(own.ledgerIndex, own.outputId, 'entry');

  const change = findAnswer(recent.value, nftId);
  if (change !== undefined) return answer(to, change, 'change');
  if (isAmongOthers(recent.value, nftId)) return askLedger('changed lately');

  // Nothing changed after `from`: what held there holds at `to`.
  if (own !== undefined && own.ledgerIndex >= from) return answer(to, own.outputId, 'range');
  if (own === undefined && entry.kind !== 'absent') {
    return askLedger(
      entry.kind === 'malformed' ? 'entry is malformed' : 'entry is of another ledger',
    );
  }
  if (fromTime === null) return askLedger('index is not complete');
  if (publishedAt - fromTime < SETTLED) return askLedger('index is not settled');
  return answer(to, own?.outputId ?? null, 'age');
}

function answer(ledgerIndex: number, outputId: string | null, by: Proof): Resolution {
  return { kind: 'answer', ledgerIndex, outputId: outputId ?? undefined, by };
}

function askLedger(why: string): Resolution {
  return { kind: 'ask-ledger', why };
}
