/** Milestones by index or by ID, as long as they are kept, and their changes of the ledger. */
import type { Database } from '../../ledger/core/database.ts';
import { LedgerMoved } from '../../ledger/core/fence.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { findReferenced, milestoneEntry, selectIds } from '../../ledger/core/id-index.ts';
import {
  type MilestoneWithPayload,
  milestoneWithPayload,
} from '../../ledger/core/milestone-payload.ts';
import { combine, first, type Query, readBatch } from '../../ledger/core/read-batch.ts';
import { milestoneAt, readMentions, selectBlocksOf } from '../../ledger/packs/referenced-blocks.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { receiptOf } from '../../stardust/wire/milestone.ts';
import { migratedOutputs } from '../../stardust/wire/receipt.ts';

/** A milestone as a request names it; the ID as 64 hex digits. */
export type MilestoneName = { index: number } | { id: string };

/** Changes by a milestone. IDs are 68 hex digits, in their order. */
export interface LedgerChanges {
  index: number;
  /** Outputs that were consumed within the milestone stand in both lists. */
  created: string[];
  consumed: string[];
  ledgerIndex: number;
}

/** SQL of a milestone's entry ?1 in the index of IDs. */
const NAMED = selectIds('json_array(?1)');

const SELECT_BY_INDEX = 'SELECT * FROM milestone WHERE idx = ?1 AND payload IS NOT NULL';

const SELECT_BY_ID = `
  SELECT * FROM milestone
  WHERE idx = (SELECT milestone FROM (${NAMED}) LIMIT 1) AND payload IS NOT NULL`;

function selectMilestone(
  db: Database,
  name: MilestoneName,
): Query<MilestoneWithPayload | undefined> {
  if ('index' in name)
    return first(db.prepare(SELECT_BY_INDEX).bind(name.index), milestoneWithPayload);
  const entry = milestoneEntry(name.id);
  return combine(
    {
      // compares the entry's sum
      entries: findReferenced(db, [entry]),
      found: first(db.prepare(SELECT_BY_ID).bind(entry), milestoneWithPayload),
    },
    ({ found }) => found,
  );
}

/**
 * Reads a milestone's payload, its type first. Undefined where the milestone is not known, its
 * payload never came, or it is pruned.
 */
export async function readMilestone(
  db: Database,
  name: MilestoneName,
): Promise<{ payload: Uint8Array; ledgerIndex: number } | undefined> {
  const { head, milestone } = await readBatch(db, {
    head: selectHead(db),
    milestone: selectMilestone(db, name),
  });
  if (head === undefined || milestone === undefined) return undefined;
  return { payload: milestone.payload.bytes, ledgerIndex: head.ledger };
}

/**
 * Outputs of the largest answer. An output takes some 250 bytes: 8 MB of transactions with 128 inputs
 * and 128 outputs have 190,000.
 */
const MAX_CHANGES = 200_000;

/**
 * Returns undefined if the milestone was not applied here, or is pruned; `too-large` beyond {@link
 * MAX_CHANGES} inputs and outputs. Throws a LedgerUnreadable if it has too many blocks, a LedgerMoved if it was pruned or replaced meanwhile.
 */
export async function readLedgerChanges(
  db: Database,
  name: MilestoneName,
): Promise<LedgerChanges | 'too-large' | undefined> {
  const { named } = await readBatch(db, { head: selectHead(db), named: selectMilestone(db, name) });
  if (named === undefined) return undefined;
  const { index } = named;
  const { head, milestone, listBlocks } = await readBatch(db, {
    head: selectHead(db),
    milestone: selectMilestone(db, { index }),
    listBlocks: selectBlocksOf(db, milestoneAt(index)),
  });
  if (head === undefined || milestone === undefined || index <= head.start) return undefined;
  const { id, payload } = milestone;
  if (id !== named.id) throw new LedgerMoved('an import replaced the ledger');
  const applied = listBlocks(milestone.blocks).filter(({ reason }) => reason === 0);
  const migrated = migratedOutputs(receiptOf(payload.value), Uint8Array.fromHex(id));
  const created = migrated.map((output) => toHexDigits(output.id));
  const consumed: string[] = [];
  for await (const mentions of readMentions(db, applied)) {
    for (const { id: output, isCreated } of mentions) (isCreated ? created : consumed).push(output);
    if (created.length + consumed.length > MAX_CHANGES) return 'too-large';
  }
  return { index, created: created.sort(), consumed: consumed.sort(), ledgerIndex: head.ledger };
}
