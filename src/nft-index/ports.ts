/**
 * What the index needs of the database and of the key-value store, so that its tests can put a model in their place (design §2).
 */
import type { Head } from '../ledger/head.ts';
import type { Position, State } from './publisher-state.ts';

/** An NFT as the ledger has it. */
export interface NftRow {
  nft: string;
  /** Null where it was burned. */
  output: string | null;
}

/** Its last change. */
export interface ChangeRow extends NftRow {
  milestone: number;
}

/** Rows of one moment. */
export interface Page<Row> {
  generation: string;
  ledgerIndex: number;
  rows: Row[];
}

export interface Stored {
  /** Another one with every change. */
  token: string;
  /** Undefined where the row is of no ledger or of another one. */
  state: State | undefined;
}

/** The publisher's side of the database. Each call is one transaction. */
export interface IndexLedger {
  /** Where the ledger stands, undefined where there is none, and the publisher's row, undefined where somebody removed it. */
  look(): Promise<{
    head: Pick<Head, 'generation' | 'start' | 'ledger'> | undefined;
    stored: Stored | undefined;
  }>;

  /** Replaces the row if it still has the token, or puts one if there still is none; returns whether it did. Removes the changes that have left the window. */
  swap(token: string | undefined, next: { token: string; state: State }): Promise<boolean>;

  /** NFTs whose last change lies after the position and at or before the milestone, in the order of their changes. */
  readChanges(after: Position, upTo: number, limit: number): Promise<Page<ChangeRow> | undefined>;

  /** NFTs by ID. */
  readNfts(after: string, limit: number): Promise<Page<NftRow> | undefined>;

  /** All that changed after `from`: the last ones with their state, and the names of at most so many. */
  readWindow(from: number, answers: number, others: number): Promise<Window | undefined>;
}

export interface Window extends Page<NftRow> {
  /** Of the publisher's row at that moment: the window is only what it says if no other publisher has moved on. */
  token: string | undefined;
  /** One after the other (recent.ts). */
  names: string;
}

/** The readers' side of the database. */
export interface NftLedger {
  /** Undefined where there is no ledger. `latest`: not from a replica, which may be late. */
  readNft(
    nftId: string,
    latest: boolean,
  ): Promise<{ ledgerIndex: number; output: string | null } | undefined>;
}

/** What readers need of KV. */
export interface IndexReader {
  get(
    keys: string[],
    options: { type: 'text'; cacheTtl: number },
  ): Promise<Map<string, string | null>>;
}

/** What the publisher needs of KV. */
export interface IndexStore extends IndexReader {
  put(key: string, value: string): Promise<void>;
}
