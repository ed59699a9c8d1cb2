/**
 * The signature check that this program uses: ZIP-215 (docs/protocol.md, F), with WebCrypto's help.
 */
import { verifyEd25519, webCrypto } from './stardust/ed25519.ts';
import type { VerifySignature } from './stardust/milestone-keys.ts';

const platform = webCrypto(crypto.subtle);

export const verifySignature: VerifySignature = (publicKey, message, signature) =>
  verifyEd25519(publicKey, message, signature, platform);
