/**
 * Progress of the follower: the ledger moved, or less work is left than ever before for its next
 * milestone, in one of three quantities that follow each other:
 *
 *  1. `walk`: blocks of the past cone that the walk down has met, up to `MAX_MET` in store-cone.ts.
 *  2. `store`: missing blocks of the past cone that are still to be stored.
 *  3. `verdicts`: transactions of the past cone without a verdict.
 *
 * Each counts only below its least value so far: work that is undone and done again is no progress.
 */

const QUANTITIES = ['walk', 'store', 'verdicts'] as const;

export interface Progress {
  /** Times that there was progress since the object started. */
  readonly times: number;
  /** Notes that the ledger is at another index, or is another one. */
  ledgerMoved(): void;
  /**
   * Notes the work left for a signed milestone after the ledger's: there are few of these.
   *
   * @param milestone its ID
   * @param amount smaller is less work; of `walk`, minus the number of blocks
   */
  workLeft(milestone: string, quantity: (typeof QUANTITIES)[number], amount: number): void;
  /** Notes that the cone is smaller for good: the signed root showed earlier references in it. */
  coneShrank(milestone: string): void;
  /**
   * Notes that the cone is stored again by the word of this upstream alone. That begins a measure
   * of its own, once for each upstream.
   */
  startOver(milestone: string, upstream: string): void;
}

export function createProgress(): Progress {
  let times = 0;
  /** Least work so far, by milestone: the place of the quantity, and the amount. */
  const least = new Map<string, readonly [quantity: number, amount: number]>();
  const startedOver = new Set<string>();
  return {
    get times() {
      return times;
    },
    ledgerMoved() {
      times++;
      least.clear();
      startedOver.clear();
    },
    workLeft(milestone, name, amount) {
      const quantity = QUANTITIES.indexOf(name);
      const before = least.get(milestone);
      if (before !== undefined) {
        const [last, lastAmount] = before;
        if (quantity < last || (quantity === last && amount >= lastAmount)) return;
      }
      times++;
      least.set(milestone, [quantity, amount]);
    },
    coneShrank(milestone) {
      times++;
      least.delete(milestone);
    },
    startOver(milestone, upstream) {
      const attempt = `${milestone} ${upstream}`;
      if (!startedOver.has(attempt)) least.delete(milestone);
      startedOver.add(attempt);
    },
  };
}
