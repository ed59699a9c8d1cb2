/**
 * Lies about NFTs, outputs and galleries, and about the network as a whole.
 */
import { SAMPLE_ISSUER } from '../browser/sample-facts.ts';
import type { Lie } from './lie.ts';
import {
  always,
  asIfAsked,
  inJson,
  inText,
  type Json,
  nested,
  never,
  withField,
  withStatus,
} from './rules.ts';
import {
  ANY_OUTPUT,
  INFO,
  MADE_UP,
  NFT,
  NFT_OUTPUT,
  NFTS_OF,
  NOTHING,
  ONE_NFT,
  OTHER_NFT_OUTPUT,
} from './sample-paths.ts';

const ESCAPE = '\u001b[2J\u001b[H\u001b[32mEverything holds.\u001b[8m';
const ofNft = `#/nft/${NFT}`;
const ofOutput = `#/output/${NFT_OUTPUT}`;
const ofIssuer = `#/issuer/${SAMPLE_ISSUER}`;

const NFTS: readonly Lie[] = [
  {
    name: 'another NFT than the one that was asked for',
    notChecked: /asked for NFT 0x7{64}, and answers another/,
    rules: [asIfAsked(`/api/edge/v1/nfts/${NOTHING}`, `/api/edge/v1/nfts/${NFT}`)],
    page: `#/nft/${NOTHING}`,
  },
  {
    name: 'the owner of an NFT',
    said: /Owner smr1qzlia/,
    rules: [withField(ONE_NFT, 'owner.address', `smr1qzliar${'0'.repeat(53)}`)],
  },
  {
    name: 'an owner from right to left',
    notChecked: /contract says: owner.address/,
    rules: [withField(ONE_NFT, 'owner.address', 'smr1\u202eqp\u202c <b>x</b>')],
  },
  {
    name: 'the issuer of an NFT',
    said: /Issuer smr1qz46h/,
    rules: [
      withField(ONE_NFT, 'output.immutableFeatures.0.address', { type: 0, pubKeyHash: MADE_UP }),
    ],
  },
  {
    name: 'the deposit of an NFT',
    said: /999,999,999,999\.999999/,
    rules: [withField(ONE_NFT, 'output.amount', '999999999999999999')],
  },
  {
    name: 'a ledger index to come',
    said: /99999/,
    rules: [withField(ONE_NFT, 'ledgerIndex', 99_999)],
  },
  {
    name: 'a time in 285 million years',
    notChecked: /contract says: metadata/,
    rules: [withField(ONE_NFT, 'metadata.milestoneTimestampBooked', 2 ** 53 - 1)],
  },
  {
    name: 'a tag of three digits',
    said: /Owner/,
    rules: [withField(ONE_NFT, 'output.features', [{ type: 3, tag: '0xabc' }])],
  },
  {
    name: 'an NFT 200,000 levels deep',
    notChecked: /contract/,
    rules: [inText(ONE_NFT, (text) => text.replace('"output":{', `$&"deep":${nested(200_000)},`))],
  },
  {
    name: 'metadata that call themselves verified',
    shows: /Nobody has verified this/,
    rules: [
      withField(ONE_NFT, 'output.immutableFeatures.1.data', () => {
        const claims = { standard: 'IRC27', name: '\u2713 Verified', collectionName: 'Proved' };
        return `0x${Buffer.from(JSON.stringify(claims)).toString('hex')}`;
      }),
    ],
  },
  {
    name: 'an NFT that is gone',
    shows: /This node says that no unspent output holds an NFT with this ID/,
    rules: [withStatus(ONE_NFT, 404)],
  },
  {
    name: 'an NFT that never comes',
    notChecked: /within 30 seconds/,
    rules: [never(ONE_NFT)],
    waits: true as const,
  },
].map((lie) => ({ page: ofNft, ...lie }));

const OUTPUTS: readonly Lie[] = [
  {
    name: 'another output',
    said: /Basic output Amount 1,000,000,000 SMR/,
    rules: [
      inJson(ANY_OUTPUT, (json) => {
        json.output = { type: 3, amount: '1000000000000000', unlockConditions: [] };
      }),
    ],
  },
  {
    name: 'the output of another ID',
    said: /NFT 0x3444/,
    rules: [
      asIfAsked(`/api/core/v2/outputs/${NFT_OUTPUT}`, `/api/core/v2/outputs/${OTHER_NFT_OUTPUT}`),
    ],
  },
  {
    name: 'an unspent output as spent',
    said: /spent on 28 Sept 2022/,
    rules: [
      inJson(ANY_OUTPUT, ({ metadata }) => {
        Object.assign(metadata, {
          isSpent: true,
          milestoneIndexSpent: 17_339,
          milestoneTimestampSpent: 1_664_385_901,
          transactionIdSpent: MADE_UP,
        });
      }),
    ],
  },
  {
    name: 'the milestone that made an output',
    said: /Created by milestone 1,/,
    rules: [withField(ANY_OUTPUT, 'metadata.milestoneIndexBooked', 1)],
  },
  {
    name: 'the transaction that made an output',
    said: /Transaction 0xabab/,
    rules: [withField(ANY_OUTPUT, 'metadata.transactionId', MADE_UP)],
  },
  {
    name: 'an output that is gone',
    shows: /This node does not know the output, it says/,
    rules: [withStatus(ANY_OUTPUT, 404)],
  },
].map((lie) => ({ page: ofOutput, ...lie }));

