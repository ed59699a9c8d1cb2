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

/** NFTs that changed with their states now, whatever their own rows say of when they did. */
const STATES = `LEFT JOIN nft n ON n.id = c.id ${JOIN_HELD}`;

const SELECT_CHANGES = `
  SELECT ${LISTED_NFT_COLUMNS}, c.milestone FROM (
    SELECT j.value AS id, max(c.milestone) AS milestone
    FROM nft_change c CROSS JOIN json_each(c.nfts) j
    WHERE c.milestone BETWEEN ?1 AND ?3 AND (c.milestone, j.value) > (?1, ?2)
    GROUP BY j.value ORDER BY milestone, id LIMIT ?4) c ${STATES}
  ORDER BY c.milestone, c.id`;

/** The NFTs that changed last, each once. */
const SELECT_LATEST = `
  SELECT ${LISTED_NFT_COLUMNS} FROM (
    SELECT DISTINCT j.value AS id FROM nft_change c CROSS JOIN json_each(c.nfts) j
    WHERE c.milestone > ?1 ORDER BY c.milestone DESC, c.part DESC LIMIT ?2) c ${STATES}`;

/**
 * `listed`: the number of all changes; `known`: of those whose NFTs have a row. Of each the milestone
 * is compared, by `+`: one that damage has set back would end the other scan too early, and one of
 * the future stands for no change that it hides.
 */
const SELECT_LISTED = `
  SELECT count(*) AS listed, coalesce(sum(j.value IN (SELECT id FROM nft)), 0) AS known,
    json_group_array(substr(j.value, 1, ${PREFIX_LENGTH})) AS prefixes
  FROM nft_change c CROSS JOIN json_each(c.nfts) j
  WHERE c.milestone > ?1 AND +c.milestone BETWEEN ?1 + 1 AND (SELECT ledger FROM head)`;

/** The number of those stretches ?1 in which {@link SELECT_CHANGES} finds more changes, or fewer. */
const COUNT_OTHERS = `
  SELECT count(*) AS others FROM json_each(?1) s WHERE s.value ->> 2 <> (
    SELECT count(*) FROM nft_change c CROSS JOIN json_each(c.nfts) j
    WHERE c.milestone BETWEEN 1 + (s.value ->> 0) AND s.value ->> 1
      AND +c.milestone > s.value ->> 0)`;

/** How many statements each call runs. D1 limits them for each invocation of a Worker. */
export const STATEMENTS = { readState: 2, swap: 1, page: 2, count: 3, window: 4 };

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

    async requireChanges(stretches, { generation, token }) {
      const count = db.prepare(COUNT_OTHERS).bind(JSON.stringify(stretches));
      const { head, others, stored } = await readBatch(db, {
        head: selectHead(),
        others: one(count, (row) => row.integer('others')),
        stored: selectStored(),
      });
      const isOwn = generation === head?.generation && token === stored?.token;
      if (isOwn && others > 0) throw new LedgerDamaged('rows of the table nft_change');
    },

    async readNfts(after, limit) {
      const { head, rows } = await readBatch(db, {
        head: selectHead(),
        rows: many(db.prepare(SELECT_NFTS).bind(after, limit), (row) => nftFromRow(row)!),
      });
      return head && { ...head, rows };
    },

    async readWindow({ generation, from, changes, token }, maxStates) {
      const { head, rows, all, stored } = await readBatch(db, {
        head: selectHead(),
        rows: many(db.prepare(SELECT_LATEST).bind(from, maxStates), changedFromRow),
        all: one(db.prepare(SELECT_LISTED).bind(from), (row) => ({
          listed: row.integer('listed'),
          known: row.integer('known'),
          prefixes: new Set<string>(JSON.parse(row.text('prefixes'))),
        })),
        stored: selectStored(),
      });
      // of a change that damage hides KV would say what was before it
      const { listed, known, prefixes } = all;
      // the caller stops after an import, or where another publisher let changes be pruned
      const isOwn = generation === head?.generation && token === stored?.token;
      if (isOwn && changes !== undefined && head.changes !== changes + listed)
        throw new LedgerDamaged('rows of the table nft_change');
      if (isOwn && known !== listed) throw new LedgerDamaged(CHANGED);
      return head && { ...head, rows, prefixes: [...prefixes].join(''), token: stored?.token };
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
