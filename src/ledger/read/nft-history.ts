/**
 * The history of an NFT, the newest change first, from what is kept anyway: a milestone keeps the
 * outputs that it spent whole, so the transaction that created an output of an NFT leads to the
 * output that held the NFT before (docs/storage.md#histories-of-nfts).
 */

import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { ownerAt } from '../../stardust/owner.ts';
import { type AddressKey, addressKey } from '../../stardust/wire/address.ts';
import { parseBlock } from '../../stardust/wire/block.ts';
import { decodeOutput, nftIdOf, outputId } from '../../stardust/wire/ids.ts';
import { type NftOutput, OutputType } from '../../stardust/wire/output.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, isPartOf } from '../core/database.ts';
import { unlessMoved } from '../core/fence.ts';
import { type Head, selectHead } from '../core/head.ts';
import { parametersAt, selectParameters } from '../core/ledger-parameters.ts';
import { JOIN_HELD, NFT_COLUMNS, nftFromRow } from '../core/nft-row.ts';
import {
  outputColumns,
  readOutputBytes,
  type UnspentOutput,
  unspentFromRow,
} from '../core/output-bytes.ts';
import { readSpentOutput, type SpentRow, TRANSACTION_ID_DIGITS } from '../core/packs.ts';
import { first, many, type Row, readBatch, readQuery } from '../core/read-batch.ts';
import { readOutput } from './output-status.ts';
import { selectReferencedBytes } from './referenced-blocks.ts';
import { requireBlockId } from './stored-block.ts';

/** The most changes of a page. */
export const MAX_HISTORY = 100;

/** Characters of spent outputs that a page searches, and those of one milestone more. */
const MAX_SEARCHED = 16_000_000;

export interface NftChange {
  /** `transferred`: the owner is another one than that of the change before. */
  kind: 'minted' | 'transferred' | 'changed' | 'burned';
  /** Index of the milestone. */
  index: number;
  /** Of the milestone, Unix seconds. */
  timestamp: number;
  /** IDs of 64 hex digits. */
  transactionId: string;
  blockId: string;
  /** What held the NFT from then on, its ID of 68 hex digits; undefined where it was burned. */
  held: { outputId: string; output: NftOutput } | undefined;
}

/** Where a page begins: with the transaction that created this output, which this milestone spent. */
export interface HistoryPosition {
  spentIn: number;
  /** 68 hex digits. */
  outputId: string;
}

/**
 * `unknown`: no NFT with this ID was ever here, or it was burned before what is kept. `no position`:
 * what is kept has not the output where the page begins.
 */
export type NftHistory =
  | {
      ledgerIndex: number;
      ok: true;
      /** The human-readable prefix of the network's addresses. */
      prefix: string;
      /** The first milestone from which on all changes are known. */
      since: number;
      /** Whether the last of the changes is the mint. */
      complete: boolean;
      changes: NftChange[];
      next: HistoryPosition | undefined;
    }
  | { ledgerIndex: number; ok: false; why: 'unknown' | 'no position' };

/**
 * The milestone after the first that is kept, as for changes of NFTs: of those burned by that one
 * itself nobody knows any more (write/prune.ts), and a snapshot's own milestone spent nothing here.
 */
const SINCE = '(SELECT min(idx) + 1 FROM milestone)';
const SELECT_OLDEST = 'SELECT * FROM milestone ORDER BY idx LIMIT 1';

/** The NFT ?1, with the milestone of its last change. */
const SELECT_STATE = `
  SELECT ${NFT_COLUMNS}, ${outputColumns('o', { prefix: 'output_' })}, n.changed
  FROM nft n ${JOIN_HELD} LEFT JOIN output o ON o.id = n.output
  WHERE n.id = ?1`;

/** SQL of the ID of the transaction that created or spent an output, as a part has it. */
const madeBy = (id: string) => `substr(${id}, 1, ${TRANSACTION_ID_DIGITS})`;

/** SQL of the outputs of the NFT ?1 that this milestone spent. Other parts are not parsed. */
const spentOf = (milestone: string, from = '') => `
  FROM ${from} milestone_part p CROSS JOIN json_each(p.spent) s
  WHERE ${isPartOf('p.key', milestone)} AND instr(p.spent, '"' || ?1 || '"') > 0
    AND s.value ->> 2 = ?1`;

const SPENT_COLUMNS = 's.value ->> 0, s.value ->> 4, s.value';

/** The milestone that burned the NFT ?1, NULL where none did or it is not kept. */
const BURNED_IN = `(SELECT changed FROM nft WHERE id = ?1 AND output IS NULL AND changed >= ${SINCE})`;

