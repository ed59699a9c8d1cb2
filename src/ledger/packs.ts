/**
 * Packs: what D1 keeps of many blocks in one row (docs/storage.md#d1-tables). D1 bills rows, not
 * bytes, and a walk reads the blocks of a pack without a join.
 *
 * A pack says of each output that its blocks consume when it came into the ledger and when it left.
 * That is enough for any past state: what a pack does not know yet lies after the milestones that
 * are asked about.
 */
import { fromBase64, toBase64 } from '../stardust/bytes.ts';

/** Parts that a milestone may have: `pack.key` is its index times this, and the part. */
export const PARTS = 4096;

/** Blocks in a part. */
export const MAX_BLOCKS = 256;

/**
 * Characters of a part: of its blocks, and again of the outputs that stand in it as spent. One of
 * them may be over by itself, a block by 150 KB and an output by 50, and the row still fits into
 * the 2,000,000 bytes that D1 allows.
 */
const MAX_LENGTH = 800_000;

export function packKey(milestone: number, part: number): number {
  return milestone * PARTS + part;
}

/**
 * Items in order, in parts of at most so many and of at most that length, but one at least each.
 */
export function splitIntoParts<T>(
  items: readonly T[],
  lengthOf: (item: T) => number,
  { most = MAX_BLOCKS, length: limit = MAX_LENGTH }: { most?: number; length?: number } = {},
): T[][] {
  const parts: T[][] = [];
  let length = 0;
  for (const item of items) {
    const own = lengthOf(item);
    const part = parts.at(-1);
    if (part === undefined || part.length === most || length + own > limit) {
      parts.push([item]);
      length = own;
    } else {
      part.push(item);
      length += own;
    }
  }
  return parts;
}

/** What the ledger knows of an output that was ever in it. */
export interface OutputState {
  /** Milestone that created it. */
  created: number;
  /** Milestone that spent it, 0 while it is unspent. */
  spent: number;
}

const STATE_BYTES = 12;

/** Number, created and spent of each output, u32 each, in base64. */
export function writeStates(states: ReadonlyMap<number, OutputState>): string {
  const bytes = new Uint8Array(states.size * STATE_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [number, { created, spent }] of states) {
    view.setUint32(at, number, true);
    view.setUint32(at + 4, created, true);
    view.setUint32(at + 8, spent, true);
    at += STATE_BYTES;
  }
  return toBase64(bytes);
}

/** Calls `visit` for each output of the text. */
export function readStates(
  text: string,
  visit: (number: number, created: number, spent: number) => void,
): void {
  if (text === '') return;
  const { buffer, byteOffset, length } = fromBase64(text);
  const view = new DataView(buffer, byteOffset, length);
  for (let at = 0; at < length; at += STATE_BYTES) {
    const number = view.getUint32(at, true);
    visit(number, view.getUint32(at + 4, true), view.getUint32(at + 8, true));
  }
}

/** Number and hex ID of each output that the blocks of a pack consume or create. */
export type Mention = readonly [number: number, id: string];

/** Conflict reason of a block that carries no transaction. */
export const NO_REASON = 254;

/** A block of a milestone's pack. */
export interface PackedBlock {
  id: string;
  /** Payload type (docs/protocol.md, A.1), 0 where it has none. */
  payload: number;
  /** Of a transaction: 0 where it was applied. Undefined for the other blocks. */
  reason: number | undefined;
}

type PackedBlockRow = [id: string, payload: number, reason: number];

export function readPackedBlocks(text: string): PackedBlock[] {
  return (JSON.parse(text) as PackedBlockRow[]).map(([id, payload, reason]) => ({
    id,
    payload,
    reason: reason === NO_REASON ? undefined : reason,
  }));
}

/** An output that a milestone spent, as it stands in the milestone's pack. IDs are hex. */
export interface SpentOutput {
  id: string;
  /** Base64. */
  bytes: string;
  nft: string | null;
  /** The block that created it, all zero for migrated outputs. */
  block: string;
  created: number;
  /** Unix seconds. */
  createdTime: number;
  /** The transaction that spent it. */
  transaction: string;
}

/**
 * Of what milestone-packs.ts has put together. The ID stands first: queries look for it there
 * (known-outputs.ts).
 */
export function readSpentOutput(text: string): SpentOutput {
  const [id, bytes, nft, block, created, createdTime, transaction] = JSON.parse(text);
  return { id, bytes, nft, block, created, createdTime, transaction };
}
