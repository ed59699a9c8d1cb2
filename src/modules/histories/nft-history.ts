/**
 * The history of an NFT, the newest change first, from what is kept anyway: a milestone keeps its
 * spent outputs whole, so the transaction that created an output of an NFT leads to the output
 * before. Changes before the kept milestones are in nft_past, if HISTORY is `all`
 * (docs/storage.md#histories-of-nfts).
 */
import type { Database } from '../../ledger/core/database.ts';
import { unlessMoved } from '../../ledger/core/fence.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { parametersAt, selectParameters } from '../../ledger/core/ledger-parameters.ts';
import { many, readBatch } from '../../ledger/core/read-batch.ts';
import { isPartOf, spentSql, TRANSACTION_ID_DIGITS } from '../../ledger/packs/milestone-part.ts';
import { ownerAt } from '../../stardust/output.ts';
import { type AddressKey, addressKey } from '../../stardust/wire/address.ts';
import type { UnlockCondition } from '../../stardust/wire/unlock-condition.ts';
import {
  damagedNft,
  type HeldOutput,
  heldFromSpent,
  leastPastKey,
  PAST_COLUMNS,
  type PastOutput,
  pastFromRow,
} from './held-outputs.ts';
import {
  LAST_SPENT,
  madeBy,
  readBurn,
  SINCE,
  selectNftState,
  selectSince,
  spentOf,
} from './nft-state.ts';

export const MAX_HISTORY = 100;

/** Characters of spent outputs that a page searches, and those of one milestone more. */
const MAX_SEARCHED = 16_000_000;

export interface NftChange {
  /** `transferred`: the owner is another one than that of the change before. */
  kind: 'minted' | 'transferred' | 'changed' | 'burned';
  index: number;
  /** Unix seconds of the milestone. */
  timestamp: number;
  /** IDs of 64 hex digits. */
  transactionId: string;
  blockId: string;
  /** Output that held the NFT from then on, its ID of 68 hex digits; undefined if it was burned. */
  held: { outputId: string; unlockConditions: UnlockCondition[] } | undefined;
}

/** Beginning of a page: the transaction that created this output, which this milestone spent. */
export interface HistoryPosition {
  spentIn: number;
  /** 68 hex digits. */
  outputId: string;
}

/** `unknown`: no such NFT, or burned long ago. `no position`: where it begins is not kept. */
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

const SPENT_COLUMNS = `${spentSql.id('s.value')}, ${spentSql.created('s.value')}, s.value`;

/** The output that holds the NFT ?1, or the last one of it. */
const NEWEST = `
  SELECT 0, o.id, o.created, NULL, 0 FROM nft t JOIN output o ON o.id = t.output WHERE t.id = ?1
  UNION ALL
  SELECT 0, ${SPENT_COLUMNS}, 0 ${LAST_SPENT}`;

/** The output ?5, which the milestone ?4 spent. */
const AT_POSITION = `
  SELECT 0, ${SPENT_COLUMNS}, 0 ${spentOf('?4')} AND ?4 >= ${SINCE} AND ${spentSql.id('s.value')} = ?5`;

/**
 * SQL: from an output of the NFT ?1 to those before it, at most ?2. The milestone that created one
 * spent the one before. It goes on until ?3 characters are searched.
 */
const walk = (from: string) => `
  WITH RECURSIVE step (n, id, created, spent, searched) AS (
    SELECT * FROM (${from})
    UNION ALL
    SELECT w.n + 1, ${SPENT_COLUMNS}, w.searched + (
      SELECT sum(octet_length(q.spent)) FROM milestone_part q WHERE ${isPartOf('q.key', 'w.created')})
    ${spentOf('w.created', 'step w CROSS JOIN')}
      AND ${madeBy(spentSql.made('s.value'))} = ${madeBy('w.id')}
      AND w.created >= ${SINCE} AND w.searched < ?3
    LIMIT ?2)
  SELECT n, ${spentSql.whole('spent')} AS spent, searched FROM step ORDER BY n`;

const FROM_NEWEST = walk(NEWEST);
const FROM_POSITION = walk(AT_POSITION);

/** Up to ?2 rows of the NFT ?1 in nft_past, the newest first. */
const selectPast = (condition: string) => `
  SELECT ${PAST_COLUMNS} FROM nft_past
  WHERE id >= ${leastPastKey('SELECT history FROM head')} AND id < ${leastPastKey(SINCE)}
    AND ${condition}
  ORDER BY nft_past.id DESC LIMIT ?2`;

const PAST_FROM_NEWEST = selectPast('true');

/** SQL: from the output ?4 on, if the milestone ?3 that spent it is not kept. */
const PAST_FROM_POSITION = selectPast(`(?3 >= ${SINCE} OR id <= (
  SELECT id FROM nft_past
  WHERE id >= ${leastPastKey('?3')} AND id < ${leastPastKey('?3 + 1')} AND output = unhex(?4)))`);

