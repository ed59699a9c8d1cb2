/**
 * Tables of a final ledger (docs/storage.md#the-final-ledger): the trees in pages and ranges, and
 * the root over both. Pages, ranges and groups are powers of two, so the hash over each is a node
 * of the tree (B.13), and a path goes through a group, a range, a page, and the pages.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { type Head, selectLedger } from '../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../ledger/core/ledger-parameters.ts';
import { JOIN_HELD, NFT_COLUMNS, nftFromRow } from '../../ledger/core/nft-rows.ts';
import { outputColumns } from '../../ledger/core/output-bytes.ts';
import { combine, first, many, type Query, type Row } from '../../ledger/core/read-batch.ts';
import { ledgerOutputFromRow } from '../../ledger/read/ledger-state-hash.ts';
import { equalBytes, Reader, toHexDigits, Writer } from '../../stardust/encoding/bytes.ts';
import {
  type FinalLedger,
  type FinalTreeName,
  finalRoot,
  KEY_BYTES,
  nftRecord,
} from '../../stardust/proof/final-ledger.ts';
import { putLedgerOutput } from '../../stardust/wire/ledger-output.ts';
import { OutputType } from '../../stardust/wire/output.ts';
import type { ProtocolParameters } from '../../stardust/wire/parameters.ts';

/** How a tree is cut; all are powers of two. */
export interface Layout {
  /** Leaves of a group. A proof reads all of them. */
  groupLeaves: number;
  /** Groups of a range, which is a row of final_range. */
  rangeGroups: number;
  /** Ranges of a page, which is a row of final_page. */
  pageRanges: number;
}

/**
 * A page has 33 KB, a range 4 KB. 8,000,000 outputs have 123 pages and 31,250 ranges. A proof
 * hashes 8 leaves and some 410 nodes; 1,000 proofs share the upper 380 of them.
 */
export const LAYOUT: Layout = { groupLeaves: 8, rangeGroups: 32, pageRanges: 256 };

/** A leaf as it is stored: hex of its key (its ID), and the bytes that are hashed. */
export interface Leaf {
  key: string;
  record: Uint8Array;
  amount: bigint;
  isNftOutput: boolean;
}

interface LeafSource {
  /** Leaves behind the key ?1, in order, up to ?2 of them. */
  behind: string;
  /** Leaves of the spans ?1: JSON of [first key, key behind the last]. */
  within: string;
  parse(row: Row): Leaf;
}

/** CROSS JOIN: span by span, each by the primary key. */
const spansOf = (table: string, id: string) =>
  `FROM json_each(?1) s CROSS JOIN ${table} ON ${id} >= s.value ->> 0 AND ${id} < s.value ->> 1`;

const OUTPUT = `SELECT ${outputColumns('o')}`;
/** Rows without an output are of NFTs that were burned. */
const NFT = `SELECT ${NFT_COLUMNS}`;
const IS_HELD = 'n.output IS NOT NULL';

export const LEAVES: Readonly<Record<FinalTreeName, LeafSource>> = {
  outputs: {
    behind: `${OUTPUT} FROM output o WHERE o.id > ?1 ORDER BY o.id LIMIT ?2`,
    within: `${OUTPUT} ${spansOf('output o', 'o.id')}`,
    parse(row) {
      const output = ledgerOutputFromRow(row);
      const writer = new Writer();
      putLedgerOutput(writer, output);
      // type and amount are the first fields of every output (A.8)
      const reader = new Reader(output.bytes);
      const isNftOutput = reader.u8() === OutputType.Nft;
      const key = row.text('id');
      return { key, record: writer.finish(), amount: reader.u64(), isNftOutput };
    },
  },
  nfts: {
    behind: `${NFT} FROM nft n ${JOIN_HELD} WHERE ${IS_HELD} AND n.id > ?1 ORDER BY n.id LIMIT ?2`,
    within: `${NFT} ${spansOf('nft n', 'n.id')} ${JOIN_HELD} WHERE ${IS_HELD}`,
    parse(row) {
      const { nft: key, output } = nftFromRow(row)!;
      const record = nftRecord(Uint8Array.fromHex(key), Uint8Array.fromHex(output!));
      return { key, record, amount: 0n, isNftOutput: false };
    },
  },
};

