/**
 * What proves an output or an NFT, on its page: where the network has ended, that the last ledger has it,
 * or has not. That script is loaded there only.
 */
import { type Info, saysEnded } from '../node/shapes.ts';
import { Later } from '../parts/later.tsx';
import type { Recorded } from './proved-record.tsx';

/** Where the proof is, for the page that has it. */
export const ARCHIVE_PROOF =
  'its path to the final root of this ledger, which your browser checks on this page.';

export function ArchiveProof({ info, ...recorded }: Recorded & { info: Info }) {
  return saysEnded(info) ? <Later key="proof" load={loadProvedRecord} {...recorded} /> : null;
}

const loadProvedRecord = async () => (await import('./proved-record.tsx')).ProvedRecord;
