/**
 * What the node says of several milestones, one after the other: each is read once.
 */
import { useEffect, useState } from 'preact/hooks';
import { kindOf, type ShownKind } from '../cone/kinds.tsx';
import { isMissing } from '../node/ask.ts';
import { askExplanation } from '../node/ledger.ts';
import { asError } from '../use-load.ts';

export interface MilestoneSummary {
  /** Seconds. */
  timestamp: number;
  /** Of its first blocks, in white-flag order. */
  marks: readonly ShownKind[];
  blocks: number;
  applied: number;
  conflicts: number;
}

/** As many as a row has room for. */
const MAX_MARKS = 24;

/** `missing`: the node has none of its blocks. */
export type Summary =
  | { state: 'known'; summary: MilestoneSummary }
  | { state: 'missing' }
  | { state: 'failed'; error: Error };

async function readSummary(index: number): Promise<Summary> {
  try {
    const { said } = await askExplanation(index);
    const kinds = said.blocks.map(kindOf);
    const count = (of: ShownKind) => kinds.filter((kind) => kind === of).length;
    const summary = {
      timestamp: said.timestamp,
      marks: kinds.slice(0, MAX_MARKS),
      blocks: kinds.length,
      applied: count('applied'),
      conflicts: count('conflict'),
    };
    return { state: 'known', summary };
  } catch (error) {
    return isMissing(error) ? { state: 'missing' } : { state: 'failed', error: asError(error) };
  }
}

/** In memory, for as long as a view is open. */
const MAX_KEPT = 200;

/** Of each index, as it comes: the first one first, and one at a time, as a node scans for each. */
export function useSummaries(indexes: readonly number[]): ReadonlyMap<number, Summary> {
  const [known, setKnown] = useState<ReadonlyMap<number, Summary>>(new Map());
  useEffect(() => {
    let dropped = false;
    async function readOn(): Promise<void> {
      for (const index of indexes) {
        const before = known.get(index);
        if (before !== undefined && before.state !== 'failed') continue;
        const summary = await readSummary(index);
        if (dropped) return;
        setKnown((now) => new Map([...now, [index, summary] as const].slice(-MAX_KEPT)));
      }
    }
    void readOn();
    return () => {
      dropped = true;
    };
  }, [indexes.join()]);
  return known;
}
