/**
 * Lies about NFTs, outputs and galleries, and about the network as a whole.
 */
import { SAMPLE_ISSUER } from '../browser/sample-facts.ts';
import { type Lie, lie, onPage } from './lie.ts';
import {
  always,
  asIfAsked,
  flip,
  inBytes,
  inJson,
  inText,
  type Json,
  nested,
  never,
  withField,
  withStatus,
} from './rules.ts';
import {
  ANY_BLOCK,
  ANY_OUTPUT,
  APPLIED_BLOCK,
  INFO,
  MADE_UP,
  NFT,
  NFT_OUTPUT,
  NFTS_BY_ID,
  NFTS_OF,
  NOTHING,
  ONE_NFT,
  OTHER_NFT_OUTPUT,
  TRANSACTION,
} from './sample-paths.ts';

const ESCAPE = '\u001b[2J\u001b[H\u001b[32mEverything holds.\u001b[8m';
const ofNft = `#/nft/${NFT}`;
const ofOutput = `#/output/${NFT_OUTPUT}`;
const ofIssuer = `#/issuer/${SAMPLE_ISSUER}`;

const NFTS: readonly Lie[] = onPage(ofNft, [
  lie(
    'another NFT than the one that was asked for',
    asIfAsked(`/api/edge/v1/nfts/${NOTHING}`, `/api/edge/v1/nfts/${NFT}`),
    { notChecked: /asked for NFT 0x7{64}, and answers another/, page: `#/nft/${NOTHING}` },
  ),
  lie('the owner of an NFT', withField(ONE_NFT, 'owner.address', `smr1qzliar${'0'.repeat(53)}`), {
    said: /Owner smr1qzlia/,
  }),
  lie(
    'an owner from right to left',
    withField(ONE_NFT, 'owner.address', 'smr1\u202eqp\u202c <b>x</b>'),
    { notChecked: /contract says: owner.address/ },
  ),
  lie(
    'the issuer of an NFT',
    withField(ONE_NFT, 'output.immutableFeatures.0.address', { type: 0, pubKeyHash: MADE_UP }),
    { said: /Issuer smr1qz46h/ },
  ),
  lie('the deposit of an NFT', withField(ONE_NFT, 'output.amount', '999999999999999999'), {
    said: /999,999,999,999\.999999/,
  }),
  lie('a ledger index to come', withField(ONE_NFT, 'ledgerIndex', 99_999), { said: /99999/ }),
  lie(
    'a time in 285 million years',
    withField(ONE_NFT, 'metadata.milestoneTimestampBooked', 2 ** 53 - 1),
    { notChecked: /contract says: metadata/ },
  ),
  lie('a tag of three digits', withField(ONE_NFT, 'output.features', [{ type: 3, tag: '0xabc' }]), {
    said: /Owner/,
  }),
  lie(
    'an NFT 200,000 levels deep',
    inText(ONE_NFT, (text) => text.replace('"output":{', `$&"deep":${nested(200_000)},`)),
    { notChecked: /contract/ },
  ),
  lie(
    'metadata that call themselves verified',
    withField(ONE_NFT, 'output.immutableFeatures.1.data', () => {
      const claims = { standard: 'IRC27', name: '\u2713 Verified', collectionName: 'Proved' };
      return `0x${Buffer.from(JSON.stringify(claims)).toString('hex')}`;
    }),
    { shows: /Nobody has verified this/ },
  ),
  lie('an NFT that is gone', withStatus(ONE_NFT, 404), {
    shows: /This node says that no unspent output holds an NFT with this ID/,
  }),
  lie('an NFT that never comes', never(ONE_NFT), { notChecked: /within 30 seconds/, waits: true }),
]);

