/**
 * Publishing milestones, each once and in their order. What was published last outlives the object
 * in one value of its storage; all that is published is read from D1, where it was committed.
 */
import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import { selectHeadAt } from '../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../ledger/core/ledger-parameters.ts';
import { readBatch } from '../ledger/core/read-batch.ts';
import { readMilestoneContents } from '../ledger/read/milestone-contents.ts';
import type { MilestoneInfo } from '../stardust/json/event-json.ts';
import type { CloseReason } from './close-codes.ts';
import { type Audience, tellMilestone, wantsBlocks } from './milestone-events.ts';

/** Since the first of those who listen now. */
export interface Counts {
  messages: number;
  closes: Partial<Record<CloseReason, number>>;
}

/** What was published last, and of which ledger. */
export interface PublishedMilestone extends MilestoneInfo {
  generation: string;
  /** Of the network's addresses. */
  prefix: string;
  counts: Counts;
}

export interface Publisher {
  /** Undefined where nobody has listened. */
  last(): PublishedMilestone | undefined;
  readonly counts: Counts;
  /** The same; where nobody has listened, the ledger's milestone. Undefined without a ledger. */
  begin(): Promise<PublishedMilestone | undefined>;
  /**
   * Publishes the milestone after the last one; false where it is not in D1 yet. Throws a
   * LedgerMoved where it is pruned, or the ledger was replaced, and whatever reading D1 throws.
   */
  publishNext(audience: Audience): Promise<boolean>;
  /** Nobody listens: whoever comes next begins with the ledger as it is then. */
  forget(): void;
}

/** Of the one value in the object's storage. */
const KEY = 'published';

export function createPublisher(db: Database, storage: SyncKvStorage): Publisher {
  let published = storage.get<PublishedMilestone>(KEY);
  const counts: Counts = published?.counts ?? { messages: 0, closes: {} };

  function save(next: PublishedMilestone): PublishedMilestone {
    published = next;
    storage.put(KEY, next);
    return next;
  }

  async function begin(): Promise<PublishedMilestone | undefined> {
    if (published !== undefined) return published;
    const { at, parameters } = await readBatch(db, {
      at: selectHeadAt(db),
      parameters: selectParameters(db),
    });
    if (at?.milestone === undefined) return undefined;
    const { generation, ledger: index } = at.head;
    const { id, timestamp } = at.milestone;
    const { bech32Hrp: prefix } = parametersAt(parameters, index);
    return save({ generation, prefix, index, id, timestamp, counts });
  }

  return {
    last: () => published,
    counts,
    begin,
    async publishNext(audience) {
      const before = await begin();
      if (before === undefined) return false;
      const index = before.index + 1;
      const { head, contents } = await readMilestoneContents(db, index, wantsBlocks(audience));
      if (head?.generation !== before.generation || head.ledger < before.index)
        throw new LedgerMoved('the ledger was replaced');
      if (head.ledger < index) return false;
      if (contents === undefined) throw new LedgerMoved(`milestone ${index} is pruned`);
      await tellMilestone(db, contents, audience);
      const { id, timestamp } = contents;
      save({ ...before, index, id, timestamp });
      return true;
    },
    forget() {
      if (published === undefined) return;
      published = undefined;
      storage.delete(KEY);
    },
  };
}
