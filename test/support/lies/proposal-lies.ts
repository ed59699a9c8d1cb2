/**
 * Lies about a past milestone that a visitor has the node compute again.
 */
import { forgedBytes, forgedInJson, forgedProposal } from './forged.ts';
import type { Lie } from './lie.ts';
import { inJson, never, withField, withStatus } from './rules.ts';
import { ANY_MILESTONE, INFO, MADE_UP, PAST_PROPOSAL, PROPOSAL } from './sample-paths.ts';

const SIGNED_ANOTHER = /Milestone 17,?339 was signed with another applied root/;

/** True of roots that nobody signed. */
const AS_TOLD = /^The 4 that it counts as applied hash to the applied root computed by the node\.$/;

export const PROPOSAL_LIES: readonly Lie[] = [
  {
    name: 'a past milestone computed with a false verdict',
    refuted: SIGNED_ANOTHER,
    rules: [forgedProposal],
  },
  {
    name: 'a past milestone with a false verdict, and JSON to match',
    refuted: SIGNED_ANOTHER,
    rules: [forgedProposal, ...forgedInJson],
  },
  {
    name: 'a past milestone with a false verdict, and bytes to match',
    refuted: /is not signed by the keys of Shimmer: M-3/,
    rules: [forgedProposal, ...forgedInJson, forgedBytes()],
  },
  {
    name: 'a past milestone with a false verdict, signed by strangers',
    refuted: /is not signed by the keys of Shimmer: M-3/,
    rules: [forgedProposal, ...forgedInJson, forgedBytes(10)],
  },
  {
    name: 'a past milestone; its bytes are not there',
    notChecked: /Milestone 17,?339: The node answered 404/,
    rules: [forgedProposal, ...forgedInJson, withStatus(ANY_MILESTONE, 404, 'bytes')],
  },
  {
    name: 'a past milestone of an unknown network',
    notChecked: /calls its network “shimmer2”.*not signed by the keys of Shimmer/s,
    rules: [
      forgedProposal,
      ...forgedInJson,
      forgedBytes(10),
      withField(INFO, 'protocol.networkName', 'shimmer2'),
    ],
  },
  {
    name: 'a past milestone as one that is yet to come',
    said: /ledger 17,338/,
    rules: [forgedProposal, withField(INFO, 'status.confirmedMilestone.index', 17_338)],
  },
  {
    name: 'a proposal with another root',
    refuted: /signed with another inclusion root.*hash to 0x5aa9\w+, and not to 0xabab/s,
    rules: [withField(PROPOSAL, 'inclusionMerkleRoot', MADE_UP)],
  },
  {
    name: 'a proposal of tagged data as a conflict',
    refuted: /block 0 carries transaction/,
    hides: /no conflict/,
    rules: [
      inJson(PROPOSAL, ({ blocks }) => {
        Object.assign(blocks[0], {
          payload: 'transaction',
          ledgerInclusionState: 'conflicting',
          conflictReason: 1,
        });
      }),
    ],
  },
  {
    name: 'a proposal that never comes',
    shows: /whiteflag within 30 seconds/,
    rules: [never(PROPOSAL)],
    waits: true as const,
  },
].map((lie) => ({ page: PAST_PROPOSAL, hides: /Both roots are/, alsoProved: AS_TOLD, ...lie }));
