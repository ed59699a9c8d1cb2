/** The publisher's reads and writes in D1 (ports.ts). Each batch is one transaction. */
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import type { Database } from '../ledger/core/database.ts';
import { headFromRow, ownMilestoneFromRow, SCHEMA } from '../ledger/core/head.ts';
import { JOIN_HELD, LISTED_NFT_COLUMNS, nftFromRow, SELECT_NFTS } from '../ledger/core/nft-rows.ts';
import {
  first,
  many,
  one,
  type Row,
  readAlone,
  readBatch,
  write,
} from '../ledger/core/read-batch.ts';
import { rowSum, summedColumns } from '../ledger/core/row-sum.ts';
import type { IndexLedger } from './ports.ts';
import { type IndexHead, parseState, serializeState } from './publisher-state.ts';
import { PREFIX_LENGTH } from './recent-changes.ts';

/** The publisher ignores a ledger with another schema (ledger/core/head.ts). */
const SELECT_HEAD = `
  SELECT h.*, ${summedColumns('milestone', 'm', 'milestone_')}
  FROM head h LEFT JOIN milestone m ON m.idx = h.ledger WHERE h.schema = ${SCHEMA}`;

/** SQL of the token as text, whatever damage made of it. */
const TOKEN = "coalesce(CAST(nft_index.token AS TEXT), '')";

/** Selects the row that {@link SWAP} writes: damage may have given another one a key of its own. */
const SELECT_STORED = `SELECT ${TOKEN} AS token, generation, state, sum FROM nft_index WHERE one = 1`;

/** ?5: the token that is expected; NULL where there should be no row. */
const SWAP = `
  INSERT INTO nft_index (one, token, generation, state, sum)
  SELECT 1, ?1, ?2, ?3, ?4 WHERE ?5 IS NULL OR EXISTS (SELECT 1 FROM nft_index WHERE one = 1)
  ON CONFLICT (one) DO UPDATE SET token = excluded.token, generation = excluded.generation,
    state = excluded.state, sum = excluded.sum
  WHERE ${TOKEN} = ?5`;

/** SQL: each NFT of these changes once, with the last of its milestones, and their number. */
const changed = (condition: string) => `
  SELECT j.value AS id, max(c.milestone) AS milestone, count(*) AS changes
  FROM nft_change c CROSS JOIN json_each(c.nfts) j WHERE ${condition} GROUP BY j.value`;

/** NFTs that changed with their states now, whatever their own rows say of when they did. */
const STATES = `LEFT JOIN nft n ON n.id = c.id ${JOIN_HELD}`;

const SELECT_CHANGES = `
  SELECT ${LISTED_NFT_COLUMNS}, c.milestone FROM (
    ${changed('c.milestone BETWEEN ?1 AND ?3 AND (c.milestone, j.value) > (?1, ?2)')}
    ORDER BY milestone, id LIMIT ?4) c ${STATES}
  ORDER BY c.milestone, c.id`;

/** `listed`: the number of all changes. */
const SELECT_LATEST = `
  SELECT ${LISTED_NFT_COLUMNS}, c.listed FROM (
    SELECT id, sum(changes) OVER () AS listed FROM (${changed('c.milestone > ?1')})
    ORDER BY milestone DESC, id DESC LIMIT ?2) c ${STATES}`;

/** `known`: the number of changes whose NFTs have a row. */
const SELECT_PREFIXES = `
  SELECT group_concat(prefix, '') AS prefixes, coalesce(sum(known), 0) AS known FROM (
    SELECT substr(j.value, 1, ${PREFIX_LENGTH}) AS prefix, count(n.id) AS known
    FROM nft_change c CROSS JOIN json_each(c.nfts) j
      LEFT JOIN nft n ON n.id = j.value
    WHERE c.milestone > ?1 GROUP BY prefix)`;

/** How many statements each call runs. D1 limits them for each invocation of a Worker. */
export const STATEMENTS = { readState: 2, swap: 1, page: 2, window: 4 };

export function openIndexLedger(db: Database): IndexLedger {
  const selectHead = () => first(db.prepare(SELECT_HEAD), positionFromRow);
  const selectStored = () => first(db.prepare(SELECT_STORED), storedFromRow);
  return {
    async readState() {
      const { head, stored } = await readBatch(db, { head: selectHead(), stored: selectStored() });
      if (stored === undefined) return { head, stored };
      const { token, generation, state } = stored;
      const isOwn = generation === head?.generation;
      return { head, stored: { token, state: isOwn ? parseState(state) : undefined } };
    },

    async swap(token, next) {
      const cells = [next.token, next.state.generation, serializeState(next.state)];
      const swap = db.prepare(SWAP).bind(...cells, rowSum(cells), token ?? null);
      return (await readAlone(write([swap])))[0]! > 0;
    },

    async readChanges(after, upTo, limit) {
      const { head, rows } = await readBatch(db, {
        head: selectHead(),
        rows: many(
          db.prepare(SELECT_CHANGES).bind(after.milestone, after.nft, upTo, limit),
          (row) => ({ ...changedFromRow(row), milestone: row.integer('milestone') }),
        ),
      });
      return head && { ...head, rows };
    },

    async readNfts(after, limit) {
      const { head, rows } = await readBatch(db, {
        head: selectHead(),
        rows: many(db.prepare(SELECT_NFTS).bind(after, limit), (row) => nftFromRow(row)!),
      });
      return head && { ...head, rows };
    },

    async readWindow({ generation, from, changes, token }, maxStates) {
      const { head, latest, others, stored } = await readBatch(db, {
        head: selectHead(),
        latest: many(db.prepare(SELECT_LATEST).bind(from, maxStates), (row) => ({
          ...changedFromRow(row),
          listed: row.integer('listed'),
        })),
        others: one(db.prepare(SELECT_PREFIXES).bind(from), (row) => ({
          prefixes: row.textOrNull('prefixes') ?? '',
          known: row.integer('known'),
        })),
        stored: selectStored(),
      });
      // of a change that damage hides KV would say what was before it
      const listed = latest[0]?.listed ?? 0;
      // the caller stops after an import, or where another publisher let changes be pruned
      const isOwn = generation === head?.generation && token === stored?.token;
      if (isOwn && changes !== undefined && head.changes !== changes + listed)
        throw new LedgerDamaged('rows of the table nft_change');
      if (isOwn && others.known !== listed) throw new LedgerDamaged(CHANGED);
      const rows = latest.map(({ nft, output }) => ({ nft, output }));
      return head && { ...head, rows, prefixes: others.prefixes, token: stored?.token };
    },
  };
}

const CHANGED = 'rows of the tables nft_change and nft';

/** Throws a LedgerDamaged where an NFT that changed has no row. */
function changedFromRow(row: Row) {
  const state = nftFromRow(row);
  if (state === undefined) throw new LedgerDamaged(CHANGED);
  return state;
}

/** A damaged row is about no ledger: the publisher begins anew, as after an import. */
function storedFromRow(row: Row) {
  const token = row.text('token');
  try {
    row.requireSum('nft_index');
  } catch {
    return { token, generation: '', state: '' };
  }
  return { token, generation: row.text('generation'), state: row.text('state') };
}

function positionFromRow(row: Row): IndexHead {
  const { generation, ledger } = headFromRow(row);
  return { generation, ledgerIndex: ledger, changes: ownMilestoneFromRow(row).nftChanges };
}
