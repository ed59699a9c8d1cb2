/** The publisher's interfaces to database and key-value store. */
import type { IndexReader } from './kv-values.ts';
import type { ChangePosition, IndexHead, State, Stretch } from './publisher-state.ts';

/** An NFT as the ledger has it. */
export interface NftRow {
  /** 64 lower-case hex digits. */
  nft: string;
  output: string | null;
}

/** An NFT with the milestone of its last change among those that were asked for. */
export interface ChangeRow extends NftRow {
  milestone: number;
}

/** Rows read in one transaction, and the ledger at that moment. */
export interface Page<Row> extends IndexHead {
  rows: Row[];
}

export interface StoredState {
  /** Changes with every write of the row. */
  token: string;
  state: State | undefined;
}

export type Since = Pick<State, 'generation' | 'from' | 'changes'> & { token: string | undefined };

/** The publisher's side of the database. Each call is one transaction. */
export interface IndexLedger {
  /** Reads the ledger's position and the publisher's row; undefined if there is none. */
  readState(): Promise<{ head: IndexHead | undefined; stored: StoredState | undefined }>;

  /**
   * Replaces the publisher's row if it still has the token, or inserts it if `token` is undefined
   * and there is none. Returns whether the row was written.
   */
  swap(token: string | undefined, next: { token: string; state: State }): Promise<boolean>;

  /**
   * Reads NFTs that changed after `after`, up to milestone `upTo`: each once with its state now, in
   * order of the position of its last change up to there.
   */
  readChanges(
    after: ChangePosition,
    upTo: number,
    limit: number,
  ): Promise<Page<ChangeRow> | undefined>;

  /**
   * Throws a LedgerDamaged unless each stretch has as many changes as were counted; not after an
   * import, or where another publisher let changes be pruned.
   */
  requireChanges(
    stretches: readonly Stretch[],
    run: Pick<Since, 'generation' | 'token'>,
  ): Promise<void>;

  /** Reads NFTs in order of their IDs. */
  readNfts(after: string, limit: number): Promise<Page<NftRow> | undefined>;

  /** Reads all changes after milestone `from`: the last ones with their states, and prefixes. */
  readWindow(since: Since, maxStates: number): Promise<Window | undefined>;
}

export interface Window extends Page<NftRow> {
  /** Token of the publisher's row. If another publisher changed it, changes may be missing here. */
  token: string | undefined;
  /** First digits of the changed NFTs' IDs (`PREFIX_LENGTH`), one after the other. */
  prefixes: string;
}

export interface IndexStore extends IndexReader {
  /** @param options `expirationTtl`: seconds until KV drops the key; absent: never */
  put(key: string, value: string, options?: { expirationTtl: number }): Promise<void>;
}
