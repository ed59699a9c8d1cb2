/**
 * Input for fuzzing the parser: recorded blocks of every kind, cut, spliced and changed, and random
 * bytes. The same seed gives the same bytes.
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { Random } from '../network/random.ts';
import { readLines } from '../vectors.ts';

/** The blocks of parsing.jsonl, valid and not. */
export const recordedBlocks: readonly Uint8Array[] = (
  readLines('parsing.jsonl') as { block: string }[]
)
  .filter((line) => line.block !== '')
  .map((line) => fromHex(line.block));

/** Lengths of the parts of blocks: IDs, addresses, inputs, plain outputs, unlocks, signatures. */
const LENGTHS = [1, 2, 3, 4, 8, 32, 33, 34, 35, 38, 46, 70, 97, 98] as const;
/** Bytes that occur as types and counts, and limits. */
const TELLING = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 64, 65, 127, 128, 129, 255] as const;

type Change = (random: Random, bytes: Uint8Array, at: number) => Uint8Array;

function splice(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  return Uint8Array.from([...bytes.subarray(0, at), ...added, ...bytes.subarray(at + removed)]);
}

const setByte = (value: (random: Random, old: number) => number): Change => {
  return (random, bytes, at) => bytes.with(at, value(random, bytes[at]!));
};

const CHANGES: readonly Change[] = [
  setByte((random, old) => old ^ (1 << random.below(8))),
  setByte((random) => random.pick(TELLING)),
  setByte((random, old) => old + random.pick([1, -1])),
  // bytes are inserted, removed, doubled, moved, or copied from another block
  (random, bytes, at) => splice(bytes, at, 0, random.bytes(random.pick(LENGTHS))),
  (random, bytes, at) => splice(bytes, at, random.pick(LENGTHS), new Uint8Array()),
  (random, bytes, at) => splice(bytes, at, 0, bytes.subarray(at, at + random.pick(LENGTHS))),
  (random, bytes, at) =>
    bytes.slice().copyWithin(random.below(bytes.length), at, at + random.pick(LENGTHS)),
  (random, bytes, at) => {
    const other = random.pick(recordedBlocks);
    const from = random.below(other.length);
    const length = random.below(120);
    return splice(bytes, at, random.pick([0, length]), other.subarray(from, from + length));
  },
  (_, bytes, at) => bytes.slice(0, at),
];

/** Corrects the declared length of the payload, so that the parser reaches the changes inside. */
function mendLength(bytes: Uint8Array): Uint8Array {
  const at = 2 + 32 * (bytes[1] ?? 0);
  const length = bytes.length - at - 4 - 8;
  if (length <= 0) return bytes;
  const mended = bytes.slice();
  new DataView(mended.buffer).setUint32(at, length, true);
  return mended;
}

/**
 * One of ten is random from its first byte on; the others are recorded blocks with one to four
 * changes.
 */
export function mutatedBlock(seed: number): Uint8Array {
  const random = new Random(`block ${seed}`);
  if (random.below(10) === 0)
    return random.bytes(random.pick([0, 1, 45, 46, 47, random.below(400)]));
  let bytes = random.pick(recordedBlocks);
  for (let changes = random.pick([1, 1, 1, 2, 3, 4]); changes > 0 && bytes.length > 0; changes--) {
    bytes = random.pick(CHANGES)(random, bytes, random.below(bytes.length));
  }
  return random.below(4) === 0 ? bytes : mendLength(bytes);
}
