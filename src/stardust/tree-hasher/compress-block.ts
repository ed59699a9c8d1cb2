/**
 * BLAKE2b-256, unkeyed, of messages that fit one block (RFC 7693).
 *
 * Generated: change scripts/tree-hasher/compress-block-source.ts and run
 * `npm run generate-tree-hasher`.
 */

// Section 2.6: the low half of each 64-bit word first.
// biome-ignore format: as in the RFC
const IV = Int32Array.of(
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
);

// Section 2.5, the state before the first block: 32 bytes of digest, no key, fan-out 1, depth 1.
const H = IV.with(0, IV[0]! ^ 0x01010020);

// Section 2.7, doubled: the place of each word's low half. Rounds 10 and 11 repeat 0 and 1.
// biome-ignore format: a line a round
const SIGMA = Uint8Array.of(
   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,
  14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3,
  11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4,
   7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8,
   9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13,
   2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9,
  12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11,
  13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10,
   6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5,
  10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0,
   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,
  14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3,
).map((word) => 2 * word);

/**
 * Hashes one final block.
 *
 * `message`: 32 words, zero after the first `length` bytes (0 to 128). The digest goes to `out` as
 * 8 words from `at` on.
 *
 * A sum of three goes through a double. A sum of two carries by bits: the top one of
 * (a & b) | ((a | b) & ~sum). A node takes 0.67 µs this way, 0.84 all by bits, 0.94 all by doubles,
 * and 2.1 with the carry by comparison, a branch that nobody can predict. The rounds stay a loop:
 * twelve written out make a function so long that a fresh isolate runs it unoptimised for 100 ms.
 */
