/**
 * Proofs of inclusion: `{milestone, block, proof, blockId?}` (protocol.md B.13).
 */
import type { Line } from './line.ts';

export function runProof(line: Line): string | undefined {
  return line === undefined ? undefined : 'TODO';
}
