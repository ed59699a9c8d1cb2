/**
 * The ledger in memory, behind the same interfaces as D1 (src/nft-index/ports.ts), with every state
 * that it ever had. Random histories of the index run over it; ledger-contract.ts tests that it
 * behaves as D1 does.
 */

import { CHANGES_STEP } from '../../../src/ledger/write/prune.ts';
import type { NftLedger } from '../../../src/nft-index/look-up-nft.ts';
import type {
  ChangeRow,
  IndexLedger,
  NftRow,
  Page,
  Since,
  Window,
} from '../../../src/nft-index/ports.ts';
import type { State } from '../../../src/nft-index/publisher-state.ts';
import { PREFIX_LENGTH } from '../../../src/nft-index/recent-changes.ts';

type Change = [milestone: number, output: string | null];

/** One ledger from its import on: every state of every NFT. */
export class History {
  readonly generation: string;
  readonly start: number;
  ledger: number;
  /** How many there were since the import. */
  changes = 0;
  readonly nfts = new Map<string, Change[]>();

  constructor(generation: string, start: number, nfts: readonly NftRow[]) {
    this.generation = generation;
    this.start = start;
    this.ledger = start;
    for (const { nft, output } of nfts) this.nfts.set(nft, [[start, output]]);
  }

  /** The NFT's output after the milestone, null where it has none. */
  outputAt(nft: string, milestone: number): string | null {
    return this.nfts.get(nft)?.findLast(([changed]) => changed <= milestone)?.[1] ?? null;
  }

  apply(changes: readonly NftRow[]): void {
    this.ledger++;
    this.changes += changes.length;
    for (const { nft, output } of changes) {
      const states = this.nfts.get(nft);
      if (states) states.push([this.ledger, output]);
      else this.nfts.set(nft, [[this.ledger, output]]);
    }
  }
}

export class MemoryLedger implements IndexLedger, NftLedger {
  history: History | undefined;
  /** The rows of nft_change. */
  changes: { milestone: number; nft: string }[] = [];
  /** The NFTs that have a row in nft. */
  nfts = new Set<string>();
  /** The row of nft_index. */
  row: { token: string; state: State | undefined } | undefined = { token: '', state: undefined };

  import(generation: string, start: number, nfts: readonly NftRow[]): void {
    this.history = new History(generation, start, nfts);
    this.nfts = new Set(nfts.map(({ nft }) => nft));
    this.changes = [];
  }

  apply(changes: readonly NftRow[]): void {
    const history = this.history!;
    history.apply(changes);
    for (const { nft } of changes) this.nfts.add(nft);
    this.changes.push(
      ...changes.map(({ nft }) => ({ milestone: history.ledger, nft })).sort(byPosition),
    );
  }

  async readState(): ReturnType<IndexLedger['readState']> {
    const { history, row } = this;
    const { generation = '', ledger: ledgerIndex = 0, changes } = history ?? {};
    const head = history && { generation, ledgerIndex, changes };
    if (row === undefined) return { head, stored: undefined };
    const state = row.state?.generation === head?.generation ? row.state : undefined;
    return { head, stored: { token: row.token, state } };
  }

  async swap(token: string | undefined, next: { token: string; state: State }): Promise<boolean> {
    const swapped = this.row?.token === token;
    if (swapped) this.row = next;
    return swapped;
  }

  /** What pruning does (src/ledger/write/prune.ts) where only the ledger's milestone is kept. */
  prune(): void {
    const { history, row } = this;
    if (history === undefined || row?.state?.generation !== history.generation) return;
    const from = Math.min(row.state.from, history.ledger);
    const milestones = [...new Set(this.changes.map(({ milestone }) => milestone))];
    const left = milestones.filter((milestone) => milestone <= from).slice(0, CHANGES_STEP);
    for (const { milestone, nft } of this.changes) {
      if (left.includes(milestone) && this.#output(nft) === null && this.#changedAt(nft)! <= from)
        this.nfts.delete(nft);
    }
    this.changes = this.changes.filter(({ milestone }) => !left.includes(milestone));
  }

  async readChanges(
    after: { milestone: number; nft: string },
    upTo: number,
    limit: number,
  ): Promise<Page<ChangeRow> | undefined> {
    const rows = this.#changed((row) => byPosition(row, after) > 0 && row.milestone <= upTo);
    return this.#page(rows.slice(0, limit));
  }

  async readNfts(after: string, limit: number): Promise<Page<NftRow> | undefined> {
    const ids = [...this.nfts].filter((nft) => nft > after).sort();
    return this.#page(ids.slice(0, limit).map((nft) => ({ nft, output: this.#output(nft) })));
  }

  async readWindow({ from }: Since, maxStates: number): Promise<Window | undefined> {
    const latest = this.#changed(({ milestone }) => milestone > from);
    const changed = this.changes.filter(({ milestone }) => milestone > from);
    const prefixes = new Set(changed.map(({ nft }) => nft.slice(0, PREFIX_LENGTH)));
    const page = this.#page(
      latest
        .reverse()
        .slice(0, maxStates)
        .map(({ nft, output }) => ({ nft, output })),
    );
    return (
      page && {
        ...page,
        prefixes: [...prefixes].join(''),
        token: this.row?.token,
      }
    );
  }

  async readNft(nft: string): ReturnType<NftLedger['readNft']> {
    return this.history && { ledgerIndex: this.history.ledger, output: this.#output(nft) };
  }

  /** NFTs of these changes, each once, by the position of its last one among them. */
  #changed(isMeant: (change: { milestone: number; nft: string }) => boolean): ChangeRow[] {
    const last = new Map(this.changes.filter(isMeant).map((change) => [change.nft, change]));
    return [...last.values()]
      .sort(byPosition)
      .map(({ milestone, nft }) => ({ milestone, nft, output: this.#output(nft) }));
  }

  #changedAt(nft: string): number | undefined {
    return this.history?.nfts.get(nft)?.at(-1)?.[0];
  }

  #output(nft: string): string | null {
    return this.history?.nfts.get(nft)?.at(-1)?.[1] ?? null;
  }

  #page<Row>(rows: Row[]): Page<Row> | undefined {
    return (
      this.history && {
        generation: this.history.generation,
        ledgerIndex: this.history.ledger,
        rows,
      }
    );
  }
}

function byPosition(
  a: { milestone: number; nft: string },
  b: { milestone: number; nft: string },
): number {
  return a.milestone - b.milestone || (a.nft < b.nft ? -1 : a.nft > b.nft ? 1 : 0);
}
