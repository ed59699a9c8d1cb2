/**
 * Progress of the follower: the ledger moved, or less work is left than ever before for its next
 * milestone. The work is measured in three quantities, one after the other:
 *
 *  1. `walk`: blocks of the past cone that the walk down has come to. More is less work, and there is
 *     an end: `MAX_MET` in store-cone.ts.
 *  2. `store`: missing blocks of the past cone that are still to be stored.
 *  3. `verdicts`: transactions of the past cone without a verdict.
 *
 * Each counts only below its least value so far. So work that is done, undone and done again is no
 * progress, whoever causes that: a pass that ends with more to do is not one that gets on.
 */

const QUANTITIES = ['walk', 'store', 'verdicts'] as const;

export interface Progress {
  /** Times that there was progress since the object started. */
  readonly times: number;
  /** The ledger is at another index, or is another one. */
  ledgerMoved(): void;
  /**
   * Notes the work left for a signed milestone after the ledger's. There are few of these, as the
   * coordinator signs them.
   *
   * @param milestone its ID
   * @param amount smaller is less work; of `walk`, minus the number of blocks
   */
  workLeft(milestone: string, quantity: (typeof QUANTITIES)[number], amount: number): void;
  /**
   * The signed root has shown that blocks of the cone are referenced already: the cone is smaller
   * for good, and is stored again without them.
   */
  coneShrank(milestone: string): void;
  /**
   * The cone is stored again from the start, by the word of this upstream alone. Once for each
   * upstream that begins a measure of its own.
   */
  startOver(milestone: string, upstream: string): void;
}

export function createProgress(): Progress {
  let times = 0;
  /** The least work so far, by milestone: the place of the quantity, and the amount. */
  const least = new Map<string, readonly [quantity: number, amount: number]>();
  /** Milestones and upstreams that started over. */
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