/** Of an unspent NFT its output; of a burned one the last, whose spender created no other of it. */
const NEWEST = `
  SELECT 0, o.id, o.created, NULL, 0 FROM nft t JOIN output o ON o.id = t.output WHERE t.id = ?1
  UNION ALL
  SELECT 0, ${SPENT_COLUMNS}, 0 ${spentOf(BURNED_IN)} AND ${madeBy('s.value ->> 6')} NOT IN (
    SELECT ${madeBy('s.value ->> 0')} ${spentOf(BURNED_IN)})`;

/** The output ?5, which the milestone ?4 spent. */
const AT_POSITION = `
  SELECT 0, ${SPENT_COLUMNS}, 0 ${spentOf('?4')} AND ?4 >= ${SINCE} AND s.value ->> 0 = ?5`;

/**
 * From an output of the NFT ?1 to those before it, ?2 of them at most. The milestone that created
 * one spent the one before. It goes on until ?3 characters are searched.
 */
const walk = (from: string) => `
  WITH RECURSIVE step (n, id, created, spent, searched) AS (
    SELECT * FROM (${from})
    UNION ALL
    SELECT w.n + 1, ${SPENT_COLUMNS}, w.searched + (
      SELECT sum(octet_length(q.spent)) FROM milestone_part q WHERE ${isPartOf('q.key', 'w.created')})
    ${spentOf('w.created', 'step w CROSS JOIN')}
      AND ${madeBy('s.value ->> 6')} = ${madeBy('w.id')}
      AND w.created >= ${SINCE} AND w.searched < ?3
    LIMIT ?2)
  SELECT n, spent, searched FROM step ORDER BY n`;

const FROM_NEWEST = walk(NEWEST);
const FROM_POSITION = walk(AT_POSITION);

/** An output that held the NFT. IDs are hex. */
interface Held {
  id: string;
  output: NftOutput;
  /** Whether it is the first one. */
  isMint: boolean;
  block: string;
  created: number;
  createdTime: number;
}

interface State {
  /** Undefined of a burned NFT. */
  unspent: Held | undefined;
  /** The milestone of the last change. */
  changed: number;
}

/**
 * Undefined where there is no ledger. Throws a LedgerDamaged where an output that must be kept is
 * missing, and a LedgerMoved where one was pruned meanwhile.
 *
 * @param nftId 64 hex digits
 * @param pageSize changes at most; a page with fewer may have a next one
 * @param from where the page begins; undefined: with the newest change
 */
export async function readNftHistory(
  db: Database,
  nftId: string,
  pageSize: number,
  from?: HistoryPosition,
  maxSearched = MAX_SEARCHED,
): Promise<NftHistory | undefined> {
  // the output before the last one of the page tells what the last change is
  const most = pageSize + 1;
  const steps =
    from === undefined
      ? db.prepare(FROM_NEWEST).bind(nftId, most, maxSearched)
      : db.prepare(FROM_POSITION).bind(nftId, most, maxSearched, from.spentIn, from.outputId);
  const {
    head,
    oldest: kept,
    parameters,
    state,
    walked,
  } = await readBatch(db, {
    head: selectHead(db),
    oldest: first(db.prepare(SELECT_OLDEST), (row) => {
      row.requireSum('milestone');
      return row.integer('idx');
    }),
    parameters: selectParameters(db),
    state: first(db.prepare(SELECT_STATE).bind(nftId), (row) => stateFromRow(row, nftId)),
    walked: many(steps, (row) => ({
      step: row.integer('n'),
      spent: row.textOrNull('spent'),
      searched: row.integer('searched'),
    })),
  });
  if (head === undefined) return undefined;
  if (kept === undefined) throw new LedgerDamaged('rows of the table milestone');
  const since = kept + 1;
  const { ledger: ledgerIndex } = head;
  const refuse = (why: 'unknown' | 'no position') => ({ ledgerIndex, ok: false as const, why });
  if (state === undefined) return refuse('unknown');
  const { unspent, changed } = state;
  if (unspent === undefined && changed < since) return refuse('unknown');
  if (from !== undefined && walked.length === 0) return refuse('no position');

  const spent = walked.map((each) => (each.spent === null ? undefined : JSON.parse(each.spent)));
  const outputs = spent.map((row) => (row === undefined ? unspent : heldFromSpent(row, nftId)));
  const isInOrder = walked.every(({ step }, i) => step === i);
  if (!isInOrder || !isWhole(outputs)) throw damaged();
  const oldest = outputs.at(-1)!;
  const isFull = walked.length === most || walked.at(-1)!.searched >= maxSearched;
  // what came before is not kept, so nobody knows what became of the NFT there
  const isCut = !oldest.isMint && oldest.created < since;
  if (!oldest.isMint && !isCut && !isFull) throw damaged();

  const burn =
    from === undefined && unspent === undefined
      ? [await readBurn(db, head, changed, nftId, spent[0])]
      : [];
  const known = oldest.isMint ? outputs : outputs.slice(0, -1);
  const changes = [...burn, ...known.map((held, i) => changeOf(held, outputs[i + 1]))].slice(
    0,
    pageSize,
  );
  const shown = changes.length - burn.length;
  const rest = outputs[shown];
  const isLast = rest === undefined || (isCut && rest === oldest);
  return {
    ledgerIndex,
    ok: true,
    prefix: parametersAt(parameters, ledgerIndex).bech32Hrp,
    since,
    complete: rest === undefined,
    changes,
    next: isLast
      ? undefined
      : { spentIn: outputs[shown - 1]?.created ?? changed, outputId: rest.id },
  };
}