const OUTPUTS: readonly Lie[] = onPage(ofOutput, [
  lie(
    'another output',
    inJson(ANY_OUTPUT, (json) => {
      json.output = { type: 3, amount: '1000000000000000', unlockConditions: [] };
    }),
    { notChecked: /The node's answer is no output: C-33/ },
  ),
  lie(
    'the output of another ID',
    asIfAsked(`/api/core/v2/outputs/${NFT_OUTPUT}`, `/api/core/v2/outputs/${OTHER_NFT_OUTPUT}`),
    { notChecked: /asked for output 0xfc8c\w+, and answers another one/ },
  ),
  lie(
    'an unspent output as spent',
    inJson(ANY_OUTPUT, ({ metadata }) => {
      Object.assign(metadata, {
        isSpent: true,
        milestoneIndexSpent: 17_339,
        milestoneTimestampSpent: 1_664_385_901,
        transactionIdSpent: MADE_UP,
      });
    }),
    { said: /spent on 28 Sept 2022/ },
  ),
  lie(
    'the milestone that made an output',
    withField(ANY_OUTPUT, 'metadata.milestoneIndexBooked', 1),
    { said: /milestone 1\b/ },
  ),
  lie(
    'the transaction that made an output',
    withField(ANY_OUTPUT, 'metadata.transactionId', MADE_UP),
    { notChecked: /asked for output 0xfc8c\w+, and answers another one/ },
  ),
  lie('an output that is gone', withStatus(ANY_OUTPUT, 404), {
    shows: /This node does not know the output, it says/,
  }),
]);

const CREATED: readonly Lie[] = onPage(`#/output/${OTHER_NFT_OUTPUT}`, [
  lie('the amount of an output', withField(ANY_OUTPUT, 'output.amount', '999999999'), {
    refuted: /Output 0x9d9a\w+ is another one in the bytes of its transaction/,
    said: /Amount 999\.999999 SMR/,
  }),
  lie(
    'the owner of an output',
    withField(ANY_OUTPUT, 'output.unlockConditions.0.address', { type: 0, pubKeyHash: MADE_UP }),
    {
      refuted: /Output 0x9d9a\w+ is another one in the bytes of its transaction/,
      said: /Only smr1qz46h/,
    },
  ),
  lie('the block that made an output', withField(ANY_OUTPUT, 'metadata.blockId', APPLIED_BLOCK), {
    refuted: /Block 0xf217\w+ does not create output 0x9d9a/,
  }),
  lie('the bytes of the block that made an output', inBytes(ANY_BLOCK, flip(-1)), {
    refuted: /The bytes of block 0x\w+ are those of 0x/,
  }),
]);

const GALLERIES: readonly Lie[] = onPage(ofIssuer, [
  lie(
    'another NFT in a gallery',
    inJson(NFTS_BY_ID, ({ nfts }) => void Object.assign(nfts[0], { outputId: `${MADE_UP}0000` })),
    { notChecked: /asked for output 0x.*, and answers another one/ },
  ),
  lie(
    'an NFT twice in a gallery',
    inJson(NFTS_OF, ({ items }) => void items.push(items[0])),
    { said: /a node can leave NFTs out of a list, or put others in.*23 NFTs at ledger/ },
  ),
  lie(
    'an empty gallery',
    inJson(NFTS_OF, (json) => void Object.assign(json, { items: [] })),
    { said: /This node says, and it is not checked: .* no NFT/ },
  ),
  lie(
    'a gallery of 1,001 NFTs on a page',
    inJson(NFTS_OF, (json) => ({ ...json, items: Array(1001).fill(json.items[0]) })),
    { notChecked: /contract says: items/ },
  ),
  lie(
    'a gallery that ends too soon',
    inJson(NFTS_OF, (json) => void json.items.splice(1)),
    { said: /1 NFT at ledger index 17339/ },
  ),
]);

const status = (change: Json) =>
  inJson(INFO, (json) => {
    json.status.isHealthy = true;
    Object.assign(json.status.confirmedMilestone, change);
  });

const now = () => Math.floor(Date.now() / 1000) - 5;

const tells = (field: string, value: unknown) => withField(INFO, field, value);
const AGE = /ledger 17339 · signed, but \d+ years old/;
const NO_PREFIX = { shows: /contract says: protocol\.bech32Hrp/ };
const NO_INDEX = { shows: /contract says: status\.confirmedMilestone\.index/ };

const OF_INFO: readonly Lie[] = [
  ...onPage(ofNft, [
    lie('no decimals', tells('baseToken.decimals', 0), { said: /188,?200 SMR/ }),
    lie('2³¹ decimals', tells('baseToken.decimals', 2 ** 31), {
      shows: /contract says: baseToken\.decimals/,
    }),
    lie(
      'a ticker of 100,000 characters',
      tells('baseToken.tickerSymbol', `SMR\u202e${'x'.repeat(100_000)}`),
      { shows: /contract says: baseToken\.tickerSymbol/ },
    ),
    lie('the prefix of another network', tells('protocol.bech32Hrp', 'iota'), {
      said: /Issuer iota1/,
    }),
    lie('an empty prefix', tells('protocol.bech32Hrp', ''), NO_PREFIX),
    lie('a Cyrillic prefix', tells('protocol.bech32Hrp', '\u0455mr'), NO_PREFIX),
  ]),
  ...onPage(`#/transaction/${TRANSACTION}`, [
    lie('no decimals, of what a transaction does', tells('baseToken.decimals', 0), {
      hides: /91,?409,?100/,
    }),
    lie('no decimals, of a transaction', tells('baseToken.decimals', 0), {
      refuted: /SMR with 0 decimals.*signed for Shimmer, which has SMR with 6 decimals/,
      shows: /91\.4091 SMR/,
    }),
    lie('the prefix of another network, of a transaction', tells('protocol.bech32Hrp', 'iota'), {
      refuted: /addresses that begin with iota\. The transaction was signed for Shimmer/,
    }),
    lie(
      'the amount of what a transaction consumes',
      inJson(ANY_OUTPUT, ({ output }) => {
        output.amount = '1';
      }),
      { refuted: /do not hash to the inputs commitment/ },
    ),
    lie('outputs that are gone, of a transaction', withStatus(ANY_OUTPUT, 404), {
      notChecked: /The inputs, as none of their 3 outputs came/,
    }),
  ]),
  ...onPage('#/', [
    lie('an old ledger as live', status({ timestamp: now() }), { shows: AGE, hides: /\blive\b/ }),
    lie('an old ledger as live and far ahead', status({ timestamp: now(), index: 99_999 }), {
      notChecked: /Who signed milestone 99999, as this node does not have its bytes/,
      said: /this node says: ledger 99999/,
      hides: /\blive\b/,
    }),
    lie('a network that ended', tells('features', ['finalMilestone']), { shows: AGE }),
    lie(
      'an index of control characters',
      tells('status.confirmedMilestone.index', ESCAPE),
      NO_INDEX,
    ),
    lie('an index beyond all numbers', tells('status.confirmedMilestone.index', 1e308), NO_INDEX),
    lie('info that never comes', never(INFO), { shows: /within 30 seconds/, waits: true }),
    lie(
      'info a million levels deep',
      always(INFO, () => nested(1_000_000)),
      { shows: /contract/ },
    ),
  ]),
];

export const LEDGER_LIES: readonly Lie[] = [
  ...NFTS,
  ...OUTPUTS,
  ...CREATED,
  ...GALLERIES,
  ...OF_INFO,
];