/**
 * Returns undefined without a ledger. Throws a LedgerDamaged if an output that must be kept is
 * missing, and a LedgerMoved if one was pruned meanwhile.
 *
 * @param nftId 64 hex digits
 * @param pageSize most changes; a page with fewer may have a next one
 * @param from beginning of the page; undefined: the newest change
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
  const pastSteps =
    from === undefined
      ? db.prepare(PAST_FROM_NEWEST).bind(nftId, most)
      : db.prepare(PAST_FROM_POSITION).bind(nftId, most, from.spentIn, from.outputId);
  const { head, keptSince, parameters, state, walked, past } = await readBatch(db, {
    head: selectHead(db),
    keptSince: selectSince(db),
    parameters: selectParameters(db),
    state: selectNftState(db, nftId),
    walked: many(steps, (row) => ({
      step: row.integer('n'),
      spent: row.textOrNull('spent'),
      searched: row.integer('searched'),
    })),
    past: many(pastSteps, pastFromRow),
  });
  if (head === undefined) return undefined;
  if (keptSince === undefined) throw damagedNft();
  const { ledger: ledgerIndex } = head;
  const since = head.history || keptSince;
  const refuse = (why: 'unknown' | 'no position') => ({ ledgerIndex, ok: false as const, why });
  // of one that was burned long ago nothing else is kept
  const standing = state ?? (past[0] && { unspent: undefined, changed: past[0].spentIn });
  if (standing === undefined) return refuse('unknown');
  const { unspent, changed } = standing;
  if (unspent === undefined && changed < since) return refuse('unknown');
  const begun = from !== undefined && from.spentIn < keptSince ? past : walked;
  if (from !== undefined && begun.length === 0) return refuse('no position');

  const spent = walked.map((each) => (each.spent === null ? undefined : JSON.parse(each.spent)));
  const kept = spent.map((row) => (row === undefined ? unspent : heldFromSpent(row, nftId)));
  const isInOrder = walked.every(({ step }, i) => step === i);
  if (!isInOrder || !isWhole(kept)) throw damagedNft();
  const oldestKept = kept.at(-1);
  const isBeyond = oldestKept === undefined || isCutAt(keptSince, oldestKept);
  const before = isBeyond ? past.slice(0, most - kept.length) : [];
  const outputs = [...kept, ...before];
  const oldest = outputs.at(-1);
  if (oldest === undefined || !isChain(outputs, before)) throw damagedNft();
  const isFull = outputs.length === most || (!isBeyond && walked.at(-1)!.searched >= maxSearched);
  // what came before is not kept, so nobody knows what became of the NFT there
  const isCut = isCutAt(since, oldest);
  if (!oldest.isMint && !isCut && !isFull) throw damagedNft();

  const burn: NftChange[] = [];
  if (from === undefined && unspent === undefined) {
    const facts =
      oldestKept === undefined
        ? past[0]!.burn
        : await unlessMoved(db, head, changed, () => readBurn(db, changed, nftId, spent[0]));
    if (facts === undefined) throw damagedNft();
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

/** Whether what held the NFT before this output was before the first known milestone. */
function isCutAt(since: number, { isMint, created }: HeldOutput): boolean {
  return !isMint && created < since;
}

/** Whether the transaction that spent each of `before` created the output in front of it. */
function isChain(outputs: readonly HeldOutput[], before: readonly PastOutput[]): boolean {
  return before.every(({ spender, spentIn }, i) => {
    const after = outputs[outputs.length - before.length + i - 1];
    return after === undefined || (after.id.startsWith(spender) && after.created === spentIn);
  });
}

/** Whether the newest output is unspent, or, of a burned NFT, all were spent. */
const isWhole = (outputs: readonly (HeldOutput | undefined)[]): outputs is HeldOutput[] =>
  !outputs.includes(undefined);

/** @param before the output that held the NFT before; undefined of a mint */
function changeOf(held: HeldOutput, before: HeldOutput | undefined): NftChange {
  const { id, unlockConditions, isMint, block, created, createdTime } = held;
  const isSameOwner = before !== undefined && ownerOf(before) === ownerOf(held);
  return {
    kind: isMint ? 'minted' : isSameOwner ? 'changed' : 'transferred',
    index: created,
    timestamp: createdTime,
    transactionId: id.slice(0, TRANSACTION_ID_DIGITS),
    blockId: block,
    held: { outputId: id, unlockConditions },
  };
}

/** Returns the owner by the change: a later expiration is no change (docs/contract.md). */
const ownerOf = (output: HeldOutput): AddressKey =>
  addressKey(ownerAt(output, output.createdTime).address);
