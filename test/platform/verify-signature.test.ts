/**
 * What is remembered of a signature counts for that key and that message alone.
 */
import { expect, it, vi } from 'vitest';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { verifySignatures } from '../../src/stardust/semantics/signatures.ts';
import type { JudgedTransaction } from '../../src/stardust/semantics/verdict.ts';
import { type Unlock, UnlockType } from '../../src/stardust/wire/unlock.ts';
import { keyPair } from '../support/payloads/keys.ts';

const key = keyPair('verify signature');
const message = new TextEncoder().encode('digest');

it('is asked of the platform once, as long as all three are the same', async () => {
  const verify = vi.spyOn(crypto.subtle, 'verify');
  const signature = key.sign(message);
  expect(await verifySignature(key.publicKey, message, signature)).toBe(true);
  expect(await verifySignature(key.publicKey, message, signature)).toBe(true);
  expect(verify).toHaveBeenCalledTimes(1);
  verify.mockRestore();
});

it('is not believed of another message or another key', async () => {
  const signature = key.sign(message);
  expect(await verifySignature(key.publicKey, message, signature)).toBe(true);
  const other = keyPair('another').publicKey;
  expect(await verifySignature(key.publicKey, message.slice(1), signature)).toBe(false);
  expect(await verifySignature(other, message, signature)).toBe(false);
  expect(await verifySignature(key.publicKey, message, signature)).toBe(true);
});

it('is remembered where it is false as well', async () => {
  const signature = key.sign(message);
  signature[0]! ^= 1;
  expect(await verifySignature(key.publicKey, message, signature)).toBe(false);
  expect(await verifySignature(key.publicKey, message, signature)).toBe(false);
});

/** Turns of others; another test's timers, which wait for some time, may still be set meanwhile. */
const turnsOf = ({ mock }: { mock: { calls: unknown[][] } }) =>
  mock.calls.filter((args) => args.length === 1).length;

it('lets nobody in between 100 that the platform calls valid', async () => {
  let now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 1000));
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const many = Array.from({ length: 100 }, () => key.sign(message));
  for (const signature of many) await verifySignature(key.publicKey, message, signature);
  // one where others have verified 400 before
  expect(turnsOf(timers)).toBeLessThan(2);
  timers.mockRestore();
  clock.mockRestore();
});

it('lets others in between 1,000 that the platform calls valid', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const many = Array.from({ length: 1000 }, () => key.sign(message));
  for (const signature of many) await verifySignature(key.publicKey, message, signature);
  expect(turnsOf(timers)).toBe(2);
  timers.mockRestore();
});

it('lets others in between the 128 signatures of one block', async () => {
  let [checked, before] = [0, 0];
  const refuse = vi.spyOn(crypto.subtle, 'importKey').mockImplementation(async () => {
    checked++;
    throw new DOMException('refused');
  });
  const unlocks = Array.from({ length: 128 }, (): Unlock => {
    const { publicKey } = key;
    const signature = { type: 0, publicKey, signature: key.sign(message) } as const;
    return { type: UnlockType.Signature, signature };
  });
  setTimeout(() => {
    before = checked;
  });
  const value = { unlocks } as JudgedTransaction['value'];
  const valid = await verifySignatures({ value, signedDigest: message }, verifySignature);
  expect(valid).toEqual(unlocks.map(() => true));
  expect([before > 0, before < 64]).toEqual([true, true]);
  refuse.mockRestore();
});