function damaged(): LedgerDamaged {
  return new LedgerDamaged('outputs that NFTs had');
}

/** Of an NFT that is not burned the newest output is unspent, of a burned one all were spent. */
function isWhole(outputs: readonly (Held | undefined)[]): outputs is Held[] {
  return outputs.length > 0 && !outputs.includes(undefined);
}

function stateFromRow(row: Row, nftId: string): State {
  const { output } = nftFromRow(row)!;
  const changed = row.integer('changed');
  if (output === null) return { unspent: undefined, changed };
  return { unspent: heldOf(unspentFromRow(row, 'output_'), nftId), changed };
}

function heldFromSpent(row: SpentRow, nftId: string): Held {
  const { bytes, ...facts } = readSpentOutput(row);
  return heldOf({ ...facts, bytes: readOutputBytes(bytes, facts.id) }, nftId);
}

function heldOf({ id, bytes, block, created, createdTime }: UnspentOutput, nftId: string): Held {
  const output = decodeOutput(bytes);
  if (
    output.type !== OutputType.Nft ||
    toHexDigits(nftIdOf(output, Uint8Array.fromHex(id))) !== nftId
  )
    throw damaged();
  const isMint = output.nftId.every((byte) => byte === 0);
  return { id, output, isMint, block, created, createdTime };
}

/** @param before the output that held the NFT before; undefined of a mint */
function changeOf(held: Held, before: Held | undefined): NftChange {
  const { id, output, isMint, block, created, createdTime } = held;
  const isSameOwner = before !== undefined && ownerOf(before) === ownerOf(held);
  return {
    kind: isMint ? 'minted' : isSameOwner ? 'changed' : 'transferred',
    index: created,
    timestamp: createdTime,
    transactionId: id.slice(0, TRANSACTION_ID_DIGITS),
    blockId: block,
    held: { outputId: id, output },
  };
}

/** As its change says: an expiration that passes later is no change (docs/contract.md). */
function ownerOf({ output, createdTime }: Held): AddressKey {
  return addressKey(ownerAt(output, createdTime).address);
}

/**
 * What burned the NFT: a transaction that consumed its last output and created none of it, as its
 * block shows.
 *
 * @param index of the milestone that applied it
 * @param last the NFT's last output
 */
async function readBurn(
  db: Database,
  head: Head,
  index: number,
  nftId: string,
  last: SpentRow,
): Promise<NftChange> {
  const { transaction: transactionId } = readSpentOutput(last);
  return unlessMoved(db, head, index, async () => {
    // a transaction creates an output at least, which names its block
    const made = await readOutput(db, `${transactionId}0000`);
    if (made?.bookedIndex !== index) throw damaged();
    const { blockId, bookedTimestamp: timestamp } = made;
    const bytes = await readQuery(db, selectReferencedBytes(db, blockId));
    if (bytes === undefined) throw damaged();
    requireBlockId(bytes, blockId);
    if (createsNft(bytes, transactionId, nftId)) throw damaged();
    return { kind: 'burned', index, timestamp, transactionId, blockId, held: undefined };
  });
}

function createsNft(block: Uint8Array, transactionId: string, nftId: string): boolean {
  const result = parseBlock(block);
  if (!result.ok || result.parsed.transaction === undefined) throw damaged();
  const { id, value } = result.parsed.transaction;
  if (toHexDigits(id) !== transactionId) throw damaged();
  return value.essence.outputs.some(
    (output, i) =>
      output.type === OutputType.Nft && toHexDigits(nftIdOf(output, outputId(id, i))) === nftId,
  );
}
