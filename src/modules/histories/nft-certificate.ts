/**
 * Parts of a certificate of an NFT: the signed milestone that made a state of it, the block with
 * the transaction, and the path between; all of it is kept anyway
 * (docs/contract.md#certificate-of-an-nft).
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { unlessMoved } from '../../ledger/core/fence.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { payloadFromRow } from '../../ledger/core/milestone-payload.ts';
import { readOutputBytes } from '../../ledger/core/output-bytes.ts';
import { first, many, one, readBatch, readQuery } from '../../ledger/core/read-batch.ts';
import {
  readSpentOutput,
  type SpentRow,
  spentIn,
  spentSql,
} from '../../ledger/packs/milestone-part.ts';
import {
  milestoneAt,
  selectBlocksOf,
  selectCreators,
  selectReferencedBytes,
} from '../../ledger/packs/referenced-blocks.ts';
import { readOutput } from '../../ledger/read/output-status.ts';
import { equalBytes, toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { Proof } from '../../stardust/proof/proof.ts';
import { decodeMilestone } from '../../stardust/wire/decode-milestone.ts';
import { consumedIds, inputsCommitment } from '../../stardust/wire/ids.ts';
import type { Transaction } from '../../stardust/wire/transaction.ts';
import { type BlockProof, pathToApplied, proveBlock } from '../proofs/applied-milestone.ts';
import { damagedNft } from './held-outputs.ts';
import {
  createdOf,
  LAST_SPENT,
  madeBy,
  type NftStanding,
  readBurn,
  selectNftState,
  selectSince,
  transactionOf,
} from './nft-state.ts';

export interface NftCertificate {
  ledgerIndex: number;
  ok: true;
  head: Uint8Array;
  /** Payload of the milestone that applied the transaction, and the block with it. */
  milestone: Uint8Array;
  block: Uint8Array;
  /** Path from the block to the milestone's applied root. */
  appliedProof: Proof;
  /** Output that holds the NFT since, 68 hex digits; undefined if it was burned. */
  outputId: string | undefined;
  /** Outputs that a burn consumed, in the order of its inputs. */
  consumed: readonly CertifiedInput[];
}

export interface CertifiedInput {
  bytes: Uint8Array;
  isOfNft: boolean;
}

/** A change: the last one that a milestone applied, or that of a block, 64 hex digits. */
export type NamedChange = { milestone: number } | { block: string };

/**
 * `unknown`: as in histories. `not kept`: the origin of the state is not kept. `not changed`: that
 * milestone or block did not change the NFT. `no head`: the ledger has no signed milestone yet.
 */
type Refusal = 'unknown' | 'not kept' | 'not changed' | 'no head';

export type FoundCertificate = NftCertificate | { ledgerIndex: number; ok: false; why: Refusal };

const SELECT_NEWEST = 'SELECT * FROM milestone WHERE idx = (SELECT ledger FROM head)';

/**
 * Returns undefined without a ledger. Throws a LedgerDamaged if the certificate would prove
 * something else, and a LedgerMoved if its milestone was pruned meanwhile.
 *
 * @param nftId 64 hex digits
 * @param named undefined: the newest change
 */
export async function readNftCertificate(
  db: Database,
  nftId: string,
  named?: NamedChange,
): Promise<FoundCertificate | undefined> {
  const { head, newest, since, state, last } = await readBatch(db, {
    head: selectHead(db),
    newest: first(db.prepare(SELECT_NEWEST), (row) => {
      row.requireSum('milestone');
      return row.textOrNull('payload') === null ? undefined : payloadFromRow(row);
    }),
    since: selectSince(db),
    state: selectNftState(db, nftId),
    last: first(db.prepare(`SELECT s.value AS spent ${LAST_SPENT}`).bind(nftId), (row) =>
      JSON.parse(row.text('spent')),
    ),
  });
  if (head === undefined) return undefined;
  if (since === undefined) throw damagedNft();
  const { ledger: ledgerIndex } = head;
  const refuse = (why: Refusal) => ({ ledgerIndex, ok: false as const, why });
  if (state === undefined) return refuse('unknown');
  if (state.unspent === undefined && state.changed < since) return refuse('unknown');
  if (newest === undefined) return refuse('no head');
  const answer = (certified: Certified | undefined): FoundCertificate =>
    certified === undefined
      ? refuse('not changed')
      : { ledgerIndex, ok: true, head: newest.bytes, ...certified };
  if (named !== undefined && 'block' in named) {
    const proof = await proveBlock(db, named.block);
    // a milestone that came since is not in the head
    if (proof === undefined || indexOf(proof) > ledgerIndex) return refuse('not kept');
    return unlessMoved(db, head, indexOf(proof), async () =>
      answer(await certify(db, nftId, proof)),
    );
  }
  const index = named?.milestone ?? state.unspent?.created ?? state.changed;
  if (index < since) return refuse('not kept');
  if (index > ledgerIndex) return refuse('not changed');
  // pruning deletes the list of changes of the first milestone that it keeps
  return unlessMoved(db, head, index - 1, async () => {
    const blockId = await findBlock(db, nftId, index, state, last);
    if (blockId === undefined) return refuse('not changed');
    const proof = await proveBlock(db, blockId);
    if (proof === undefined || indexOf(proof) !== index) throw damagedNft();
    return answer(await certify(db, nftId, proof));
  });
}

