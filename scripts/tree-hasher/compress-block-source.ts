/**
 * The source of src/stardust/tree-hasher/compress-block.ts: the compression of BLAKE2b (RFC 7693,
 * section 3.2) of one final block, with its state in local variables, from one template of G.
 *
 * A 64-bit word is two variables, its low and its high 32 bits: v7 is `v7l` and `v7h`.
 */

/** Section 3.2: the words that the eight mixings of a round take, columns first, then diagonals. */
const MIXINGS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** Section 2.6: the low half of each word first. */
const IV = [
  '0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a',
  '0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19',
];

/** Section 2.7. */
const SIGMA = [
  ' 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15',
  '14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3',
  '11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4',
  ' 7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8',
  ' 9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13',
  ' 2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9',
  '12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11',
  '13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10',
  ' 6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5',
  '10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0',
];

const ROUNDS = 12;

/**
 * G (section 3.1) on the words a, b, c, d of the state; the message words are the 2 × `number` and
 * the next one of the round's schedule.
 */
function mix([a, b, c, d]: (typeof MIXINGS)[number], number: number): string[] {
  return [
    `// G(v${a}, v${b}, v${c}, v${d})`,
    ...addMessageWord(a, b, 2 * number),
    ...xorAndSwapHalves(d, a),
    ...add(c, d),
    ...xorAndRotate(b, c, 24),
    ...addMessageWord(a, b, 2 * number + 1),
    ...xorAndRotate(d, a, 16),
    ...add(c, d),
    ...xorAndRotateByOne(b, c),
  ];
}

/** a = a + b + the message word */
function addMessageWord(a: number, b: number, scheduled: number): string[] {
  return [
    `m = SIGMA[${scheduled === 0 ? 's' : `s + ${scheduled}`}]!;`,
    `t = (v${a}l >>> 0) + (v${b}l >>> 0) + message[m]!;`,
    `v${a}h = (v${a}h + v${b}h + message[m + 1]! + ((t / 2 ** 32) | 0)) | 0;`,
    `v${a}l = t | 0;`,
  ];
}

/** a = a + b */
function add(a: number, b: number): string[] {
  return [
    `t = (v${a}l + v${b}l) | 0;`,
    `v${a}h = (v${a}h + v${b}h + (((v${a}l & v${b}l) | ((v${a}l | v${b}l) & ~t)) >>> 31)) | 0;`,
    `v${a}l = t;`,
  ];
}

/** a = (a ^ b) >>> 32 */
function xorAndSwapHalves(a: number, b: number): string[] {
  return [`x = v${a}l ^ v${b}l;`, `v${a}l = v${a}h ^ v${b}h;`, `v${a}h = x;`];
}

/** a = (a ^ b) >>> bits, for fewer than 32 of them */
function xorAndRotate(a: number, b: number, bits: number): string[] {
  return [
    `x = v${a}l ^ v${b}l;`,
    `y = v${a}h ^ v${b}h;`,
    `v${a}l = (x >>> ${bits}) | (y << ${32 - bits});`,
    `v${a}h = (y >>> ${bits}) | (x << ${32 - bits});`,
  ];
}

/** a = (a ^ b) >>> 63, which is <<< 1 */
function xorAndRotateByOne(a: number, b: number): string[] {
  return [
    `x = v${a}l ^ v${b}l;`,
    `y = v${a}h ^ v${b}h;`,
    `v${a}l = (x << 1) | (y >>> 31);`,
    `v${a}h = (y << 1) | (x >>> 31);`,
  ];
}

/**
 * Section 3.2: the state, with the counter of bytes in word 12, the last block's mark in word 14.
 */
function declareState(): string[] {
  return Array.from({ length: 16 }, (_, word) =>
    ['l', 'h'].map((half, i) => {
      const initial = word < 8 ? `H[${2 * word + i}]!` : `IV[${2 * (word - 8) + i}]!`;
      const mark = word === 14 ? '~' : '';
      const counter = word === 12 && half === 'l' ? ' ^ length' : '';
      return `let v${word}${half} = ${mark}${initial}${counter};`;
    }),
  ).flat();
}

function writeDigest(): string[] {
  return Array.from({ length: 8 }, (_, i) => {
    const [word, half] = [i >> 1, i % 2 === 0 ? 'l' : 'h'];
    return `out[at + ${i}] = H[${i}]! ^ v${word}${half} ^ v${word + 8}${half};`;
  });
}

const indent = (depth: number, lines: readonly string[]): string =>
  lines.map((line) => `${'  '.repeat(depth)}${line}\n`).join('');

/** As it is committed, formatted. */
export function compressBlockSource(): string {
  // rounds 10 and 11 are scheduled as 0 and 1
  const schedule = [...SIGMA, ...SIGMA.slice(0, ROUNDS - SIGMA.length)];
  return `/**
 * BLAKE2b-256, unkeyed, of messages that fit one block (RFC 7693).
 *
 * Generated: change scripts/tree-hasher/compress-block-source.ts and run
 * \`npm run generate-tree-hasher\`.
 */

// Section 2.6: the low half of each 64-bit word first.
// biome-ignore format: as in the RFC
const IV = Int32Array.of(
${indent(
  1,
  IV.map((line) => `${line},`),
)});

// Section 2.5, the state before the first block: 32 bytes of digest, no key, fan-out 1, depth 1.
const H = IV.with(0, IV[0]! ^ 0x01010020);

// Section 2.7, doubled: the place of each word's low half. Rounds 10 and 11 repeat 0 and 1.
// biome-ignore format: a line a round
const SIGMA = Uint8Array.of(
${indent(
  1,
  schedule.map((line) => `${line},`),
)}).map((word) => 2 * word);

/**
 * Hashes one final block.
 *
 * \`message\`: 32 words, zero after the first \`length\` bytes (0 to 128). The digest goes to \`out\` as
 * 8 words from \`at\` on.
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
${indent(1, declareState())}  let t = 0;
  let x = 0;
  let y = 0;
  let m = 0;
  for (let s = 0; s < ${16 * ROUNDS}; s += 16) {
${indent(2, MIXINGS.flatMap(mix))}  }
${indent(1, writeDigest())}}
`;
}
