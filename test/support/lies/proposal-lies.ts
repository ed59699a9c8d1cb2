/**
 * Lies about a past milestone that a visitor has the node compute again.
 */
import { forgedBytes, forgedInJson, forgedProposal } from './forged.ts';
import { type Lie, lie, onPage } from './lie.ts';
import { inJson, never, withField, withStatus } from './rules.ts';
import { ANY_MILESTONE, INFO, MADE_UP, PAST_PROPOSAL, PROPOSAL } from './sample-paths.ts';

const SIGNED_ANOTHER = /Milestone 17,?339 was signed with another applied root/;

/** True of roots that nobody signed. */
const AS_TOLD = /^The 4 that it counts as applied hash to the applied root computed by the node\.$/;

export const PROPOSAL_LIES: readonly Lie[] = onPage(
  PAST_PROPOSAL,
  [
    lie('a past milestone computed with a false verdict', forgedProposal, {
      refuted: SIGNED_ANOTHER,
    }),
    lie(
      'a past milestone with a false verdict, and JSON to match',
      [forgedProposal, ...forgedInJson],
      { refuted: SIGNED_ANOTHER },
    ),
    lie(
      'a past milestone with a false verdict, and bytes to match',
      [forgedProposal, ...forgedInJson, forgedBytes()],
      { refuted: /is not signed by the keys of Shimmer: .*\(rule M-3\)/ },
    ),
    lie(
      'a past milestone with a false verdict, signed by strangers',
      [forgedProposal, ...forgedInJson, forgedBytes(10)],
      { refuted: /is not signed by the keys of Shimmer: .*\(rule M-3\)/ },
    ),
    lie(
      'a past milestone; its bytes are not there',
      [forgedProposal, ...forgedInJson, withStatus(ANY_MILESTONE, 404, 'bytes')],
      { notChecked: /Who signed milestone 17,?339, as this node does not have its bytes/ },
    ),
    lie(
      'a past milestone of an unknown network',
      [
        forgedProposal,
        ...forgedInJson,
        forgedBytes(10),
        withField(INFO, 'protocol.networkName', 'shimmer2'),
      ],
      { notChecked: /calls its network “shimmer2”.*not signed by the keys of Shimmer/s },
    ),
    lie(
      'a past milestone as one that is yet to come',
      [forgedProposal, withField(INFO, 'status.confirmedMilestone.index', 17_338)],
      { said: /ledger 17338/ },
    ),
    lie('a proposal with another root', withField(PROPOSAL, 'inclusionMerkleRoot', MADE_UP), {
      refuted: /signed with another inclusion root.*hash to 0x5aa9\w+, and not to 0xabab/s,
    }),
    lie(
      'a proposal of tagged data as a conflict',
      inJson(PROPOSAL, ({ blocks }) => {
        Object.assign(blocks[0], {
          payload: 'transaction',
          ledgerInclusionState: 'conflicting',
          conflictReason: 1,
        });
      }),
      { refuted: /block 0 carries transaction/, hides: /no conflict/ },
    ),
    lie('a proposal that never comes', never(PROPOSAL), {
      shows: /whiteflag within 30 seconds/,
      waits: true,
    }),
  ],
  {
    hides: /Both roots are/,
    alsoProved: AS_TOLD,
  },
);
