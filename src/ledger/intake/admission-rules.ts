/**
 * What a block is judged by as it comes in.
 */
import type { MilestoneKeys, VerifySignature } from '../../stardust/milestone-keys.ts';
import type { ProtocolParameters } from '../../stardust/wire/parameters.ts';
import { verifySignature } from '../../verify-signature.ts';
import type { Database } from '../core/database.ts';
import { admittingParameters, readParameters } from '../core/ledger-parameters.ts';

export interface AdmissionRules {
  keys: MilestoneKeys;
  verify: VerifySignature;
  /**
   * Every set of protocol parameters that a block may have been admitted under, the current one
   * first.
   */
  parameters: readonly ProtocolParameters[];
}

const NO_KEYS: MilestoneKeys = { keys: [], threshold: 1 };

/**
 * The rules by which a request judges blocks that it fetches. Without keys no block counts as a
 * milestone's.
 *
 * @param ledger index at which the blocks are to be admitted
 */
export async function readAdmissionRules(
  db: Database,
  keys: MilestoneKeys | undefined,
  ledger: number,
): Promise<AdmissionRules> {
  return {
    keys: keys ?? NO_KEYS,
    verify: verifySignature,
    parameters: admittingParameters(await readParameters(db), ledger),
  };
}
