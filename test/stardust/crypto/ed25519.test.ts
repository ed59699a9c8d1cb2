/**
 * Ed25519 signatures by ZIP-215 (TIP-0014; docs/protocol.md, F).
 *
 * The recorded small-order cases all have S = 0, so they do not show which encodings the challenge
 * hashes. The cases built here have a known secret scalar. R may then be any point of small order
 * in any encoding, and S fits one hash only. (No case can show how an A that is not reduced is
 * hashed: all such points with a known scalar are of small order, and the cofactor cancels them.)
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyEd25519, verifyZip215, webCrypto } from '../../../src/stardust/crypto/ed25519.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { readLines } from '../../support/vectors.ts';

interface Case {
  name: string;
  publicKey: Uint8Array;
  message: Uint8Array;
  signature: Uint8Array;
  valid: boolean;
}

const lines = readLines('ed25519.jsonl') as (Record<
  'name' | 'publicKey' | 'message' | 'signature',
  string
> & { valid: boolean })[];
const recorded: Case[] = lines.map((line) => ({
  ...line,
  publicKey: fromHex(line.publicKey),
  message: fromHex(line.message),
  signature: fromHex(line.signature),
}));

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
const message = new TextEncoder().encode('32 bytes that a transaction signs');

const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const toScalar = (bytes: Uint8Array) => BigInt(`0x${bytes.toReversed().toHex()}`) % ORDER;
const littleEndian = (value: bigint) =>
  Uint8Array.fromHex(value.toString(16).padStart(64, '0')).toReversed();
const challenge = (R: Uint8Array, A: Uint8Array) => toScalar(sha512(join(R, A, message)));
const canonical = (encoding: Uint8Array) => Point.fromBytes(encoding, true).toBytes();

// The 14 ways to write the 8 points of small order, as they occur in the recorded cases.
const smallOrder = [
  ...new Set(
    recorded
      .filter(({ name }) => name.startsWith('small order'))
      .map(({ publicKey }) => publicKey.toHex()),
  ),
].map((hex) => Uint8Array.fromHex(hex));
const notCanonical = smallOrder.filter(
  (encoding) => canonical(encoding).toHex() !== encoding.toHex(),
);

const secret = 0x0fedcba9876543210123456789abcdef5555555555555555aaaaaaaaaaaaaaaan;
const A = Point.BASE.multiply(secret).toBytes();
const sum = (encoding: Uint8Array, scalar: bigint) =>
  Point.BASE.multiply(scalar).add(Point.fromBytes(encoding, true)).toBytes();

function constructed(): Case[] {
  const cases: Case[] = [];
  const add = (name: string, publicKey: Uint8Array, R: Uint8Array, S: bigint, valid: boolean) =>
    cases.push({ name, publicKey, message, signature: join(R, littleEndian(S)), valid });
  for (const encoding of smallOrder) {
    const hex = encoding.toHex();
    const S = (challenge(encoding, A) * secret) % ORDER;
    add(`R = ${hex}`, A, encoding, S, true);
    add(`R = ${hex}, S + 1`, A, encoding, (S + 1n) % ORDER, false);
    add(
      `R = ${hex}, S of the other parity of R`,
      A,
      encoding.with(31, encoding[31]! ^ 0x80),
      S,
      false,
    );
    add(`A = ${hex}, R = S·B`, encoding, Point.BASE.multiply(77n).toBytes(), 77n, true);
    add(`A = ${hex}, R = (S + 1)·B`, encoding, Point.BASE.multiply(78n).toBytes(), 77n, false);

    // Off by a point of small order, so the equation holds only with the cofactor.
    const R = sum(encoding, 99n);
    add(`R = r·B + ${hex}`, A, R, (99n + challenge(R, A) * secret) % ORDER, true);
    const A2 = sum(encoding, secret);
    const R2 = Point.BASE.multiply(99n).toBytes();
    add(`A = a·B + ${hex}`, A2, R2, (99n + challenge(R2, A2) * secret) % ORDER, true);
  }
  for (const encoding of notCanonical) {
    const k = challenge(canonical(encoding), A);
    add(
      `R = ${encoding.toHex()}, hashed as one would encode it`,
      A,
      encoding,
      (k * secret) % ORDER,
      false,
    );
  }
  return cases;
}

const S0 = join(Uint8Array.of(1), new Uint8Array(31));
const edges: Case[] = (
  [
    ['all zeros', new Uint8Array(32), new Uint8Array(32), 0n, true],
    ['S = order', S0, S0, ORDER, false],
    ['S = order - 1', S0, S0, ORDER - 1n, false],
    ['S = 2^255', S0, S0, 2n ** 255n, false],
    ['S = 2^253', S0, S0, 2n ** 253n, false],
    ['A is no point', littleEndian(2n), S0, 0n, false],
    ['R is no point', S0, littleEndian(2n), 0n, false],
  ] as const
).map(([name, publicKey, R, S, valid]) => {
  return { name, publicKey, message, signature: join(R, littleEndian(S)), valid };
});

const all = [...recorded, ...constructed(), ...edges];
const platform = webCrypto(crypto.subtle);

describe('the cases', () => {
  it('cover the encodings of small order', () => {
    expect(recorded.length).toBe(316);
    expect(smallOrder.length).toBe(14);
    const p = 2n ** 255n - 19n;
    const sign = 2n ** 255n;
    // y = p and y = p + 1 are 0 and 1 unreduced; y = 1 and y = -1 have x = 0, which has no sign.
    const expected = [p, p + sign, p + 1n, p + 1n + sign, 1n + sign, p - 1n + sign];
    expect(notCanonical.map((bytes) => bytes.toHex()).toSorted()).toEqual(
      expected.map((y) => littleEndian(y).toHex()).toSorted(),
    );
  });
});

describe('verifyZip215', () => {
  it('gives the verdict of every case', () => {
    for (const { name, publicKey, message, signature, valid } of all)
      expect([name, verifyZip215(publicKey, message, signature)]).toEqual([name, valid]);
  });

  it('is of one mind with @noble/curves about cases of which a bit is flipped', () => {
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.nat(), (each, position) => {
        const whole = join(each.publicKey, each.signature);
        const bit = position % (8 * whole.length);
        whole[bit >> 3]! ^= 1 << (bit & 7);
        const [publicKey, signature] = [whole.subarray(0, 32), whole.subarray(32)];
        const theirs = ed25519.verify(signature, each.message, publicKey, { zip215: true });
        expect(verifyZip215(publicKey, each.message, signature)).toBe(theirs);
      }),
      { numRuns: process.env.SLOW ? 1000 : 200 },
    );
  });

  it('finds a signature or key of another length not valid, and never throws', () => {
    const { publicKey, signature } = recorded.find(({ name }) => name.startsWith('good'))!;
    for (const length of [0, 31, 33, 64])
      expect(verifyZip215(new Uint8Array(length), message, signature)).toBe(false);
    for (const length of [0, 32, 63, 65, 128])
      expect(verifyZip215(publicKey, message, new Uint8Array(length))).toBe(false);
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.uint8Array({ minLength: 32, maxLength: 32 })),
        fc.uint8Array({ maxLength: 200 }),
        fc.oneof(
          fc.uint8Array({ maxLength: 130 }),
          fc.uint8Array({ minLength: 64, maxLength: 64 }),
        ),
        (key, text, sig) => {
          const verdict = verifyZip215(key, text, sig);
          // Of the right lengths it may be valid: all zeros are, a point of order 4 twice and S =
          // 0.
          return key.length === 32 && sig.length === 64
            ? typeof verdict === 'boolean'
            : verdict === false;
        },
      ),
    );
  });

  it('finds no signature valid once a bit of key, message or signature is flipped', () => {
    const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const text = fc.uint8Array({ minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(seed, text, fc.nat(), (seed, text, position) => {
        const publicKey = ed25519.getPublicKey(seed);
        const whole = join(publicKey, text, ed25519.sign(text, seed));
        const verdict = (bytes: Uint8Array) =>
          verifyZip215(bytes.subarray(0, 32), bytes.subarray(32, -64), bytes.subarray(-64));
        expect(verdict(whole)).toBe(true);
        const bit = position % (8 * whole.length);
        whole[bit >> 3]! ^= 1 << (bit & 7);
        expect(verdict(whole)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

describe('verifyEd25519', () => {
  it('gives the verdict of every case, with and without WebCrypto', async () => {
    for (const { name, publicKey, message, signature, valid } of all) {
      for (const by of [platform, undefined])
        expect([name, await verifyEd25519(publicKey, message, signature, by)]).toEqual([
          name,
          valid,
        ]);
    }
  });

  it('every signature that WebCrypto calls valid is valid, but not the reverse', async () => {
    const said = await Promise.all(
      all.map((c) => platform(c.publicKey, c.message, c.signature).catch(() => false)),
    );
    expect(all.filter(({ valid }, i) => said[i] && !valid)).toEqual([]);
    expect(all.filter((_, i) => said[i]).length).toBeGreaterThanOrEqual(60);
    expect(all.filter(({ valid }, i) => !said[i] && valid).length).toBeGreaterThan(20);
  });

  it('believes valid; decides itself after invalid, a rejection or an exception', async () => {
    const good = recorded.find(({ valid }) => valid)!;
    const bad = recorded.find(({ valid }) => !valid)!;
    const verify = (c: Case, answer: () => Promise<boolean>) =>
      verifyEd25519(c.publicKey, c.message, c.signature, answer);
    expect(await verify(bad, async () => true)).toBe(true);
    const failing = () => {
      throw new TypeError('no Ed25519 here');
    };
    for (const answer of [async () => false, () => Promise.reject(new Error('bad key')), failing]) {
      expect(await verify(good, answer)).toBe(true);
      expect(await verify(bad, answer)).toBe(false);
    }
  });

  it('finds a signature or key of another length not valid', async () => {
    const { publicKey, signature } = recorded.find(({ name }) => name.startsWith('good'))!;
    expect(await verifyEd25519(new Uint8Array(0), message, signature, platform)).toBe(false);
    expect(await verifyEd25519(publicKey, message, new Uint8Array(65), platform)).toBe(false);
  });
});
