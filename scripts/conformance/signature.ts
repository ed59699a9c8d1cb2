/**
 * Ed25519 signatures by ZIP-215: `{publicKey, signature, message, valid}` (docs/protocol.md F).
 */
import { verifyZip215 } from '../../src/stardust/crypto/ed25519.ts';
import { bytes, flag, type JsonObject } from '../../src/stardust/encoding/json-object.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import { firstDifference } from './compare.ts';

export async function runSignature(vector: JsonObject): Promise<string | undefined> {
  const signed = [
    bytes(vector, 'publicKey'),
    bytes(vector, 'message'),
    bytes(vector, 'signature'),
  ] as const;
  const valid = flag(vector, 'valid');
  return (
    firstDifference(verifyZip215(...signed), valid, 'valid') ??
    firstDifference(await verifySignature(...signed), valid, 'valid, with the help of WebCrypto')
  );
}
