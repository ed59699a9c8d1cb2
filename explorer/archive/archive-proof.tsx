/**
 * What the pages of outputs and NFTs have of the archive, where the network has ended: the proof that the
 * last ledger has them, or has not. Its script is loaded there only.
 */
import { hasEnded, type Info } from '../node/shapes.ts';
import { Later } from '../parts/later.tsx';

export function ArchiveProof({ id, info }: { id: string; info: Info }) {
  return hasEnded(info) ? <Later key="proof" load={loadProvedRecord} id={id} /> : null;
}

const loadProvedRecord = async () => (await import('./proved-record.tsx')).ProvedRecord;
