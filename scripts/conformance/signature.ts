/**
 * Ed25519 signatures by ZIP-215: `{publicKey, signature, message, valid}` (protocol.md F).
 */
import { verifyZip215 } from '../../src/stardust/ed25519.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import { firstDifference } from './compare.ts';
import { bytes, flag, type Line } from './line.ts';

/** The product's way to verify. */
export function verify(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  return verifySignature(publicKey, message, signature);
}

export async function runSignature(line: Line): Promise<string | undefined> {
  const signed = [
    bytes(line, 'publicKey'),
    bytes(line, 'message'),
    bytes(line, 'signature'),
  ] as const;
  const valid = flag(line, 'valid');
  return (
    firstDifference(verifyZip215(...signed), valid, 'valid') ??
    firstDifference(await verify(...signed), valid, 'valid, with the help of WebCrypto')
  );
}
