/**
 * The one module that judges what a node says: under the page, `stardust-edge verify` and
 * `explain` alike; the subpath `/provenance` of the package (../README.md). It takes bytes, and keys
 * or a root that the reader chose, and returns what they prove. It has no platform: it fetches
 * nothing and knows no clock.
 *
 * - {@link proveMilestone}: bytes and keys → ID, index, time, previous milestone, roots, signers.
 * - {@link proveOrder}, {@link proveApplied}: a milestone and IDs → its blocks in order, by the
 *   inclusion root; which were applied, by the applied root.
 * - {@link proveBlockBytes}, {@link proveBlockContent}: bytes and an ID → parents, kind, ID of its
 *   transaction; all that it carries.
 * - {@link proveCone}: the former two together → what the milestone decided about each block.
 * - {@link provePath}: a milestone, a block and a Merkle path → it is included; it was applied.
 * - {@link proveCertificate}: a certificate → a state of an NFT, and since when; {@link laterState}:
 *   which of two is the later.
 * - {@link proveFinalLedger}, {@link proveFinalRecord}: a final root → what the ledger has, or not.
 *
 * A page imports the files of this folder themselves, as a bundler would load all of them otherwise.
 * It alone uses `outputs.ts`, bytes of a transaction → what it creates, and which outputs it
 * commits to consume, and `fault.ts`: what decides about it. The subpath `/statement` has
 * `statement.ts`: a statement and a final root → what an address held.
 */
export {
  type BlockContent,
  type BlockFacts,
  type BlockSet,
  proveBlockBytes,
  proveBlockContent,
  proveBlocks,
  proveWalk,
} from './blocks.ts';
export {
  laterState,
  MAX_CERTIFICATE_BYTES,
  type NftState,
  proveCertificate,
} from './certificate.ts';
export {
  compareCone,
  type MilestoneOutcome,
  type Order,
  type PastCone,
  proveApplied,
  proveCone,
  proveHash,
  proveOrder,
  type SaidBlock,
} from './cone.ts';
export {
  type FinalRecord,
  proveFinalLedger,
  proveFinalRecord,
  treeOfId,
} from './final.ts';
export {
  type Inclusion,
  type Level,
  levelsOf,
  provePath,
} from './inclusion.ts';
export {
  type AskedMilestone,
  type MilestoneFacts,
  proveMilestone,
  proveSignedRoots,
  type SignedMilestone,
  type Trust,
} from './milestone.ts';
export { proveProofFile } from './proof-file.ts';
export {
  type Finding,
  notChecked,
  type Proved,
  provedValue,
  refute,
  type Said,
  tell,
} from './proved.ts';
export {
  describeSignedAge,
  formatTime,
  isLive,
} from './words.ts';
