/** The publisher's reads and writes in D1 (ports.ts). Each batch is one transaction. */
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import type { Database } from '../ledger/core/database.ts';
import { type Head, headFromRow, SCHEMA } from '../ledger/core/head.ts';
import { JOIN_HELD, LISTED_NFT_COLUMNS, NFT_COLUMNS, nftFromRow } from '../ledger/core/nft-rows.ts';
import {
  first,
  many,
  one,
  type Row,
  readAlone,
  readBatch,
  write,
} from '../ledger/core/read-batch.ts';
import { rowSum } from '../ledger/core/row-sum.ts';
import type { IndexLedger } from './ports.ts';
import { parseState, serializeState } from './publisher-state.ts';
import { PREFIX_LENGTH } from './recent-changes.ts';

/** The publisher ignores a ledger with another schema (ledger/core/head.ts). */
const SELECT_HEAD = `SELECT * FROM head WHERE schema = ${SCHEMA}`;

/** SQL of the token as text, whatever damage made of it. */
const TOKEN = "coalesce(CAST(nft_index.token AS TEXT), '')";

const SELECT_STORED = `SELECT ${TOKEN} AS token, generation, state, sum FROM nft_index`;

/** ?5: the token that is expected; NULL where there should be no row. */
const SWAP = `
  INSERT INTO nft_index (one, token, generation, state, sum)
  SELECT 1, ?1, ?2, ?3, ?4 WHERE ?5 IS NULL OR EXISTS (SELECT 1 FROM nft_index)
  ON CONFLICT (one) DO UPDATE SET token = excluded.token, generation = excluded.generation,
    state = excluded.state, sum = excluded.sum
  WHERE ${TOKEN} = ?5`;

/** SQL: the milestone from which on changes are counted: ?1, or the first that is kept. */
const COUNTED_FROM = 'max(?1, (SELECT min(idx) FROM milestone))';

/** SQL: each NFT of these changes once, with the last of its milestones among them, and how many count. */
const changed = (condition: string) => `
  SELECT j.value AS id, max(c.milestone) AS milestone,
    count(*) FILTER (WHERE c.milestone > ${COUNTED_FROM}) AS changes
  FROM nft_change c CROSS JOIN json_each(c.nfts) j WHERE ${condition} GROUP BY j.value`;

/** NFTs that changed with their states now, whatever their own rows say of when they did. */
const STATES = `LEFT JOIN nft n ON n.id = c.id ${JOIN_HELD}`;

const SELECT_CHANGES = `
  SELECT ${LISTED_NFT_COLUMNS}, c.milestone FROM (
    ${changed('c.milestone BETWEEN ?1 AND ?3 AND (c.milestone, j.value) > (?1, ?2)')}
    ORDER BY milestone, id LIMIT ?4) c ${STATES}
  ORDER BY c.milestone, c.id`;

const SELECT_NFTS = `
  SELECT ${NFT_COLUMNS} FROM nft n ${JOIN_HELD} WHERE n.id > ?1 ORDER BY n.id LIMIT ?2`;

/** `listed`: all changes that count. */
const SELECT_LATEST = `
  SELECT ${LISTED_NFT_COLUMNS}, c.listed FROM (
    SELECT id, sum(changes) OVER () AS listed FROM (${changed('c.milestone > ?1')})
    ORDER BY milestone DESC, id DESC LIMIT ?2) c ${STATES}`;

/** How many there should be. */
const SELECT_COUNT = `
  SELECT m.nft_changes - (SELECT nft_changes FROM milestone WHERE idx = ${COUNTED_FROM}) AS counted
  FROM head h JOIN milestone m ON m.idx = h.ledger`;

const SELECT_PREFIXES = `
  SELECT group_concat(prefix, '') AS prefixes FROM (
    SELECT DISTINCT substr(j.value, 1, ${PREFIX_LENGTH}) AS prefix
    FROM nft_change c CROSS JOIN json_each(c.nfts) j WHERE c.milestone > ?1 LIMIT ?2
  )`;

/** How many statements each call runs. D1 limits them for each invocation of a Worker. */
export const STATEMENTS = { readState: 2, swap: 1, page: 2, window: 5 };

export function openIndexLedger(db: Database): IndexLedger {
  const selectHead = () => first(db.prepare(SELECT_HEAD), headFromRow);
  const selectStored = () => first(db.prepare(SELECT_STORED), storedFromRow);
  return {
    async readState() {
      const { at, stored } = await readBatch(db, { at: selectHead(), stored: selectStored() });
      const head = at && { generation: at.generation, ledger: at.ledger };
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
      return head && { ...positionOf(head), rows };
    },

    async readNfts(after, limit) {
      const { head, rows } = await readBatch(db, {
        head: selectHead(),
        rows: many(db.prepare(SELECT_NFTS).bind(after, limit), (row) => nftFromRow(row)!),
      });
      return head && { ...positionOf(head), rows };
    },

    async readWindow(from, maxStates, maxPrefixes) {
      const { head, latest, counted, prefixes, stored } = await readBatch(db, {
        head: selectHead(),
        latest: many(db.prepare(SELECT_LATEST).bind(from, maxStates), (row) => ({
          ...changedFromRow(row),
          listed: row.integer('listed'),
        })),
        counted: first(db.prepare(SELECT_COUNT).bind(from), (row) => row.integerOrNull('counted')),
        prefixes: one(
          db.prepare(SELECT_PREFIXES).bind(from, maxPrefixes),
          (row) => row.textOrNull('prefixes') ?? '',
        ),
        stored: selectStored(),
      });
      // of a change that damage hides KV would say what was before it
      if ((counted ?? null) !== null && counted !== (latest[0]?.listed ?? 0))
        throw new LedgerDamaged('rows of the table nft_change');
      const rows = latest.map(({ nft, output }) => ({ nft, output }));
      return head && { ...positionOf(head), rows, prefixes, token: stored?.token };
    },
  };
}

/** Throws a LedgerDamaged where an NFT that changed has no row. */
function changedFromRow(row: Row) {
  const state = nftFromRow(row);
  if (state === undefined) throw new LedgerDamaged('rows of the tables nft_change and nft');
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

function positionOf({ generation, ledger }: Head) {
  return { generation, ledgerIndex: ledger };
}