const GALLERIES: readonly Lie[] = [
  {
    name: 'a foreign NFT in a gallery',
    said: /a node can leave NFTs out of a list, or put others in.*23 at ledger/,
    rules: [inJson(NFTS_OF, ({ nfts }) => void nfts.push({ ...nfts[0], nftId: MADE_UP }))],
  },
  {
    name: 'an empty gallery',
    said: /This node says, and it is not checked: .* no NFT/,
    rules: [inJson(NFTS_OF, ({ ledgerIndex }) => ({ ledgerIndex, nfts: [] }))],
  },
  {
    name: 'a gallery of 1,000 NFTs on a page',
    notChecked: /contract says: nfts\./,
    rules: [inJson(NFTS_OF, (json) => ({ ...json, nfts: Array(1000).fill(json.nfts[0]) }))],
  },
  {
    name: 'a gallery that ends too soon',
    said: /1 at ledger index 17339/,
    rules: [inJson(NFTS_OF, (json) => void json.nfts.splice(1))],
  },
].map((lie) => ({ page: ofIssuer, ...lie }));

const status = (change: Json) =>
  inJson(INFO, (json) => {
    json.status.isHealthy = true;
    Object.assign(json.status.confirmedMilestone, change);
  });

const now = () => Math.floor(Date.now() / 1000) - 5;

const OF_INFO: readonly Lie[] = [
  {
    name: 'no decimals',
    said: /188,?200 SMR/,
    rules: [withField(INFO, 'baseToken.decimals', 0)],
    page: ofNft,
  },
  {
    name: '2³¹ decimals',
    shows: /contract says: baseToken\.decimals/,
    rules: [withField(INFO, 'baseToken.decimals', 2 ** 31)],
    page: ofNft,
  },
  {
    name: 'a ticker of 100,000 characters',
    shows: /contract says: baseToken\.tickerSymbol/,
    rules: [withField(INFO, 'baseToken.tickerSymbol', `SMR\u202e${'x'.repeat(100_000)}`)],
    page: ofNft,
  },
  {
    name: 'the prefix of another network',
    said: /Issuer iota1/,
    rules: [withField(INFO, 'protocol.bech32Hrp', 'iota')],
    page: ofNft,
  },
  {
    name: 'an empty prefix',
    shows: /contract says: protocol\.bech32Hrp/,
    rules: [withField(INFO, 'protocol.bech32Hrp', '')],
    page: ofNft,
  },
  {
    name: 'a Cyrillic prefix',
    shows: /contract says: protocol\.bech32Hrp/,
    rules: [withField(INFO, 'protocol.bech32Hrp', '\u0455mr')],
    page: ofNft,
  },
  {
    name: 'an old ledger as live',
    shows: /ledger 17,339 · signed, but \d+ years old/,
    hides: /\blive\b/,
    rules: [status({ timestamp: now() })],
    page: '#/',
  },
  {
    name: 'an old ledger as live and far ahead',
    notChecked: /Milestone 99999: The node answered 404/,
    said: /this node says: ledger 99,999/,
    hides: /\blive\b/,
    rules: [status({ timestamp: now(), index: 99_999 })],
    page: '#/',
  },
  {
    name: 'a network that ended',
    shows: /ledger 17,339 · signed, but \d+ years old/,
    rules: [withField(INFO, 'features', ['finalMilestone'])],
    page: '#/',
  },
  {
    name: 'an index of control characters',
    shows: /contract says: status\.confirmedMilestone\.index/,
    rules: [withField(INFO, 'status.confirmedMilestone.index', ESCAPE)],
    page: '#/',
  },
  {
    name: 'an index beyond all numbers',
    shows: /contract says: status\.confirmedMilestone\.index/,
    rules: [withField(INFO, 'status.confirmedMilestone.index', 1e308)],
    page: '#/',
  },
  {
    name: 'info that never comes',
    shows: /within 30 seconds/,
    rules: [never(INFO)],
    page: '#/',
    waits: true,
  },
  {
    name: 'info a million levels deep',
    shows: /contract/,
    rules: [always(INFO, () => nested(1_000_000))],
    page: '#/',
  },
];

export const LEDGER_LIES: readonly Lie[] = [...NFTS, ...OUTPUTS, ...GALLERIES, ...OF_INFO];
