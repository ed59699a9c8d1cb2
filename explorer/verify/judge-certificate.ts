/**
 * Judges the certificate of an NFT for its page: since when the NFT is in which output.
 */
import { proveCertificate } from '../../src/stardust/provenance/certificate.ts';
import { levelsOf } from '../../src/stardust/provenance/inclusion.ts';
import { notChecked, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { Finding, Level, NftState } from '../../src/stardust/provenance/provenance.ts';
import { isMissing } from '../node/ask.ts';
import { readCertificate } from '../node/ledger.ts';
import type { KeyChoice } from './describe-keys.ts';
import { softenDefault, trustOf } from './judge.ts';

export interface JudgedCertificate {
  state: Finding<NftState>;
  /** Of the path from the block to the applied root, where the certificate is right. */
  levels: { leaf: string; levels: readonly Level[] } | undefined;
}

/**
 * Never rejects, except where the visitor's keys are none.
 *
 * @param blockId of the change; of the newest one where it is left out
 */
export async function judgeCertificate(
  nftId: string,
  blockId: string | undefined,
  choice: KeyChoice,
  networkName: string,
): Promise<JudgedCertificate> {
  let json: Record<string, unknown>;
  try {
    json = await readCertificate(nftId, blockId);
  } catch (error) {
    const { message } = error as Error;
    const state = notChecked(
      isMissing(error) ? `the node keeps no proof of it. ${message}` : message,
    );
    return { state, levels: undefined };
  }
  const state = await proveCertificate(json, nftId, trustOf(choice));
  if (state.standing !== 'proved')
    return { state: softenDefault(state, choice, networkName), levels: undefined };
  return {
    state,
    levels: levelsOf(json.appliedProof, provedValue(state.proof).blockId, undefined),
  };
}
