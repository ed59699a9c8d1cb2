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

export type Progress = ReturnType<typeof createProgress>;

export function createProgress() {
  let times = 0;
  /** Least work so far: the place of the quantity, and the amount. */
  const least = new Map<string, readonly [quantity: number, amount: number]>();
  return {
    /** Times that there was progress since the object started. */
    get times() {
      return times;
    },
    /**
     * Notes that the ledger is at another index, or is another one, or that a cone is smaller for
     * good: the signed root showed earlier references in it.
     */
    beginAnew() {
      times++;
      least.clear();
    },
    /**
     * Notes the work left for a signed milestone after the ledger's: there are few of these.
     *
     * @param work the milestone's ID, and by whose word
     * @param amount smaller is less work; of `walk`, minus the number of blocks
     */
    workLeft(work: string, name: (typeof QUANTITIES)[number], amount: number) {
      const quantity = QUANTITIES.indexOf(name);
      const before = least.get(work);
      if (before !== undefined) {
        const [last, lastAmount] = before;
        if (quantity < last || (quantity === last && amount >= lastAmount)) return;
      }
      times++;
      least.set(work, [quantity, amount]);
    },
  };
}
