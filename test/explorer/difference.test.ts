/** What the page of an NFT shows beside a tick is what the NFT's certificate proves, all of it. */

import { beforeAll, expect, it } from 'vitest';
import {
  differenceOf,
  differenceOfChange,
  isTrue,
  type ShownNft,
} from '../../explorer/nft/difference.ts';
import type { NftChangeJson } from '../../explorer/node/shapes.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { parseBech32Address, toBech32 } from '../../src/stardust/bech32.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { proveCertificate } from '../../src/stardust/provenance/certificate.ts';
import { type Proved, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { NftState } from '../../src/stardust/provenance/provenance.ts';
import { ownerAt } from '../../src/stardust/semantics/owner.ts';
import { address } from '../../src/stardust/wire/address.ts';
import { certificatePath, frozenAt } from '../support/lies/nft-liars.ts';
import { nftLives } from '../support/network/nft-lives.ts';
import { heldAt, holdersOf } from '../support/network/nft-places.ts';

const NEWEST = 60;
const network = nftLives('what a page shows', NEWEST);
const trust = { whose: 'the keys', keys: network.keys, verify: verifySignature };
const all: { shown: ShownNft; proof: Proved<NftState> }[] = [];
/** What the node tells of changes, also of NFTs that were burned, each with its certificate. */
const told: { change: NftChangeJson; proof: Proved<NftState> }[] = [];

beforeAll(async () => {
  const node = await frozenAt(network, NEWEST);
  const prove = async (nftId: string, answer: Response) => {
    const finding = await proveCertificate(await answer.json(), nftId, trust);
    if (finding.standing !== 'proved') throw new Error(finding.reason);
    return finding.proof;
  };
  for (const [nftId, own] of holdersOf(network)) {
    const history = await node(`/api/edge/v1/nfts/${nftId}/history`);
    const { changes } = history.ok
      ? ((await history.json()) as { changes: NftChangeJson[] })
      : { changes: [] };
    for (const change of changes) {
      const certificate = await node(certificatePath(nftId, `?block=${change.blockId}`));
      if (certificate.ok) told.push({ change, proof: await prove(nftId, certificate) });
    }
    if (heldAt(own, NEWEST) === undefined) continue;
    const certificate = await node(certificatePath(nftId));
    if (!certificate.ok) continue;
    const proof = await prove(nftId, certificate);
    const shown = (await (await node(`/api/edge/v1/nfts/${nftId}`)).json()) as ShownNft;
    all.push({ shown, proof });
  }
});

it('an honest node shows nothing else', () => {
  expect(all.length).toBeGreaterThan(3);
  for (const { shown, proof } of all) expect(differenceOf(shown, proof)).toBe(undefined);
});

it('an honest node whose network has no prefix for addresses shows nothing else, and a liar does', () => {
  const inHex = (bech32: string) => toHex(encode(address, parseBech32Address(bech32)!.address));
  for (const { shown, proof } of all) {
    const { owner, ...rest } = shown;
    const passesTo = owner.passesTo && {
      ...owner.passesTo,
      address: inHex(owner.passesTo.address),
    };
    const own = { ...owner, address: inHex(owner.address), ...(passesTo && { passesTo }) };
    expect(differenceOf({ ...rest, owner: own }, proof)).toBe(undefined);
    const lie = { ...own, address: other(own.address) };
    expect(differenceOf({ ...rest, owner: lie }, proof)).toContain('owner');
  }
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

it('the owner of another time is not proved, whatever ledger index the answer names', () => {
  for (const { shown, proof } of all) expect(isTrue(shown, proof)).toBe(true);
  const lies = all.flatMap(({ shown, proof }) => {
    const { output } = provedValue(proof).held!;
    const { prefix } = parseBech32Address(shown.owner.address)!;
    const times = output.unlockConditions.flatMap((each) =>
      'unixTime' in each ? each.unixTime : [],
    );
    return [0, ...times].flatMap((time) => {
      const { address, timelockedUntil, passesTo } = ownerAt(output, time);
      const owner = {
        address: toBech32(prefix, address),
        canUnlock: timelockedUntil === undefined,
        ...(timelockedUntil !== undefined && { timelockedUntil }),
        ...(passesTo && {
          passesTo: { ...passesTo, address: toBech32(prefix, passesTo.address) },
        }),
      };
      const said = { ...shown, owner, ledgerIndex: shown.ledgerIndex - 1 };
      return owner.address === shown.owner.address ? [] : [{ said, proof }];
    });
  });
  expect(lies).not.toEqual([]);
  for (const { said, proof } of lies) {
    expect(differenceOf(said, proof)).toBe(undefined);
    expect(isTrue(said, proof)).toBe(false);
  }
});

it.each<[string, (output: ShownNft['output']) => object]>([
  ['deposit', ({ amount }) => ({ amount: `${amount}0` })],
  [
    'metadata',
    ({ immutableFeatures = [] }) => ({
      immutableFeatures: [
        ...immutableFeatures.filter(({ type }) => type !== 2),
        { type: 2, data: '0xabcdef' },
      ],
    }),
  ],
  [
    'tag',
    ({ features = [] }) => ({
      features: [...features.filter(({ type }) => type !== 3), { type: 3, tag: '0xabcdef' }],
    }),
  ],
])('another %s is named, and nothing else', (name, change) => {
  for (const { shown, proof } of all) {
    const output = { ...shown.output, ...change(shown.output) };
    expect(differenceOf({ ...shown, output } as ShownNft, proof)).toMatch(
      new RegExp(`^another ${name} than its own certificate proves`),
    );
  }
});

it('an honest node tells what the certificate of each change proves', () => {
  expect(new Set(told.map(({ change }) => change.kind)).size).toBeGreaterThan(2);
  for (const { change, proof } of told) expect(differenceOfChange(change, proof)).toBe(undefined);
});

it.each<[string, (change: NftChangeJson) => object]>([
  ['output', () => ({ outputId: `0x${'77'.repeat(34)}` })],
  ['milestone', ({ milestoneIndex }) => ({ milestoneIndex: milestoneIndex - 1 })],
  ['time', ({ milestoneTimestamp }) => ({ milestoneTimestamp: milestoneTimestamp - 1 })],
  ['transaction', () => ({ transactionId: `0x${'77'.repeat(32)}` })],
  ['mint', ({ kind }) => ({ kind: kind === 'minted' ? 'changed' : 'minted' })],
  ['end', ({ kind }) => ({ kind: kind === 'burned' ? 'changed' : 'burned' })],
])('a change that tells another %s is found', (_, other) => {
  for (const { change, proof } of told)
    expect(differenceOfChange({ ...change, ...other(change) }, proof)).toBeDefined();
});

it('a change that tells another owner is found', () => {
  const owned = told.filter(({ change }) => change.owner !== null);
  expect(owned.length).toBeGreaterThan(3);
  for (const { change, proof } of owned) {
    const owner = { ...change.owner!, address: ownersBut(change.owner!.address) };
    expect(differenceOfChange({ ...change, owner }, proof)).toBe('another owner');
    expect(differenceOfChange({ ...change, owner: null }, proof)).toBe('another owner');
  }
  const { owner } = owned[0]!.change;
  const burned = told.filter(({ change }) => change.kind === 'burned');
  expect(burned).not.toEqual([]);
  for (const { change, proof } of burned)
    expect(differenceOfChange({ ...change, owner }, proof)).toBe('another owner');
});
