/**
 * `/verifier.js`: everything that hashes and checks signatures. The page loads it once it is drawn.
 */
export { proveSignedRoots, readMilestoneFacts } from '../../src/stardust/provenance/provenance.ts';
export { judgeMilestone, readBlock, readBlockContent, readSigned } from './judge.ts';
export { judgePath } from './judge-block.ts';
export { judgeCone } from './judge-cone.ts';
export { finalOutputHere, NotVerified, verifyFinalHere, verifyHere } from './verify-here.ts';