/** A page without its ranges. */
export interface FinalPage {
  first: string;
  last: string;
  leaves: number;
  amount: bigint;
  nfts: number;
  root: Uint8Array;
}

/** ?1 the final milestone, ?2 the tree. */
const SELECT_PAGES = `
  SELECT milestone, tree, page, first, last, leaves, amount, nfts, root, sum FROM final_page
  WHERE milestone = ?1 AND tree = ?2 ORDER BY page`;

export function selectPages(
  db: Database,
  finalMilestone: number,
  tree: FinalTreeName,
): Query<FinalPage[]> {
  return many(db.prepare(SELECT_PAGES).bind(finalMilestone, tree), (row) => {
    row.requireSum('final_page');
    return {
      first: row.text('first'),
      last: row.text('last'),
      leaves: row.integer('leaves'),
      amount: BigInt(row.text('amount')),
      nfts: row.integer('nfts'),
      root: Uint8Array.fromHex(row.text('root')),
    };
  });
}

/** A range or a group: its first key, and the hash over its leaves. */
export interface Subtree {
  first: string;
  root: Uint8Array;
}

export const writeSubtrees = (subtrees: readonly Subtree[]): string =>
  subtrees.map(({ first, root }) => first + toHexDigits(root)).join('');

const HASH_DIGITS = 64;

/** Throws a LedgerDamaged where the text is none of {@link writeSubtrees}. */
export function readSubtrees(text: string, tree: FinalTreeName): Subtree[] {
  const keyDigits = 2 * KEY_BYTES[tree];
  const length = keyDigits + HASH_DIGITS;
  if (text.length === 0 || text.length % length !== 0)
    throw new LedgerDamaged(`rows of the tree over final ${tree}`);
  return Array.from({ length: text.length / length }, (_, i) => {
    const own = text.slice(i * length, (i + 1) * length);
    return { first: own.slice(0, keyDigits), root: Uint8Array.fromHex(own.slice(keyDigits)) };
  });
}

/** A ledger that is at its final milestone. */
export interface FinalState {
  head: Head;
  parameters: ProtocolParameters;
  /** Token supply at the import: outputs and treasury hold it, whatever is announced since. */
  supply: bigint;
  /** 32 bytes. */
  milestoneId: Uint8Array;
  /** Final ledger with its root; undefined until the trees are built. */
  built: { ledger: FinalLedger; root: Uint8Array } | undefined;
}

const SELECT_ROOT = 'SELECT * FROM final_root WHERE milestone = ?1';

/** Either is undefined: `state` unless the ledger is at its final milestone. */
export interface FoundFinal {
  /** Undefined where nothing was imported. */
  ledgerIndex: number | undefined;
  state: FinalState | undefined;
}

/** Throws a LedgerDamaged where the stored root does not commit to the rest. */
export function selectFinal(db: Database, finalMilestone: number): Query<FoundFinal> {
  return combine(
    {
      at: selectLedger(db),
      announced: selectParameters(db),
      root: first(db.prepare(SELECT_ROOT).bind(finalMilestone), rootFromRow),
    },
    ({ at, announced, root: stored }) => {
      if (at?.head.ledger !== finalMilestone)
        return { ledgerIndex: at?.head.ledger, state: undefined };
      const { head, milestone } = at;
      const parameters = parametersAt(announced, head.ledger);
      const { tokenSupply: supply } = parametersAt(announced, head.start);
      const { networkName } = parameters;
      const milestoneId = Uint8Array.fromHex(milestone.id);
      const built = stored && {
        ledger: { networkName, milestoneIndex: head.ledger, milestoneId, ...stored.trees },
        root: stored.root,
      };
      if (built !== undefined && !equalBytes(finalRoot(built.ledger), built.root))
        throw new LedgerDamaged('rows of the table final_root');
      return { ledgerIndex: head.ledger, state: { head, parameters, supply, milestoneId, built } };
    },
  );
}

function rootFromRow(row: Row) {
  const tree = (count: string, root: string) => ({
    count: row.integer(count),
    root: Uint8Array.fromHex(row.text(root)),
  });
  return {
    trees: { outputs: tree('outputs', 'output_root'), nfts: tree('nfts', 'nft_root') },
    root: Uint8Array.fromHex(row.text('root')),
  };
}
