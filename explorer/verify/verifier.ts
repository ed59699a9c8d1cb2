/**
 * `/verifier.js`: everything that hashes and checks signatures. The page loads it when it is first
 * needed.
 */
export {
  checkAppliedRoot,
  checkBlocks,
  checkInclusionRoot,
  checkMilestone,
  checkOrder,
  readCone,
} from './check-cone.ts';
export { hashPath } from './merkle-levels.ts';
export { NotVerified, verifyFinalHere, verifyHere } from './verify-here.ts';
