/** What the page of an NFT shows beside a tick is what the NFT's certificate proves, all of it. */
import { beforeAll, expect, it } from 'vitest';
import { differenceOf, type ShownNft } from '../../explorer/nft/difference.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { proveCertificate } from '../../src/stardust/provenance/certificate.ts';
import type { Proved } from '../../src/stardust/provenance/proved.ts';
import type { NftState } from '../../src/stardust/provenance/provenance.ts';
import { certificatePath, frozenAt, heldAt, holdersOf } from '../support/lies/nft-liars.ts';
import { nftLives } from '../support/network/nft-lives.ts';

const NEWEST = 60;
const network = nftLives('what a page shows', NEWEST);
const trust = { whose: 'the keys', keys: network.keys, verify: verifySignature };
const all: { shown: ShownNft; proof: Proved<NftState> }[] = [];

beforeAll(async () => {
  const node = await frozenAt(network, NEWEST);
  for (const [nftId, own] of holdersOf(network)) {
    if (heldAt(own, NEWEST) === undefined) continue;
    const certificate = await node(certificatePath(nftId));
    if (!certificate.ok) continue;
    const finding = await proveCertificate(await certificate.json(), nftId, trust);
    if (finding.standing !== 'proved') throw new Error(finding.reason);
    const shown = (await (await node(`/api/edge/v1/nfts/${nftId}`)).json()) as ShownNft;
    all.push({ shown, proof: finding.proof });
  }
});

it('an honest node shows nothing else', () => {
  expect(all.length).toBeGreaterThan(3);
  for (const { shown, proof } of all) expect(differenceOf(shown, proof)).toBe(undefined);
});

const other = (text: string) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');

it.each<[string, (shown: ShownNft) => object]>([
  ['output ID', ({ outputId }) => ({ outputId: other(outputId) })],
  ['deposit', ({ output }) => ({ output: { ...output, amount: `${output.amount}0` } })],
  [
    'metadata',
    ({ output }) => ({
      output: { ...output, immutableFeatures: [{ type: 2, data: '0xabcdef' }] },
    }),
  ],
  ['condition', ({ output }) => ({ output: { ...output, unlockConditions: [] } })],
  ['what is no output', ({ output }) => ({ output: { ...output, amount: 'much' } })],
  ['owner', ({ owner }) => ({ owner: { ...owner, address: ownersBut(owner.address) } })],
  ['owner who is none', ({ owner }) => ({ owner: { ...owner, address: 'smr1' } })],
  ['timelock', ({ owner }) => ({ owner: { ...owner, timelockedUntil: 4_000_000_000 } })],
  ['no permission', ({ owner }) => ({ owner: { ...owner, canUnlock: !owner.canUnlock } })],
  [
    'heir',
    ({ owner }) => ({
      owner: { ...owner, passesTo: { address: owner.address, unixTime: 4_000_000_001 } },
    }),
  ],
  [
    'time',
    ({ metadata }) => ({
      metadata: { ...metadata, milestoneTimestampBooked: metadata.milestoneTimestampBooked - 1 },
    }),
  ],
])('another %s is found', (_, change) => {
  for (const { shown, proof } of all)
    expect(differenceOf({ ...shown, ...change(shown) } as ShownNft, proof)).toBeDefined();
});

const ownersBut = (address: string) =>
  all.map(({ shown }) => shown.owner.address).find((each) => each !== address)!;

it('an answer of another milestone may have another owner, and none that the output does not name', () => {
  for (const { shown, proof } of all) {
    const earlier = { ...shown, ledgerIndex: shown.ledgerIndex - 1 };
    expect(differenceOf(earlier, proof)).toBe(undefined);
    const owner = { ...shown.owner, timelockedUntil: 4_000_000_000 };
    expect(differenceOf({ ...earlier, owner }, proof)).toBeDefined();
  }
});
