/**
 * A node that lies is shown as lying, in Chromium and Firefox: on the verify view, in the graph and
 * in the Merkle path, each of which says where.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Reader } from '../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../src/stardust/encoding/codec.ts';
import { milestoneId } from '../../src/stardust/wire/ids.ts';
import { milestone } from '../../src/stardust/wire/milestone.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  type Size,
} from '../support/browser/driven-page.ts';
import { SAMPLE_KEYS } from '../support/browser/sample-facts.ts';
import {
  click,
  countOf,
  fill,
  open,
  overhangOf,
  untilCount,
  untilText,
  verdictsOn,
} from '../support/browser/use-page.ts';
import { type AlteringProxy, startProxy } from '../support/edge/altering-proxy.ts';

const MILESTONE = '/api/core/v2/milestones/by-index/17339';
const EXPLANATION = '/api/edge/v1/whiteflag/17339';

const { url } = inject('sample');

let node: AlteringProxy;
let blockIds: string[];

beforeAll(async () => {
  node = await startProxy(url);
  const answer = await (await fetch(url + EXPLANATION)).json();
  blockIds = (answer as { blocks: { blockId: string }[] }).blocks.map(({ blockId }) => blockId);
});
afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
});

type Change = (body: Uint8Array) => Uint8Array;

/** The same bytes, except for one bit of the byte at this place; negative: from the end. */
const flip =
  (at: number): Change =>
  (body) =>
    body.with(at, body.at(at)! ^ 1) as Uint8Array<ArrayBuffer>;

