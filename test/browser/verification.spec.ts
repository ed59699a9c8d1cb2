/**
 * The page verifies its node, in Chromium and Firefox: Shimmer's milestone holds against Shimmer's
 * keys, and a node that lies is told so on the page.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Reader } from '../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../src/stardust/encoding/codec.ts';
import { milestoneId } from '../../src/stardust/wire/ids.ts';
import { milestone } from '../../src/stardust/wire/milestone.ts';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { SAMPLE_KEYS } from '../support/browser/sample-facts.ts';
import { checksOn, fill, send, untilText } from '../support/browser/use-page.ts';
import { type AlteringProxy, startProxy } from '../support/edge/altering-proxy.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

const MILESTONE = '/api/core/v2/milestones/by-index/17339';
const EXPLANATION = '/api/edge/v1/whiteflag/17339';

let worker: SampleWorker;
let node: AlteringProxy;
let blockIds: string[];

beforeAll(async () => {
  worker = await serveSample();
  node = await startProxy(worker.url);
  const answer = await (await fetch(worker.url + EXPLANATION)).json();
  blockIds = (answer as { blocks: { blockId: string }[] }).blocks.map(({ blockId }) => blockId);
}, 180_000);
afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await worker?.stop();
});

/** The same bytes, but for one bit of the byte at this place; negative: from the end. */
const flip = (at: number) => (body: Uint8Array) =>
  body.with(at, body.at(at)! ^ 1) as Uint8Array<ArrayBuffer>;

const inText = (change: (text: string) => string) => (body: Uint8Array) => {
  const text = new TextDecoder().decode(body);
  expect(change(text)).not.toBe(text);
  return new TextEncoder().encode(change(text));
};

/** Another digit in place of the one behind the text's first match. */
const changeDigit = (before: RegExp) =>
  inText((text) => {
    const at = text.search(before) + before.exec(text)![0].length;
    return text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
  });

/** The milestone with its last signature replaced by a valid one of a key that is nobody's. */
function signByAnother(payload: Uint8Array): Uint8Array {
  const value = decode(milestone, new Reader(payload));
  const secret = new Uint8Array(32).fill(7);
  const publicKey = ed25519.getPublicKey(secret);
  const signature = ed25519.sign(milestoneId(value, payload), secret);
  const others = value.signatures.slice(0, -1);
  const signatures = [...others, { ...value.signatures.at(-1)!, publicKey, signature }];
  signatures.sort((a, b) => (a.publicKey.toHex() < b.publicKey.toHex() ? -1 : 1));
  return encode(milestone, { ...value, signatures });
}

/** Where a milestone has its inclusion root: behind type, index, time, version, IDs, parents. */
function inclusionRootOf(payload: Uint8Array): number {
  const { parents } = decode(milestone, new Reader(payload));
  return 4 + 4 + 4 + 1 + 32 + 1 + 32 * parents.length;
}

