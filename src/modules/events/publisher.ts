/**
 * Publishes milestones, each once and in order. The last published one outlives the object in one
 * value of its storage; all that is published is read from D1, where it was committed.
 */
import type { Database } from '../../ledger/core/database.ts';
import { LedgerMoved } from '../../ledger/core/fence.ts';
import { type Head, selectLedger } from '../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../ledger/core/ledger-parameters.ts';
import { readBatch } from '../../ledger/core/read-batch.ts';
import { readMilestoneContents } from '../../ledger/read/milestone-contents.ts';
import type { MilestoneKeys } from '../../stardust/milestone-keys.ts';
import type { CloseReason } from './close-codes.ts';
import type { MilestoneInfo } from './event-json.ts';
import { type Audience, tellMilestone, wantsBlocks } from './milestone-events.ts';

/** Counts since the first of today's listeners came. */
export interface Counts {
  messages: number;
  closes: Partial<Record<CloseReason, number>>;
}

export interface PublishedMilestone extends MilestoneInfo {
  generation: string;
  prefix: string;
  counts: Counts;
}

/** Listeners were told some of a milestone, and would be told that again. */
export class HalfTold extends Error {
  override readonly name = 'HalfTold';
}

/** Key of the one value in the object's storage. */
const KEY = 'published';

/** @param keys which sign milestones, where they are known */
export function createPublisher(
  db: Database,
  storage: SyncKvStorage,
  keys: MilestoneKeys | undefined,
) {
  let published: PublishedMilestone | undefined;
  try {
    published = storage.get<PublishedMilestone>(KEY);
  } catch {
    // damaged on disk: the next client begins with the ledger as it is
  }
  const counts: Counts = published?.counts ?? { messages: 0, closes: {} };

  function save(next: PublishedMilestone): PublishedMilestone {
    published = next;
    storage.put(KEY, next);
    return next;
  }

  const readLedger = () =>
    readBatch(db, { at: selectLedger(db), parameters: selectParameters(db) });

  /** Whether this head comes after what was published. */
  const follows = (before: PublishedMilestone, { generation, ledger }: Head) =>
    generation === before.generation && ledger >= before.index;

  /**
   * Returns `last`; if nobody has listened, or the ledger was replaced since, the ledger's
   * milestone. Undefined without a ledger.
   */
  async function begin(): Promise<PublishedMilestone | undefined> {
    const { at, parameters } = await readLedger();
    if (published !== undefined && at !== undefined && follows(published, at.head))
      return published;
    if (at === undefined) return undefined;
    const { generation, ledger: index } = at.head;
    const { id, timestamp } = at.milestone;
    const { bech32Hrp: prefix } = parametersAt(parameters, index);
    return save({ generation, prefix, index, id, timestamp, counts });
  }

  return {
    /** Undefined where nobody has listened. */
    last: () => published,
    counts,
    begin,
    /**
     * Publishes the milestone after the last one; returns false if it is not in D1 yet. If addresses
     * have another prefix from then on, only the prefix of `last` changes, so that listeners to the
     * old one can be closed first. Throws a LedgerMoved if the milestone is pruned or the ledger was
     * replaced, a {@link HalfTold}, and what D1 throws.
     */
    async publishNext(audience: Audience): Promise<boolean> {
      const before = published ?? (await begin());
      if (before === undefined) return false;
      const { at, parameters } = await readLedger();
      if (at === undefined || !follows(before, at.head))
        throw new LedgerMoved('the ledger was replaced');
      const index = before.index + 1;
      if (at.head.ledger < index) return false;
      const { bech32Hrp: prefix } = parametersAt(parameters, index);
      if (prefix !== before.prefix) {
        save({ ...before, prefix });
        return true;
      }
      const { head, contents } = await readMilestoneContents(db, index, wantsBlocks(audience));
      if (head === undefined || !follows(before, head))
        throw new LedgerMoved('the ledger was replaced');
      if (contents === undefined) throw new LedgerMoved(`milestone ${index} is pruned`);
      let isBegun = false;
      const tell: Audience['tell'] = (topic, payload) => {
        isBegun = true;
        return audience.tell(topic, payload);
      };
      await tellMilestone(db, contents, { ...audience, tell }, keys).catch((cause: unknown) => {
        throw isBegun ? new HalfTold(`milestone ${index}`, { cause }) : cause;
      });
      const { id, timestamp } = contents;
      save({ ...before, index, id, timestamp });
      return true;
    },
    /** Forgets the last milestone: the next client begins with the ledger as it is. */
    forget() {
      if (published === undefined) return;
      published = undefined;
      storage.delete(KEY);
    },
  };
}
