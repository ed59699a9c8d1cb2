/**
 * A page of an address's statement at a final ledger
 * (docs/final-ledger.md#a-statement-of-an-address): the outputs that the index of lists names, each
 * with its proof, verified before it is answered.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { unlessMoved } from '../../ledger/core/fence.ts';
import { readBatch } from '../../ledger/core/read-batch.ts';
import {
  ALL_KINDS,
  indexMissing,
  type NotIndexed,
} from '../../ledger/output-list/indexed-kinds.ts';
import { StardustError } from '../../stardust/error.ts';
import type { FinalEntry } from '../../stardust/proof/final-ledger.ts';
import {
  makeStatement,
  type Statement,
  type StatementParts,
  statementCursor,
  statementToJson,
} from '../../stardust/proof/statement.ts';
import { type Address, addressKey } from '../../stardust/wire/address.ts';
import { decodeLedgerOutput } from '../../stardust/wire/ledger-output.ts';
import { selectPage } from '../lists/list-statements.ts';
import { type Position, START } from '../lists/output-query.ts';
import { LAYOUT, type Layout, selectFinal, selectPages } from './final-tables.ts';
import type { NoFinalLedger } from './prove-final.ts';
import {
  damagedTree,
  entryAt,
  findPositions,
  openStoredTree,
  type StoredTree,
} from './stored-tree.ts';

const MAX_OUTPUTS = 1000;

/** Bytes of the records of a page, and one more: as hex twice that, and 1.6 KB for each path. */
const MAX_BYTES = 2_000_000;

/** Proved at once: 1,024 leaves are read, 1 MB as a rule, 45 MB if each is as long as a block. */
const PROVED_AT_ONCE = 128;

export type AddressStatement =
  | { ok: true; ledgerIndex: number; statement: ReturnType<typeof statementToJson> }
  | { ok: false; why: 'foreign'; ledgerIndex: number; prefix: string }
  | ({ ok: false; why: 'no final ledger' } & Omit<NoFinalLedger, 'ok'>)
  | NotIndexed;

export interface StatementQuery {
  address: Address;
  /** The human-readable prefix that the address was written with. */
  prefix: string;
  /** The last output of the page before; undefined for the first page. */
  after: Position | undefined;
}

/**
 * Throws a LedgerDamaged unless all of it follows from the stored root, a LedgerMoved if an import
 * replaced the ledger meanwhile.
 *
 * @param limits of a page, and how the tree is cut, for tests
 */
export async function readStatement(
  db: Database,
  finalMilestone: number,
  { address, prefix, after }: StatementQuery,
  { layout = LAYOUT, maxOutputs = MAX_OUTPUTS, maxBytes = MAX_BYTES }: StatementLimits = {},
): Promise<AddressStatement> {
  const { found, pages, list } = await readBatch(db, {
    found: selectFinal(db, finalMilestone),
    pages: selectPages(db, finalMilestone, 'outputs'),
    list: selectPage(db, {
      kinds: ALL_KINDS,
      filters: { unlockableByAddress: addressKey(address) },
      prefixes: [],
      // the list begins with the last output of the page before, and ends with one more
      pageSize: maxOutputs + 2,
      from: after ?? START,
    }),
  });
  const { ledgerIndex, state } = found;
  if (state?.built === undefined || ledgerIndex === undefined)
    return { ok: false, why: 'no final ledger', ledgerIndex, isBuilding: state !== undefined };
  const { head, parameters, built } = state;
  const missing = indexMissing(head);
  if (missing !== undefined) return missing;
  if (parameters.bech32Hrp !== prefix)
    return { ok: false, why: 'foreign', ledgerIndex, prefix: parameters.bech32Hrp };
  if (list === undefined) throw new Error('no budget bounds a list by address alone');
  const listed = list.items.filter((at) => after === undefined || cursorOf(at) > cursorOf(after));
  const tree = { db, finalMilestone, tree: 'outputs', layout } as const;
  return unlessMoved(db, head, finalMilestone, async () => {
    const stored = openStoredTree(tree, pages);
    const entries = await proveListed(stored, listed.slice(0, maxOutputs), maxBytes);
    const last = entries.length < listed.length ? listed[entries.length - 1] : undefined;
    const parts: StatementParts = {
      ...{ address, prefix, entries, ledger: built.ledger },
      after: after && cursorOf(after),
      next: last && cursorOf(last),
    };
    return { ok: true, ledgerIndex, statement: statementToJson(parts, prove(parts)) };
  });
}

/** Each entry leads to the root of the ledger, to which the final root commits (selectFinal). */
function prove(parts: StatementParts): Statement {
  try {
    return makeStatement(parts);
  } catch (error) {
    if (error instanceof StardustError) damagedTree('outputs');
    throw error;
  }
}

export interface StatementLimits {
  layout?: Layout;
  maxOutputs?: number;
  maxBytes?: number;
}

/** Returns entries of the outputs in order, as many as have N bytes together, one at least. */
async function proveListed(
  stored: StoredTree,
  listed: readonly Position[],
  maxBytes: number,
): Promise<FinalEntry[]> {
  const entries: FinalEntry[] = [];
  let bytes = 0;
  for (let from = 0; from < listed.length; from += PROVED_AT_ONCE) {
    const some = listed.slice(from, from + PROVED_AT_ONCE);
    const opened = { ...stored, groups: new Map(), leaves: new Map() };
    const ids = some.map(({ outputId }) => outputId);
    const positions = await findPositions(opened, ids);
    for (const [i, at] of some.entries()) {
      const entry = entryAt(opened, positions[i]!);
      // the index names an output that is there, and was created when the index says
      if (statementCursor(decodeLedgerOutput(entry.record)) !== cursorOf(at))
        throw new LedgerDamaged('rows of the table output_detail');
      bytes += entry.record.length;
      if (bytes > maxBytes && entries.length > 0) return entries;
      entries.push(entry);
    }
  }
  return entries;
}

function cursorOf({ createdTime, outputId }: Position): string {
  return createdTime.toString(16).padStart(8, '0') + outputId;
}
