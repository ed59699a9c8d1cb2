/**
 * The history of an NFT, the newest change first, from what is kept anyway: a milestone keeps the
 * outputs that it spent whole, so the transaction that created an output of an NFT leads to the
 * output that held the NFT before (docs/storage.md#histories-of-nfts).
 */

import { ownerAt } from '../../stardust/output.ts';
import { type AddressKey, addressKey } from '../../stardust/wire/address.ts';
import type { NftOutput } from '../../stardust/wire/output.ts';
import { type Database, isPartOf } from '../core/database.ts';
import { unlessMoved } from '../core/fence.ts';
import { selectHead } from '../core/head.ts';
import { parametersAt, selectParameters } from '../core/ledger-parameters.ts';
import { TRANSACTION_ID_DIGITS } from '../core/packs/milestone-part.ts';
import { many, readBatch } from '../core/read-batch.ts';
import {
  damagedNft,
  type HeldOutput,
  heldFromSpent,
  LAST_SPENT,
  madeBy,
  readBurn,
  SINCE,
  selectNftState,
  selectSince,
  spentOf,
} from './nft-state.ts';

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

const SPENT_COLUMNS = 's.value ->> 0, s.value ->> 4, s.value';

/** The output that holds the NFT ?1, or the last one of it. */
const NEWEST = `
  SELECT 0, o.id, o.created, NULL, 0 FROM nft t JOIN output o ON o.id = t.output WHERE t.id = ?1
  UNION ALL
  SELECT 0, ${SPENT_COLUMNS}, 0 ${LAST_SPENT}`;

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
  const { head, since, parameters, state, walked } = await readBatch(db, {
    head: selectHead(db),
    since: selectSince(db),
    parameters: selectParameters(db),
    state: selectNftState(db, nftId),
    walked: many(steps, (row) => ({
      step: row.integer('n'),
      spent: row.textOrNull('spent'),
      searched: row.integer('searched'),
    })),
  });
  if (head === undefined) return undefined;
  if (since === undefined) throw damagedNft();
  const { ledger: ledgerIndex } = head;
  const refuse = (why: 'unknown' | 'no position') => ({ ledgerIndex, ok: false as const, why });
  if (state === undefined) return refuse('unknown');
  const { unspent, changed } = state;
  if (unspent === undefined && changed < since) return refuse('unknown');
  if (from !== undefined && walked.length === 0) return refuse('no position');

  const spent = walked.map((each) => (each.spent === null ? undefined : JSON.parse(each.spent)));
  const outputs = spent.map((row) => (row === undefined ? unspent : heldFromSpent(row, nftId)));
  const isInOrder = walked.every(({ step }, i) => step === i);
  if (!isInOrder || !isWhole(outputs)) throw damagedNft();
  const oldest = outputs.at(-1)!;
  const isFull = walked.length === most || walked.at(-1)!.searched >= maxSearched;
  // what came before is not kept, so nobody knows what became of the NFT there
  const isCut = !oldest.isMint && oldest.created < since;
  if (!oldest.isMint && !isCut && !isFull) throw damagedNft();

  const burn: NftChange[] = [];
  if (from === undefined && unspent === undefined) {
    const last = spent[0];
    const facts = await unlessMoved(db, head, changed, () => readBurn(db, changed, nftId, last));
    burn.push({ kind: 'burned', index: changed, ...facts, held: undefined });
  }
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

/** Of an NFT that is not burned the newest output is unspent, of a burned one all were spent. */
function isWhole(outputs: readonly (HeldOutput | undefined)[]): outputs is HeldOutput[] {
  return outputs.length > 0 && !outputs.includes(undefined);
}

/** @param before the output that held the NFT before; undefined of a mint */
function changeOf(held: HeldOutput, before: HeldOutput | undefined): NftChange {
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
function ownerOf({ output, createdTime }: HeldOutput): AddressKey {
  return addressKey(ownerAt(output, createdTime).address);
}
