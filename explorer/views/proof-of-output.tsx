/**
 * What would prove an output: on a final ledger the proof itself, elsewhere that the
 * transaction was applied which made it.
 */
import { ARCHIVE_PROOF } from '../archive/archive-proof.tsx';
import { type Info, saysEnded } from '../node/shapes.ts';
import { To } from '../parts/parts.tsx';

export function ProofOfOutput({ outputId, info }: { outputId: string; info: Info }) {
  if (saysEnded(info)) return <>{ARCHIVE_PROOF}</>;
  // B.4: an output ID is that of the transaction and a place
  const transactionId = outputId.slice(0, 66);
  return (
    <>
      that it was created, the bytes of{' '}
      <To view={{ name: 'transaction', id: transactionId }}>its transaction</To> and two Merkle
      paths, which your browser checks there. That nothing came after it, no answer of one node
      proves: ask others.
    </>
  );
}
