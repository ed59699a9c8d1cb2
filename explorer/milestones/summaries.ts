/**
 * What the node says of several milestones, one after the other: each is read once.
 */
import { useEffect, useState } from 'preact/hooks';
import { type Kind, kindOf } from '../cone/kinds.tsx';
import { NodeError } from '../node/ask.ts';
import { readCreated, readExplanation } from '../node/ledger.ts';
import { asError } from '../use-load.ts';

export interface MilestoneSummary {
  /** Seconds. */
  timestamp: number;
  /** Of its blocks, in white-flag order. */
  kinds: readonly Kind[];
  /** Applied transactions, with how many outputs each created; empty unless they were asked for. */
  transactions: readonly { transactionId: string; outputs: readonly string[] }[];
}

/** `missing`: the node has none of its blocks. */
export type Summary =
  | { state: 'known'; summary: MilestoneSummary }
  | { state: 'missing' }
  | { state: 'failed'; error: Error };

async function readSummary(index: number, withTransactions: boolean): Promise<Summary> {
  try {
    const { said } = await readExplanation(index);
    const kinds = said.blocks.map(kindOf);
    const created = withTransactions ? await readCreated(index) : [];
    // an output ID begins with that of its transaction
    const groups = Map.groupBy(created, (outputId) => outputId.slice(0, 66));
    const transactions = [...groups].map(([transactionId, outputs]) => ({
      transactionId,
      outputs,
    }));
    const applied = kinds.filter((kind) => kind === 'applied').length;
    // a receipt creates outputs, too, and is no transaction
    const isExact = transactions.length === applied;
    const summary = {
      timestamp: said.timestamp,
      kinds,
      transactions: isExact ? transactions : [],
    };
    return { state: 'known', summary };
  } catch (error) {
    const isMissing = error instanceof NodeError && error.status === 404;
    return isMissing ? { state: 'missing' } : { state: 'failed', error: asError(error) };
  }
}

/** In memory, for as long as a view is open. */
const MAX_KEPT = 200;

/** Of each index, as it comes: the first one first, and one at a time, as a node scans for each. */
export function useSummaries(
  indexes: readonly number[],
  withTransactions = false,
): ReadonlyMap<number, Summary> {
  const [known, setKnown] = useState<ReadonlyMap<number, Summary>>(new Map());
  useEffect(() => {
    let dropped = false;
    async function readOn(): Promise<void> {
      for (const index of indexes) {
        const before = known.get(index);
        if (before !== undefined && before.state !== 'failed') continue;
        const summary = await readSummary(index, withTransactions);
        if (dropped) return;
        setKnown((now) => new Map([...now, [index, summary] as const].slice(-MAX_KEPT)));
      }
    }
    void readOn();
    return () => {
      dropped = true;
    };
  }, [indexes.join(), withTransactions]);
  return known;
}
