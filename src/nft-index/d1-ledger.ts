/**
 * The NFT index's view of D1 (ports.ts). Every batch is one transaction.
 */
import { type Database, runBatch } from '../ledger/core/database.ts';
import { requireSchema, SCHEMA } from '../ledger/core/schema.ts';
import { type IndexLedger, MAX_LEFT, type NftLedger, type NftRow, type Page } from './ports.ts';
import { parseState, serializeState } from './publisher-state.ts';
import { PREFIX_LENGTH } from './recent-changes.ts';

/** The publisher ignores a ledger with another schema (ledger/core/schema.ts). */
const SELECT_HEAD = `SELECT generation, start, ledger FROM head WHERE schema = ${SCHEMA}`;

const SELECT_STORED = 'SELECT token, generation, state FROM nft_index';

/** ?4: the token that is expected; NULL where there should be no row. */
const SWAP = `
  INSERT INTO nft_index (one, token, generation, state)
  SELECT 1, ?1, ?2, ?3 WHERE ?4 IS NULL OR EXISTS (SELECT 1 FROM nft_index)
  ON CONFLICT (one) DO UPDATE
  SET token = excluded.token, generation = excluded.generation, state = excluded.state
  WHERE nft_index.token = ?4`;

/**
 * Up to where changes have left the window, as the publisher's row says, whoever wrote it. NULL
 * where the row is of another ledger: its milestones are not this ledger's.
 */
const FROM = `(
  SELECT i.state ->> 'from' FROM nft_index i JOIN head h ON h.generation = i.generation)`;

/** The oldest changes that have left the window. */
const LEFT = `
  SELECT milestone, part FROM nft_change WHERE milestone <= ${FROM} ORDER BY milestone, part
  LIMIT ${MAX_LEFT}`;

/**
 * Deletes the burned NFTs that leave the window. A change leaves once every copy of the NFT's entry
 * has it, so nobody reads the row again. One that changed again within the window stays.
 */
const DELETE_BURNED = `
  DELETE FROM nft
  WHERE output IS NULL AND changed <= ${FROM} AND id IN (
    SELECT j.value FROM nft_change c CROSS JOIN json_each(c.nfts) j
    WHERE (c.milestone, c.part) IN (${LEFT}))`;

/** After {@link DELETE_BURNED}, in the same batch. */
const DELETE_LEFT = `DELETE FROM nft_change WHERE (milestone, part) IN (${LEFT})`;

/** The last change of an NFT is the one whose milestone is also in the NFT's own row. */
const LAST_CHANGES = `
  nft_change c CROSS JOIN json_each(c.nfts) j JOIN nft n ON n.id = j.value AND n.changed = c.milestone`;

const SELECT_CHANGES = `
  SELECT c.milestone, j.value AS nft, n.output FROM ${LAST_CHANGES}
  WHERE c.milestone BETWEEN ?1 AND ?3 AND (c.milestone, j.value) > (?1, ?2)
  ORDER BY c.milestone, j.value LIMIT ?4`;

const SELECT_NFTS = 'SELECT id AS nft, output FROM nft WHERE id > ?1 ORDER BY id LIMIT ?2';

const SELECT_LATEST = `
  SELECT j.value AS nft, n.output FROM ${LAST_CHANGES}
  WHERE c.milestone > ?1 ORDER BY c.milestone DESC, j.value DESC LIMIT ?2`;

const SELECT_PREFIXES = `
  SELECT group_concat(prefix, '') AS prefixes FROM (
    SELECT DISTINCT substr(j.value, 1, ${PREFIX_LENGTH}) AS prefix
    FROM nft_change c CROSS JOIN json_each(c.nfts) j WHERE c.milestone > ?1 LIMIT ?2
  )`;

const SELECT_NFT = `
  SELECT h.schema, h.ledger, n.output FROM head h LEFT JOIN nft n ON n.id = ?1`;

/** How many statements each call runs. D1 limits them for each invocation of a Worker. */
export const STATEMENTS = { readState: 2, swap: 3, page: 2, window: 4 };

export function openIndexLedger(db: Database): IndexLedger {
  return {
    async readState() {
      const [heads, rows] = await runBatch(db, [
        db.prepare(SELECT_HEAD),
        db.prepare(SELECT_STORED),
      ]);
      const head = heads![0] && {
        generation: String(heads![0].generation),
        start: Number(heads![0].start),
        ledger: Number(heads![0].ledger),
      };
      const row = rows![0];
      if (row === undefined) return { head, stored: undefined };
      const isOwn = row.generation === head?.generation;
      const state = isOwn ? parseState(String(row.state)) : undefined;
      return { head, stored: { token: String(row.token), state } };
    },

    async swap(token, next) {
      const { generation } = next.state;
      const [swapped] = await db.batch([
        db.prepare(SWAP).bind(next.token, generation, serializeState(next.state), token ?? null),
        db.prepare(DELETE_BURNED),
        db.prepare(DELETE_LEFT),
      ]);
      return swapped!.meta.changes > 0;
    },

    async readChanges(after, upTo, limit) {
      const read = await readWithHead(
        db,
        db.prepare(SELECT_CHANGES).bind(after.milestone, after.nft, upTo, limit),
      );
      if (read === undefined) return undefined;
      const rows = read.results[0]!.map((row) => ({
        ...nftFromRow(row),
        milestone: Number(row.milestone),
      }));
      return { ...read.position, rows };
    },

    async readNfts(after, limit) {
      const read = await readWithHead(db, db.prepare(SELECT_NFTS).bind(after, limit));
      return read && { ...read.position, rows: read.results[0]!.map(nftFromRow) };
    },

    async readWindow(from, maxStates, maxPrefixes) {
      const read = await readWithHead(
        db,
        db.prepare(SELECT_LATEST).bind(from, maxStates),
        db.prepare(SELECT_PREFIXES).bind(from, maxPrefixes),
        db.prepare(SELECT_STORED),
      );
      if (read === undefined) return undefined;
      const [latest, prefixes, stored] = read.results;
      return {
        ...read.position,
        rows: latest!.map(nftFromRow),
        prefixes: String(prefixes![0]!.prefixes ?? ''),
        token: stored![0] && String(stored![0].token),
      };
    },
  };
}

export function openNftLedger(db: D1Database): NftLedger {
  return {
    async readNft(nftId, latest) {
      const session = db.withSession(latest ? 'first-primary' : 'first-unconstrained');
      const row = await session.prepare(SELECT_NFT).bind(nftId).first<Record<string, unknown>>();
      if (row === null) return undefined;
      requireSchema(row.schema);
      return { ledgerIndex: Number(row.ledger), output: textOrNull(row.output) };
    },
  };
}

/** What the statements select, and where the ledger stood; undefined where there is no ledger. */
async function readWithHead(
  db: Database,
  ...statements: D1PreparedStatement[]
): Promise<
  { position: Omit<Page<never>, 'rows'>; results: Record<string, unknown>[][] } | undefined
> {
  const [heads, ...results] = await runBatch(db, [db.prepare(SELECT_HEAD), ...statements]);
  const head = heads![0];
  return (
    head && {
      position: { generation: String(head.generation), ledgerIndex: Number(head.ledger) },
      results,
    }
  );
}

function nftFromRow({ nft, output }: Record<string, unknown>): NftRow {
  return { nft: String(nft), output: textOrNull(output) };
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}
