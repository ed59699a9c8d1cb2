/**
 * Lies about since when an NFT is where it is, and about what became of it before.
 */
import { parseBech32Address, toBech32 } from '../../../src/stardust/bech32.ts';
import { type Lie, lie, onPage } from './lie.ts';
import { inJson, never, withField, withStatus } from './rules.ts';
import {
  CERTIFICATE,
  HISTORY,
  MADE_NFT,
  MADE_UP,
  NFT_OUTPUT,
  NOTHING,
  ONE_NFT,
} from './sample-paths.ts';

/** Another byte at this place of base64; negative: from the end. */
const flipped = (at: number) => (text: string) => {
  const bytes = Buffer.from(text, 'base64');
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  return bytes.toString('base64');
};

export const CERTIFICATE_LIES: readonly Lie[] = onPage(`#/nft/${MADE_NFT}`, [
  lie('a block that is another one', withField(CERTIFICATE, 'block', flipped(-1)), {
    refuted: /the proof of block/,
  }),
  lie('a block that is none', withField(CERTIFICATE, 'block', 'AAAA'), {
    refuted: /The block does not parse/,
  }),
  lie('a milestone that nobody signed', withField(CERTIFICATE, 'milestone', flipped(40)), {
    refuted: /M-3|[Ss]ign/,
  }),
  lie('a newest milestone that nobody signed', withField(CERTIFICATE, 'head', flipped(40)), {
    refuted: /M-3|[Ss]ign/,
  }),
  lie('a ledger index to come', withField(CERTIFICATE, 'ledgerIndex', 99_999), {
    refuted: /is not that of the certificate/,
  }),
  lie('a path to another root', withField(CERTIFICATE, 'appliedProof.r.h', MADE_UP), {
    refuted: /does not lead to the signed root/,
  }),
  lie('the certificate of another output', withField(CERTIFICATE, 'outputId', NFT_OUTPUT), {
    refuted: /names another NFT or output/,
  }),
  lie('the certificate of another NFT', withField(CERTIFICATE, 'nftId', NOTHING), {
    refuted: /names another NFT or output/,
  }),
  lie('an output that its certificate does not have', withField(ONE_NFT, 'outputId', NFT_OUTPUT), {
    refuted: /The node shows output 0xfc8c116e.*, and proves that output 0x9d9a3945/,
  }),
  lie('an owner by the prefix of another network', inJson(ONE_NFT, usePrefix), {
    refuted:
      /another owner than the conditions of the output, which are proved, lead to: smr1qpaj9/,
  }),
  lie('an NFT that is gone, and whose certificate is not', withStatus(ONE_NFT, 404), {
    refuted: /The node says that no output holds the NFT, and proves that output 0x9d9a3945/,
  }),
  lie('no certificate', withStatus(CERTIFICATE, 404), {
    notChecked: /The node keeps no proof of it/,
  }),
  lie('a certificate that never comes', never(CERTIFICATE), {
    notChecked: /within 30 seconds/,
    waits: true,
  }),
  lie('a change that never was', inJson(HISTORY, addChange), { said: /Burned/ }),
  lie('the history of another NFT', withField(HISTORY, 'nftId', NOTHING), {
    notChecked: /and answers another one/,
  }),
]);

function usePrefix({ owner }: { owner: { address: string } }): void {
  owner.address = toBech32('iota', parseBech32Address(owner.address)!.address);
}

/** A burn that nobody made. */
function addChange(json: { changes: object[] }): void {
  json.changes.unshift({ ...json.changes[0], outputId: null, owner: null, kind: 'burned' });
}
