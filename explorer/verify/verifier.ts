/**
 * What hashes and checks signatures on most pages, once they are drawn. What fewer pages need, such as
 * judge-cone.ts, they load themselves.
 */
export { proveSignedRoots, readMilestoneFacts } from '../../src/stardust/provenance/milestone.ts';
export { judgeMilestone, readBlockContent, readSigned } from './judge.ts';
