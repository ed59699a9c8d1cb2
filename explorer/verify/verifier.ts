/**
 * `/verifier.js`: what hashes and checks signatures on most pages. A page loads it once it is drawn.
 * What fewer pages need, judge-cone.ts and verify-here.ts for example, they load themselves.
 */
export { proveSignedRoots, readMilestoneFacts } from '../../src/stardust/provenance/provenance.ts';
export { judgeMilestone, readBlockContent, readSigned } from './judge.ts';
export { judgePath } from './judge-block.ts';
export { judgeCertificate } from './judge-certificate.ts';
