/** A network in which a milestone references the block of the one before, and a forged copy of it. */
import { forgedSignature } from './milestones.ts';
import { SyntheticNetwork } from './synthetic-network.ts';

/** Milestone 2 references both blocks; `real` has milestone 1, `forged` the same with a bad signature. */
export function forgedCopy(): { network: SyntheticNetwork; real: string; forged: string } {
  const network = new SyntheticNetwork({ seed: 'forged copy' });
  network.milestone();
  const real = network.milestoneBlock!;
  const forged = network.attachMilestone(forgedSignature(network.milestones[0]!.payload));
  network.milestone({ parents: [real, forged] });
  return { network, real, forged };
}
