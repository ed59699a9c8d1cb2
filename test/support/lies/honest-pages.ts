/**
 * What the explorer shows as proved where the node is honest: each tick that there must be, by page.
 * Without it, a page that shows no tick at all would withstand every lie.
 */
import { finalQuestion, finalTruth } from './final-lies.ts';
import type { Lie } from './lie.ts';
import {
  APPLIED_BLOCK,
  DATA_BLOCK,
  MADE_NFT,
  OTHER_NFT_OUTPUT,
  PAST_PROPOSAL,
  TRANSACTION,
} from './sample-paths.ts';
import { FINAL_LEDGER } from './table.ts';

interface HonestPage extends Pick<Lie, 'page' | 'truth' | 'final'> {
  proved: readonly RegExp[];
}

export const HONEST_PAGES: readonly HonestPage[] = [
  {
    page: '#/milestone/17339',
    proved: [
      /of 28 Sept 2022, 17:25:01 UTC is signed by 10 of the keys of Shimmer: signed, but \d+ years old/,
      /Each of 38 blocks has the hash/,
      /The walk from the parents meets them in this order/,
      /inclusion root that was signed/,
      /applied root that was signed/,
    ],
  },
  {
    page: `#/milestone/17339?block=${APPLIED_BLOCK}`,
    proved: [/7 hashes lead to the inclusion root of milestone 17,?339 that was signed/],
  },
  {
    page: `#/block/${APPLIED_BLOCK}`,
    proved: [
      /7 hashes lead to the inclusion root of milestone 17,?339 that was signed/,
      /4 hashes lead to the applied root that was signed: the transaction was applied/,
    ],
  },
  {
    page: `#/block/${DATA_BLOCK}`,
    proved: [/7 hashes lead to the inclusion root of milestone 17,?339 that was signed/],
  },
  {
    page: `#/output/${OTHER_NFT_OUTPUT}`,
    proved: [/in the bytes that hash to the ID of transaction/, /^Amount 0\.1884 SMR NFT 0x3444/m],
  },
  {
    page: `#/transaction/${TRANSACTION}`,
    proved: [
      /The outputs, and who unlocks the inputs, are in the bytes of the block/,
      /The 3 outputs that are consumed hash to what the transaction commits to/,
      /^91\.4091 SMR$/m,
      /NFT “Soonanaut #2526”/,
      /Alias 0x6a56.* in a new state/,
      /7 hashes lead to the inclusion root of milestone 17,?339 that was signed/,
      /4 hashes lead to the applied root that was signed: the transaction was applied/,
    ],
  },
  {
    page: `#/nft/${MADE_NFT}`,
    proved: [
      /came to output 0x.* in milestone 17,?339 of 28 Sept 2022, 17:25:01 UTC, signed by 10 of/,
    ],
  },
  {
    page: '#/verify',
    proved: [
      /Verified: milestone 17,?339 of 28 Sept 2022, 17:25:01 UTC \(signed, but \d+ years old\)/,
    ],
  },
  {
    page: '#/verify',
    final: finalQuestion(FINAL_LEDGER),
    truth: finalTruth(FINAL_LEDGER),
    proved: [/150 outputs and 15 NFTs of made at milestone 10/, /is in the ledger/],
  },
  { page: PAST_PROPOSAL, proved: [/Both roots are/] },
];