export function compressBlock(
  message: Uint32Array,
  length: number,
  out: Uint32Array,
  at: number,
): void {
  let v0l = H[0]!;
  let v0h = H[1]!;
  let v1l = H[2]!;
  let v1h = H[3]!;
  let v2l = H[4]!;
  let v2h = H[5]!;
  let v3l = H[6]!;
  let v3h = H[7]!;
  let v4l = H[8]!;
  let v4h = H[9]!;
  let v5l = H[10]!;
  let v5h = H[11]!;
  let v6l = H[12]!;
  let v6h = H[13]!;
  let v7l = H[14]!;
  let v7h = H[15]!;
  let v8l = IV[0]!;
  let v8h = IV[1]!;
  let v9l = IV[2]!;
  let v9h = IV[3]!;
  let v10l = IV[4]!;
  let v10h = IV[5]!;
  let v11l = IV[6]!;
  let v11h = IV[7]!;
  let v12l = IV[8]! ^ length;
  let v12h = IV[9]!;
  let v13l = IV[10]!;
  let v13h = IV[11]!;
  let v14l = ~IV[12]!;
  let v14h = ~IV[13]!;
  let v15l = IV[14]!;
  let v15h = IV[15]!;
  let t = 0;
  let x = 0;
  let y = 0;
  let m = 0;
  for (let s = 0; s < 192; s += 16) {
    // G(v0, v4, v8, v12)
    m = SIGMA[s]!;
    t = (v0l >>> 0) + (v4l >>> 0) + message[m]!;
    v0h = (v0h + v4h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v0l = t | 0;
    x = v12l ^ v0l;
    v12l = v12h ^ v0h;
    v12h = x;
    t = (v8l + v12l) | 0;
    v8h = (v8h + v12h + (((v8l & v12l) | ((v8l | v12l) & ~t)) >>> 31)) | 0;
    v8l = t;
    x = v4l ^ v8l;
    y = v4h ^ v8h;
    v4l = (x >>> 24) | (y << 8);
    v4h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 1]!;
    t = (v0l >>> 0) + (v4l >>> 0) + message[m]!;
    v0h = (v0h + v4h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v0l = t | 0;
    x = v12l ^ v0l;
    y = v12h ^ v0h;
    v12l = (x >>> 16) | (y << 16);
    v12h = (y >>> 16) | (x << 16);
    t = (v8l + v12l) | 0;
    v8h = (v8h + v12h + (((v8l & v12l) | ((v8l | v12l) & ~t)) >>> 31)) | 0;
    v8l = t;
    x = v4l ^ v8l;
    y = v4h ^ v8h;
    v4l = (x << 1) | (y >>> 31);
    v4h = (y << 1) | (x >>> 31);
    // G(v1, v5, v9, v13)
    m = SIGMA[s + 2]!;
    t = (v1l >>> 0) + (v5l >>> 0) + message[m]!;
    v1h = (v1h + v5h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v1l = t | 0;
    x = v13l ^ v1l;
    v13l = v13h ^ v1h;
    v13h = x;
    t = (v9l + v13l) | 0;
    v9h = (v9h + v13h + (((v9l & v13l) | ((v9l | v13l) & ~t)) >>> 31)) | 0;
    v9l = t;
    x = v5l ^ v9l;
    y = v5h ^ v9h;
    v5l = (x >>> 24) | (y << 8);
    v5h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 3]!;
    t = (v1l >>> 0) + (v5l >>> 0) + message[m]!;
    v1h = (v1h + v5h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v1l = t | 0;
    x = v13l ^ v1l;
    y = v13h ^ v1h;
    v13l = (x >>> 16) | (y << 16);
    v13h = (y >>> 16) | (x << 16);
    t = (v9l + v13l) | 0;
    v9h = (v9h + v13h + (((v9l & v13l) | ((v9l | v13l) & ~t)) >>> 31)) | 0;
    v9l = t;
    x = v5l ^ v9l;
    y = v5h ^ v9h;
    v5l = (x << 1) | (y >>> 31);
    v5h = (y << 1) | (x >>> 31);
    // G(v2, v6, v10, v14)
    m = SIGMA[s + 4]!;
    t = (v2l >>> 0) + (v6l >>> 0) + message[m]!;
    v2h = (v2h + v6h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v2l = t | 0;
    x = v14l ^ v2l;
    v14l = v14h ^ v2h;
    v14h = x;
    t = (v10l + v14l) | 0;
    v10h = (v10h + v14h + (((v10l & v14l) | ((v10l | v14l) & ~t)) >>> 31)) | 0;
    v10l = t;
    x = v6l ^ v10l;
    y = v6h ^ v10h;
    v6l = (x >>> 24) | (y << 8);
    v6h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 5]!;
    t = (v2l >>> 0) + (v6l >>> 0) + message[m]!;
    v2h = (v2h + v6h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v2l = t | 0;
    x = v14l ^ v2l;
    y = v14h ^ v2h;
    v14l = (x >>> 16) | (y << 16);
    v14h = (y >>> 16) | (x << 16);
    t = (v10l + v14l) | 0;
    v10h = (v10h + v14h + (((v10l & v14l) | ((v10l | v14l) & ~t)) >>> 31)) | 0;
    v10l = t;
    x = v6l ^ v10l;
    y = v6h ^ v10h;
    v6l = (x << 1) | (y >>> 31);
    v6h = (y << 1) | (x >>> 31);
    // G(v3, v7, v11, v15)
    m = SIGMA[s + 6]!;
    t = (v3l >>> 0) + (v7l >>> 0) + message[m]!;
    v3h = (v3h + v7h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v3l = t | 0;
    x = v15l ^ v3l;
    v15l = v15h ^ v3h;
    v15h = x;
    t = (v11l + v15l) | 0;
    v11h = (v11h + v15h + (((v11l & v15l) | ((v11l | v15l) & ~t)) >>> 31)) | 0;
    v11l = t;
    x = v7l ^ v11l;
    y = v7h ^ v11h;
    v7l = (x >>> 24) | (y << 8);
    v7h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 7]!;
    t = (v3l >>> 0) + (v7l >>> 0) + message[m]!;
    v3h = (v3h + v7h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v3l = t | 0;
    x = v15l ^ v3l;
    y = v15h ^ v3h;
    v15l = (x >>> 16) | (y << 16);
    v15h = (y >>> 16) | (x << 16);
    t = (v11l + v15l) | 0;
    v11h = (v11h + v15h + (((v11l & v15l) | ((v11l | v15l) & ~t)) >>> 31)) | 0;
    v11l = t;
    x = v7l ^ v11l;
    y = v7h ^ v11h;
    v7l = (x << 1) | (y >>> 31);
    v7h = (y << 1) | (x >>> 31);
    // G(v0, v5, v10, v15)
    m = SIGMA[s + 8]!;
    t = (v0l >>> 0) + (v5l >>> 0) + message[m]!;
    v0h = (v0h + v5h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v0l = t | 0;
    x = v15l ^ v0l;
    v15l = v15h ^ v0h;
    v15h = x;
    t = (v10l + v15l) | 0;
    v10h = (v10h + v15h + (((v10l & v15l) | ((v10l | v15l) & ~t)) >>> 31)) | 0;
    v10l = t;
    x = v5l ^ v10l;
    y = v5h ^ v10h;
    v5l = (x >>> 24) | (y << 8);
    v5h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 9]!;
    t = (v0l >>> 0) + (v5l >>> 0) + message[m]!;
    v0h = (v0h + v5h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v0l = t | 0;
    x = v15l ^ v0l;
    y = v15h ^ v0h;
    v15l = (x >>> 16) | (y << 16);
    v15h = (y >>> 16) | (x << 16);
    t = (v10l + v15l) | 0;
    v10h = (v10h + v15h + (((v10l & v15l) | ((v10l | v15l) & ~t)) >>> 31)) | 0;
    v10l = t;
    x = v5l ^ v10l;
    y = v5h ^ v10h;
    v5l = (x << 1) | (y >>> 31);
    v5h = (y << 1) | (x >>> 31);
    // G(v1, v6, v11, v12)
    m = SIGMA[s + 10]!;
    t = (v1l >>> 0) + (v6l >>> 0) + message[m]!;
    v1h = (v1h + v6h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v1l = t | 0;
    x = v12l ^ v1l;
    v12l = v12h ^ v1h;
    v12h = x;
    t = (v11l + v12l) | 0;
    v11h = (v11h + v12h + (((v11l & v12l) | ((v11l | v12l) & ~t)) >>> 31)) | 0;
    v11l = t;
    x = v6l ^ v11l;
    y = v6h ^ v11h;
    v6l = (x >>> 24) | (y << 8);
    v6h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 11]!;
    t = (v1l >>> 0) + (v6l >>> 0) + message[m]!;
    v1h = (v1h + v6h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v1l = t | 0;
    x = v12l ^ v1l;
    y = v12h ^ v1h;
    v12l = (x >>> 16) | (y << 16);
    v12h = (y >>> 16) | (x << 16);
    t = (v11l + v12l) | 0;
    v11h = (v11h + v12h + (((v11l & v12l) | ((v11l | v12l) & ~t)) >>> 31)) | 0;
    v11l = t;
    x = v6l ^ v11l;
    y = v6h ^ v11h;
    v6l = (x << 1) | (y >>> 31);
    v6h = (y << 1) | (x >>> 31);
    // G(v2, v7, v8, v13)
    m = SIGMA[s + 12]!;
    t = (v2l >>> 0) + (v7l >>> 0) + message[m]!;
    v2h = (v2h + v7h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v2l = t | 0;
    x = v13l ^ v2l;
    v13l = v13h ^ v2h;
    v13h = x;
    t = (v8l + v13l) | 0;
    v8h = (v8h + v13h + (((v8l & v13l) | ((v8l | v13l) & ~t)) >>> 31)) | 0;
    v8l = t;
    x = v7l ^ v8l;
    y = v7h ^ v8h;
    v7l = (x >>> 24) | (y << 8);
    v7h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 13]!;
    t = (v2l >>> 0) + (v7l >>> 0) + message[m]!;
    v2h = (v2h + v7h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v2l = t | 0;
    x = v13l ^ v2l;
    y = v13h ^ v2h;
    v13l = (x >>> 16) | (y << 16);
    v13h = (y >>> 16) | (x << 16);
    t = (v8l + v13l) | 0;
    v8h = (v8h + v13h + (((v8l & v13l) | ((v8l | v13l) & ~t)) >>> 31)) | 0;
    v8l = t;
    x = v7l ^ v8l;
    y = v7h ^ v8h;
    v7l = (x << 1) | (y >>> 31);
    v7h = (y << 1) | (x >>> 31);
    // G(v3, v4, v9, v14)
    m = SIGMA[s + 14]!;
    t = (v3l >>> 0) + (v4l >>> 0) + message[m]!;
    v3h = (v3h + v4h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v3l = t | 0;
    x = v14l ^ v3l;
    v14l = v14h ^ v3h;
    v14h = x;
    t = (v9l + v14l) | 0;
    v9h = (v9h + v14h + (((v9l & v14l) | ((v9l | v14l) & ~t)) >>> 31)) | 0;
    v9l = t;
    x = v4l ^ v9l;
    y = v4h ^ v9h;
    v4l = (x >>> 24) | (y << 8);
    v4h = (y >>> 24) | (x << 8);
    m = SIGMA[s + 15]!;
    t = (v3l >>> 0) + (v4l >>> 0) + message[m]!;
    v3h = (v3h + v4h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;
    v3l = t | 0;
    x = v14l ^ v3l;
    y = v14h ^ v3h;
    v14l = (x >>> 16) | (y << 16);
    v14h = (y >>> 16) | (x << 16);
    t = (v9l + v14l) | 0;
    v9h = (v9h + v14h + (((v9l & v14l) | ((v9l | v14l) & ~t)) >>> 31)) | 0;
    v9l = t;
    x = v4l ^ v9l;
    y = v4h ^ v9h;
    v4l = (x << 1) | (y >>> 31);
    v4h = (y << 1) | (x >>> 31);
  }
  out[at + 0] = H[0]! ^ v0l ^ v8l;
  out[at + 1] = H[1]! ^ v0h ^ v8h;
  out[at + 2] = H[2]! ^ v1l ^ v9l;
  out[at + 3] = H[3]! ^ v1h ^ v9h;
  out[at + 4] = H[4]! ^ v2l ^ v10l;
  out[at + 5] = H[5]! ^ v2h ^ v10h;
  out[at + 6] = H[6]! ^ v3l ^ v11l;
  out[at + 7] = H[7]! ^ v3h ^ v11h;
}