const inText =
  (change: (text: string) => string): Change =>
  (body) => {
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

/** JSON after a change of what it holds. */
const inJson = (change: (json: { blocks: Record<string, unknown>[] }) => void): Change =>
  inText((text) => {
    const json = JSON.parse(text);
    change(json);
    return JSON.stringify(json);
  });

/** The milestone with its last signature replaced by a valid one of a key that is nobody's. */
function signByAnother(payload: Uint8Array): Uint8Array {
  if (payload[0] === 0x7b) return payload;
  const value = decode(milestone, new Reader(payload));
  const secret = new Uint8Array(32).fill(7);
  const publicKey = ed25519.getPublicKey(secret);
  const signature = ed25519.sign(milestoneId(value, payload), secret);
  const others = value.signatures.slice(0, -1);
  const signatures = [...others, { ...value.signatures.at(-1)!, publicKey, signature }];
  signatures.sort((a, b) => (a.publicKey.toHex() < b.publicKey.toHex() ? -1 : 1));
  return encode(milestone, { ...value, signatures });
}

/** A bit of the inclusion root, in JSON and in bytes alike. */
function changeRoot(body: Uint8Array): Uint8Array {
  if (body[0] === 0x7b)
    return inText((text) => text.replace('5aa98b21e47d7e5b', '5ba98b21e47d7e5b'))(body);
  const { parents } = decode(milestone, new Reader(body));
  // behind type, index, time, version, IDs and parents
  return flip(4 + 4 + 4 + 1 + 32 + 1 + 32 * parents.length)(body);
}

const swapBlocks = inJson(({ blocks }) => {
  [blocks[20]!.blockId, blocks[21]!.blockId] = [blocks[21]!.blockId, blocks[20]!.blockId];
});

const changeVerdict = inJson(({ blocks }) => {
  blocks[21]!.ledgerInclusionState = 'conflicting';
});

/** What the node does to its answer to a path; how many checks pass; what the page then says. */
const LIES_TO_VERIFY: [string, () => string, Change, number, RegExp][] = [
  [
    'a bit of a block',
    () => `/api/core/v2/blocks/${blockIds[20]}`,
    flip(-1),
    1,
    /the bytes of block 0x[0-9a-f]{64} are those of 0x/,
  ],
  [
    'a bit of a signed root',
    () => MILESTONE,
    changeRoot,
    0,
    /milestone 17339 is not signed by the keys: M-3: signature of 0x.* is not valid/,
  ],
  [
    'a signature by another key',
    () => MILESTONE,
    signByAnother,
    0,
    /milestone 17339 is not signed by the keys: M-3: signed by 0x.*, which may not sign/,
  ],
  ['a verdict', () => EXPLANATION, changeVerdict, 2, /applied root: 0x[0-9a-f]{64}, and signed is/],
  ['the order', () => EXPLANATION, swapBlocks, 1, /the white-flag order is another one/],
  [
    'a block that is left out',
    () => EXPLANATION,
    inJson(({ blocks }) => void blocks.shift()),
    1,
    /the white-flag order is another one|root/,
  ],
  [
    'a root of the white flag',
    () => '/api/core/v2/whiteflag',
    changeDigit(/"appliedMerkleRoot":"0x/),
    4,
    /the white flag answers appliedMerkleRoot 0x.*, signed is 0x/,
  ],
];

/** What the node does, what the milestone view says, and which blocks it marks. */
const LIES_IN_THE_GRAPH: [string, () => string, Change, RegExp, number[]][] = [
  [
    'a leaf',
    () => `/api/core/v2/blocks/${blockIds[20]}`,
    (body) => (body[0] === 0x7b ? body : flip(-1)(body)),
    /^Block 0x[0-9a-f]{64}: its bytes are those of 0x[0-9a-f]{64}\.$/,
    [20],
  ],
  ['a root', () => MILESTONE, changeRoot, /^It is not signed by Shimmer: M-3: signature of/, []],
  [
    'the order',
    () => EXPLANATION,
    swapBlocks,
    /^The order is wrong from place 20 on: the walk from the parents meets 0x[0-9a-f]{64} there/,
    [20, 21],
  ],
  [
    'a verdict',
    () => EXPLANATION,
    changeVerdict,
    /^The applied ones hash to .*\. The verdict on block 21 is the wrong one/,
    [21],
  ],
];

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;
  let page: DrivenPage;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  describe('the verify view', () => {
    beforeAll(async () => {
      node.alter = (_path, body) => body;
      page = await browser.open(`${node.url}/#/verify`, 'desktop');
    });
    afterAll(() => page.close());

    async function verify(keys?: string, threshold = ''): Promise<void> {
      await untilText(page, 'main h1', /Do not trust/);
      if (keys === undefined) await fill(page, 'form.fields select', 'shimmer');
      else {
        await fill(page, 'form.fields select', 'own');
        await untilCount(page, 'form.fields textarea', 1);
        await fill(page, 'form.fields textarea', keys);
        await fill(page, 'form.fields input', threshold);
      }
      await click(page, 'form.fields button', 'Verify');
      await untilText(page, '#verdict', /Verified:|False:|Not checked:/);
    }

    it.each<[string, string | undefined, string]>([
      ['of Shimmer, by name', undefined, ''],
      ['as lines, seven of them', SAMPLE_KEYS.join('\n'), '7'],
      ['as a list with white space, all of them', ` ${SAMPLE_KEYS.join(' , ')}\n`, ''],
    ])('says what was found right; keys %s', async (_, keys, threshold) => {
      node.alter = (_path, body) => body;
      await verify(keys, threshold);
      await untilText(page, '#verdict', /Verified: everything holds against the keys\./);
      expect(await countOf(page, '#checks .good')).toBe(5);
      await untilText(page, '#checks', /Milestone 17339 is signed by 10 of the keys/);
    });

    it.each(LIES_TO_VERIFY)('does not pass %s', async (_, path, change, right, reason) => {
      node.alter = (asked, body) => (asked === path() ? change(body) : body);
      await verify();
      await untilText(page, '#verdict', /^False: what this node says does not hold/);
      await untilText(page, '#checks .found.bad', reason);
      expect(await countOf(page, '#checks .good')).toBe(right);
    });

    it('does not pass a bit of a proof, whichever block chance picks', async () => {
      node.alter = (asked, body) =>
        asked.endsWith('/proof') ? changeDigit(/"h":"0x/)(body) : body;
      await verify();
      await untilText(page, '#verdict', /B\.13: proof leads to another root/);
    });

    it.each([
      ['keys that did not sign', () => 'ab'.repeat(32), '1', /^False: .* M-3: signed by/],
      ['all keys but one', () => SAMPLE_KEYS.slice(1).join(), '7', /^False: .* M-3: signed by/],
      ['what is no key', () => 'nothing', '', /^Not checked: Key 1 is not 64 hex digits: nothing/],
      ['more than there are', () => SAMPLE_KEYS[0]!, '2', /^Not checked: 2 signatures cannot/],
    ])('does not pass against %s', async (_, keys, threshold, reason) => {
      node.alter = (_path, body) => body;
      await verify(keys(), threshold);
      await untilText(page, '#verdict', reason);
    });

    it('calls no answer by its name: nothing is false, and nothing is verified', async () => {
      node.alter = (asked, body) => (asked === EXPLANATION ? new Uint8Array() : body);
      await verify();
      await untilText(page, '#verdict', /^Not checked: /);
    });
  });

  describe.each<Size>(['desktop', 'phone'])('on a %s', (size) => {
    it.each(LIES_IN_THE_GRAPH)(
      'the graph shows where: %s',
      async (_, path, change, reason, places) => {
        node.alter = (asked, body) => (asked === path() ? change(body) : body);
        const page = await browser.open(`${node.url}/#/milestone/17339`, size);
        await untilText(page, '.lie', /^This node does not tell the truth/);
        await untilCount(page, 'svg .block[role=button]', 38);
        const verdicts = await verdictsOn(page, '#findings');
        const wrong = verdicts.filter(({ tone }) => tone === 'bad').map(({ text }) => text);
        expect(
          wrong.some((text) => reason.test(text)),
          wrong.join('\n'),
        ).toBe(true);
        const marked = await page.evaluate(
          `[...document.querySelectorAll('svg .faulty')].map((each) => Number(each.dataset.place))`,
        );
        expect(marked).toEqual(places);
        expect(await countOf(page, 'tr.faulty')).toBe(places.length);
        expect(await overhangOf(page)).toBe(0);
        await page.close();
      },
    );

    it('the Merkle path shows the level at which it is wrong', async () => {
      const third = /^(?:.*?"h":"0x[0-9a-f]{64}"){3}.*?"h":"0x/;
      node.alter = (asked, body) => (asked.endsWith('/proof') ? changeDigit(third)(body) : body);
      const page = await browser.open(`${node.url}/#/milestone/17339?block=${blockIds[5]}`, size);
      await untilText(page, '.merkle .verdict', /wrong at level \d\.$/);
      await untilCount(page, '.levels .wrong', 1);
      expect(await overhangOf(page)).toBe(0);
      await page.close();
    });

    it('a proposal for a past milestone shows roots that were not signed', async () => {
      node.alter = (asked, body) =>
        asked === '/api/edge/v1/whiteflag' ? changeDigit(/"appliedMerkleRoot":"0x/)(body) : body;
      const page = await browser.open(`${node.url}/#/milestone/17339`, size);
      await click(page, 'a', 'Let the node compute these roots again');
      await untilText(page, 'main', /Milestone 17339 was signed with another applied root\./);
      await untilText(page, '.lie', /does not tell the truth/);
      expect(await overhangOf(page)).toBe(0);
      await page.close();
    });
  });

  it('an answer without its shape is an error, and not shown in part', async () => {
    node.alter = (asked, body) =>
      asked === EXPLANATION ? inJson(({ blocks }) => delete blocks[3]!.payload)(body) : body;
    const page = await browser.open(`${node.url}/`, 'desktop');
    await open(page, '/milestone/17339');
    await untilText(page, 'main', /not what its contract says: blocks\.3\.payload/);
    expect(await countOf(page, 'table')).toBe(0);
    await page.close();
  });
});
