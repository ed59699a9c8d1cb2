/**
 * The block parser on mutated and random bytes: it never throws, and it encodes what it accepts to
 * the same bytes (docs/protocol.md, A and C).
 */
import { describe, expect, it } from 'vitest';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { equalBytes } from '../../src/stardust/encoding/bytes.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { block, MAX_BLOCK_LENGTH, parseBlock } from '../../src/stardust/wire/block.ts';
import { blockBytes } from '../support/payloads/blocks.ts';
import { keyPair } from '../support/payloads/keys.ts';
import { basic, idOf, tokens } from '../support/payloads/outputs.ts';
import { referTo, transactionOf } from '../support/payloads/transactions.ts';
import { mutatedBlock, recordedBlocks } from '../support/stardust/mutated-blocks.ts';

const CASES = process.env.SLOW ? 20_000 : 5000;

/** What is wrong with the parser's answer, or undefined. Overwrites `received`. */
function fault(received: Uint8Array): 'refused' | 'accepted' | `fault: ${string}` {
  const original = new Uint8Array(received);
  const result = parseBlock(received);
  if (!equalBytes(received, original)) return 'fault: the parser wrote into the bytes it was given';
  if (!result.ok)
    return result.rule === '' || result.reason === '' ? 'fault: refused for no reason' : 'refused';
  // the value must not refer to the caller's bytes
  received.fill(0xff);
  if (!equalBytes(encode(block, result.parsed.block), original))
    return 'fault: encoded again, the bytes are others';
  if (!equalBytes(result.parsed.bytes, original)) return 'fault: the bytes kept are others';
  if (!equalBytes(result.parsed.id, blake2b256(original))) return 'fault: another block ID';
  return 'accepted';
}

describe('parseBlock', () => {
  it(`never throws on ${CASES} blocks; encodes what it accepts to the same bytes`, () => {
    const counts = { refused: 0, accepted: 0 };
    for (let seed = 0; seed < CASES; seed++) {
      const answer = fault(mutatedBlock(seed));
      if (answer !== 'refused' && answer !== 'accepted') expect.fail(`seed ${seed}: ${answer}`);
      counts[answer]++;
    }
    // both outcomes must occur often, or the test shows little
    expect(counts.accepted).toBeGreaterThan(CASES / 20);
    expect(counts.refused).toBeGreaterThan(CASES / 2);
  });

  it('refuses every beginning of a block', () => {
    const whole = recordedBlocks.find(
      (bytes) => parseBlock(bytes).ok && bytes.length > 1000 && bytes.length < 2000,
    )!;
    for (let length = 0; length < whole.length; length++)
      expect(parseBlock(whole.subarray(0, length)).ok).toBe(false);
  });

  it('keeps a copy of what it is given, of a Node Buffer too', () => {
    const bytes = recordedBlocks.find((each) => parseBlock(each).ok)!;
    expect(fault(Buffer.from(bytes))).toBe('accepted');
  });

  it('reads blocks that are views into the middle of a buffer', () => {
    for (const bytes of recordedBlocks.slice(0, 100)) {
      const buffer = new Uint8Array(bytes.length + 20).fill(0xee);
      buffer.set(bytes, 11);
      expect(parseBlock(buffer.subarray(11, 11 + bytes.length))).toEqual(parseBlock(bytes));
    }
  });

  it('takes time in proportion to the length', () => {
    const small = blockWithTokens(6);
    const large = blockWithTokens(108);
    expect(large.length).toBeGreaterThan(MAX_BLOCK_LENGTH * 0.9);
    expect(large.length).toBeLessThanOrEqual(MAX_BLOCK_LENGTH);
    const grown = large.length / small.length;
    // The fastest of many runs, because the machine does other work too. Quadratic time would be
    // `grown` times more.
    expect(fastest(large) / fastest(small)).toBeLessThan(grown * 4);
  });
});

/**
 * A transaction with `count` inputs and outputs of equal size. In inputs, tokens and conditions the
 * parser looks for duplicates.
 */
function blockWithTokens(count: number): Uint8Array {
  const owner = keyPair('owner');
  const outputs = Array.from({ length: count }, (_, i) =>
    basic(owner, {
      tokens: [1, 2, 3].map((serial) => tokens(idOf(`alias ${i % 20}`), 1n, serial)),
    }),
  );
  const inputs = outputs.map((output, i) => ({ output, unlock: i === 0 ? owner : referTo(0) }));
  const bytes = blockBytes({ payload: transactionOf({ inputs, outputs }) });
  if (!parseBlock(bytes).ok) throw new Error('a block is refused that should be accepted');
  return bytes;
}

function fastest(bytes: Uint8Array): number {
  const times = Array.from({ length: 60 }, () => {
    const start = performance.now();
    parseBlock(bytes);
    return performance.now() - start;
  });
  return Math.min(...times);
}
