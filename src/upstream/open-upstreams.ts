/**
 * What the settings say about following, made ready: the upstreams, and the rules by which blocks come in.
 */

import type { Database } from '../ledger/database.ts';
import { admittingParameters, readParameters } from '../ledger/ledger-parameters.ts';
import type { IntakeRules } from '../ledger/prepare-blocks.ts';
import type { Settings } from '../settings.ts';
import { verifyEd25519, webCrypto } from '../stardust/ed25519.ts';
import type { VerifySignature } from '../stardust/milestone-keys.ts';
import { CONNECTIONS, createGate } from './concurrency-limit.ts';
import { restUpstream } from './rest-upstream.ts';
import type { Upstream } from './upstream.ts';

const platform = webCrypto(crypto.subtle);

/** ZIP-215, with WebCrypto's help (F). */
export const verifySignature: VerifySignature = (publicKey, message, signature) =>
  verifyEd25519(publicKey, message, signature, platform);

/**
 * @param timeout milliseconds for one answer
 * @param attempts tries of one question
 */
export function openUpstreams(settings: Settings, timeout: number, attempts: number): Upstream[] {
  const gate = createGate(CONNECTIONS);
  const options = {
    fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
    timeout,
    attempts,
    gate,
  };
  return settings.upstreams.map((url) => restUpstream(url, options));
}

/** By these a request judges blocks that it fetches. Without keys no block counts as a milestone's. */
export async function readRules(
  db: Database,
  settings: Settings,
  ledger: number,
): Promise<IntakeRules> {
  const keys = settings.milestoneKeys ?? { keys: [], threshold: 1 };
  return {
    keys,
    verify: verifySignature,
    parameters: admittingParameters(await readParameters(db), ledger),
  };
}