type Certified = Omit<NftCertificate, 'ledgerIndex' | 'ok' | 'head'>;

/** Undefined where the block has no transaction that was applied and changed the NFT. */
async function certify(
  db: Database,
  nftId: string,
  proof: BlockProof,
): Promise<Certified | undefined> {
  const appliedProof = await pathToApplied(proof);
  if (appliedProof === undefined) return undefined;
  const { id, value } = transactionOf(proof.block);
  const outputId = createdOf(nftId, id, value);
  const parts = { milestone: proof.milestone, block: proof.block, appliedProof, outputId };
  if (outputId !== undefined) return { ...parts, consumed: [] };
  const consumed = await readConsumed(db, nftId, indexOf(proof), toHexDigits(id), value);
  return consumed.some(({ isOfNft }) => isOfNft) ? { ...parts, consumed } : undefined;
}

function indexOf({ milestone: payload }: BlockProof): number {
  return decodeMilestone(payload).value.index;
}

/**
 * Finds the milestone's last block whose applied transaction changed the NFT.
 *
 * @param last the NFT's last output, if it is burned
 */
async function findBlock(
  db: Database,
  nftId: string,
  index: number,
  { unspent, changed }: NftStanding,
  last: SpentRow | undefined,
): Promise<string | undefined> {
  if (unspent?.created === index) return unspent.block;
  if (unspent !== undefined || changed !== index) return findCreator(db, nftId, index);
  if (last === undefined) throw damagedNft();
  return (await readBurn(db, index, nftId, last)).blockId;
}

/** ?1 the milestone, ?2 the NFT: whether it is among those that the milestone changed. */
const SELECT_IS_LISTED = `
  SELECT EXISTS (
    SELECT 1 FROM nft_change WHERE milestone = ?1 AND instr(nfts, '"' || ?2 || '"') > 0) AS listed`;

/**
 * Finds the last block that creates an output of the NFT. Throws a LedgerDamaged if the lists of
 * the milestone's changes, which have no checksum, contradict each other.
 */
async function findCreator(
  db: Database,
  nftId: string,
  index: number,
): Promise<string | undefined> {
  const { count, listBlocks, creators, isListed } = await readBatch(db, {
    isListed: one(db.prepare(SELECT_IS_LISTED).bind(index, nftId), (row) => row.integer('listed')),
    count: first(db.prepare('SELECT * FROM milestone WHERE idx = ?1').bind(index), (row) => {
      row.requireSum('milestone');
      return row.integer('blocks');
    }),
    listBlocks: selectBlocksOf(db, milestoneAt(index)),
    creators: selectCreators(db, index, nftId),
  });
  if (count === undefined) throw new LedgerDamaged('rows of the table milestone');
  const places = new Set(creators.map((place) => place.join()));
  const block = listBlocks(count).findLast(
    ({ reason, pack, at }) => reason === 0 && places.has(`${pack},${at}`),
  )?.id;
  if ((block !== undefined) !== (isListed === 1)) throw damagedNft();
  if (block !== undefined) await requireLast(db, nftId, index, block);
  return block;
}

/** Throws a LedgerDamaged if the milestone spent what the block created: it changed again. */
async function requireLast(
  db: Database,
  nftId: string,
  index: number,
  blockId: string,
): Promise<void> {
  const bytes = await readQuery(db, selectReferencedBytes(db, blockId));
  if (bytes === undefined) throw damagedNft();
  const { id, value } = transactionOf(bytes);
  const created = createdOf(nftId, id, value);
  const output = created && (await readOutput(db, created));
  if (!output || output.spent?.index === index) throw damagedNft();
}

/** ?1 the milestone, ?2 the ID of the transaction. */
const SELECT_CONSUMED = `
  SELECT ${spentSql.whole('s.value')} AS spent FROM ${spentIn('?1')} AND instr(p.spent, '"' || ?2) > 0
    AND ${madeBy(spentSql.made('s.value'))} = ?2`;

/** Throws a LedgerDamaged unless they are what the transaction commits to (B.5). */
async function readConsumed(
  db: Database,
  nftId: string,
  index: number,
  transactionId: string,
  { essence }: Transaction,
): Promise<CertifiedInput[]> {
  const statement = db.prepare(SELECT_CONSUMED).bind(index, transactionId);
  const rows = await readQuery(
    db,
    many(statement, (row) => readSpentOutput(JSON.parse(row.text('spent')))),
  );
  const byId = new Map(rows.map((each) => [each.id, each]));
  const consumed = consumedIds(essence).map((consumedId): CertifiedInput => {
    const id = toHexDigits(consumedId);
    const output = byId.get(id);
    if (output === undefined) throw damagedNft();
    return { bytes: readOutputBytes(output.bytes, id), isOfNft: output.chain === nftId };
  });
  const commitment = inputsCommitment(consumed);
  if (!equalBytes(commitment, essence.inputsCommitment)) throw damagedNft();
  return consumed;
}