/** What the node does to its answer to a path; how many checks pass; what the page then says. */
const LIES: [string, () => string, (body: Uint8Array) => Uint8Array, number, RegExp][] = [
  [
    'a bit of a block',
    () => `/api/core/v2/blocks/${blockIds[20]}`,
    flip(-1),
    1,
    /^Not so: the bytes of block 0x[0-9a-f]{64} are those of 0x/,
  ],
  [
    'a bit of a signed root',
    () => MILESTONE,
    (body) => flip(inclusionRootOf(body))(body),
    0,
    /^Not so: milestone 17339 is not signed by the keys: M-3: signature of 0x.* is not valid/,
  ],
  [
    'a signature by another key',
    () => MILESTONE,
    signByAnother,
    0,
    /^Not so: milestone 17339 is not signed by the keys: M-3: signed by 0x.*, which may not sign/,
  ],
  [
    'a verdict',
    () => EXPLANATION,
    inText((text) => text.replace('"included"', '"conflicting"')),
    2,
    /^Not so: applied root: 0x[0-9a-f]{64}, and signed is 0x/,
  ],
  [
    'a block that is left out',
    () => EXPLANATION,
    inText((text) => text.replace(/"blocks":\[\{.*?\},/, '"blocks":[')),
    1,
    /^Not so: /,
  ],
  [
    'a root of the white flag',
    () => '/api/core/v2/whiteflag',
    changeDigit(/"appliedMerkleRoot":"0x/),
    4,
    /^Not so: the white flag answers appliedMerkleRoot 0x.*, signed is 0x/,
  ],
  ['no answer', () => EXPLANATION, () => new Uint8Array(), 1, /^Could not be checked: /],
];

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;
  let page: DrivenPage;

  beforeAll(async () => {
    browser = await launch('light');
    page = await browser.open(`${node.url}/`, 'desktop');
  }, 120_000);
  afterAll(() => browser?.close());

  async function verify(keys: string, threshold: string): Promise<void> {
    await fill(page, { 'verify-keys': keys, 'verify-threshold': threshold });
    await send(page, 'verify');
    await untilText(page, 'verify-verdict', /^(Verified|Not verified)/);
  }

  it.each([
    ['lines, seven of them', SAMPLE_KEYS.join('\n'), '7'],
    ['a list with white space, all of them', ` ${SAMPLE_KEYS.join(' , ')}\n`, ''],
  ])('says of each check that it was found right; keys as %s', async (_, keys, threshold) => {
    node.alter = (_path, body) => body;
    await verify(keys, threshold);
    const checks = await checksOn(page);
    expect(checks.map(({ tone }) => tone)).toEqual(['good', 'good', 'good', 'good', 'good']);
    expect(checks.map(({ text }) => text).join('\n')).toMatch(
      new RegExp(
        [
          '^Milestone 17339 is signed by 10 of the keys\\.',
          'Its cone of 38 blocks leads to the signed inclusion root\\.',
          'The 5 transactions that were applied lead to the signed applied root\\.',
          `The proof of block (${blockIds.join('|')}) leads to the milestone\\.`,
          'The white flag answers the signed roots\\.$',
        ].join('\n'),
      ),
    );
    await untilText(page, 'verify-verdict', /^Verified: everything holds against the keys\.$/);
  });

  it.each(LIES)('does not pass %s', async (_, path, change, right, reason) => {
    node.alter = (asked, body) => (asked === path() ? change(body) : body);
    await verify(SAMPLE_KEYS.join(), '7');
    const checks = await checksOn(page);
    const tones = [...Array.from({ length: right }, () => 'good'), 'bad'];
    expect(checks.map(({ tone }) => tone)).toEqual(tones);
    expect(checks.at(-1)!.text).toMatch(reason);
    await untilText(page, 'verify-verdict', /^Not verified\.$/);
  });

  it('does not pass a bit of a proof, whichever block chance picks', async () => {
    node.alter = (asked, body) => (asked.endsWith('/proof') ? changeDigit(/"h":"0x/)(body) : body);
    await verify(SAMPLE_KEYS.join(), '7');
    expect((await checksOn(page)).at(-1)!.text).toMatch(
      /^Not so: the proof of block 0x[0-9a-f]{64}: B\.13: proof leads to another root/,
    );
  });

  it.each([
    ['keys that did not sign', () => `${'ab'.repeat(32)}`, '1', /^Not so: .* M-3: signed by/],
    ['all keys but one', () => SAMPLE_KEYS.slice(1).join(), '7', /^Not so: .* M-3: signed by/],
    ['no keys', () => 'nothing', '', /^Could not be checked: .*must be keys of 64 hex digits/],
    ['more than there are', () => SAMPLE_KEYS[0]!, '2', /must not be greater than the number/],
  ])('does not pass against %s', async (_, keys, threshold, reason) => {
    node.alter = (_path, body) => body;
    await verify(keys(), threshold);
    expect((await checksOn(page)).at(-1)!.text).toMatch(reason);
    await untilText(page, 'verify-verdict', /^Not verified\.$/);
  });
});
