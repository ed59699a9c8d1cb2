/**
 * The table of lies, on the page: nothing that is false is shown as proved, and each lie is named as
 * false, as not checked, or as the word of the node. All of it in Chromium, a share in Firefox on a
 * phone.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { DRIVERS, type DrivenBrowser, type Size } from '../support/browser/driven-page.ts';
import { readShown } from '../support/browser/read-standing.ts';
import { SAMPLE_KEYS } from '../support/browser/sample-facts.ts';
import { click, fill, textOf, untilCount } from '../support/browser/use-page.ts';
import { HONEST_PAGES } from '../support/lies/honest-pages.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { type Answers, randomLie } from '../support/lies/random-lies.ts';
import { recordedSource } from '../support/lies/recorded-source.ts';
import {
  ANY_BLOCK,
  ANY_METADATA,
  ANY_MILESTONE,
  ANY_OUTPUT,
  ANY_PROOF,
  APPLIED_BLOCK,
  CERTIFICATE,
  EXPLANATION,
  HISTORY,
  INFO,
  MADE_NFT,
  ONE_NFT,
  OTHER_NFT_OUTPUT,
  PAST_PROPOSAL,
  PROPOSAL,
  TRANSACTION,
  WHITE_FLAG,
} from '../support/lies/sample-paths.ts';
import { LIES } from '../support/lies/table.ts';
import { startTeller, type Teller } from '../support/lies/tell-page.ts';
import { Random } from '../support/network/random.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const { url } = inject('sample');

/** `npm run test:slow -- lies` tells 2,000. */
const RANDOM_LIES = Number(process.env.RANDOM_LIES ?? 30);

/** Answers that these pages read. */
const ANSWERS: Readonly<Record<string, Answers>> = {
  '#/milestone/17339': [
    [EXPLANATION, 'json'],
    [ANY_MILESTONE, 'bytes'],
    [ANY_BLOCK, 'bytes'],
    [INFO, 'json'],
  ],
  [`#/transaction/${TRANSACTION}`]: [
    [ANY_METADATA, 'json'],
    [ANY_OUTPUT, 'json'],
    [EXPLANATION, 'json'],
    [ANY_PROOF, 'json'],
    [ANY_BLOCK, 'bytes'],
    [ANY_MILESTONE, 'bytes'],
  ],
  [`#/block/${APPLIED_BLOCK}`]: [
    [ANY_METADATA, 'json'],
    [EXPLANATION, 'json'],
    [ANY_PROOF, 'json'],
  ],
  [`#/nft/${MADE_NFT}`]: [
    [CERTIFICATE, 'json'],
    [ONE_NFT, 'json'],
    [HISTORY, 'json'],
  ],
  [`#/output/${OTHER_NFT_OUTPUT}`]: [
    [ANY_OUTPUT, 'json'],
    [ANY_BLOCK, 'bytes'],
  ],
  [PAST_PROPOSAL]: [
    [PROPOSAL, 'json'],
    [ANY_MILESTONE, 'bytes'],
  ],
  '#/verify': [
    [EXPLANATION, 'json'],
    [ANY_PROOF, 'json'],
    [WHITE_FLAG, 'json'],
    [ANY_BLOCK, 'bytes'],
  ],
};

/**
 * True of an answer that was changed: nothing that is signed follows from it; or less of what is true,
 * as the place of a block.
 */
const OF_CHANGED_ANSWERS =
  /^7 hashes lead to the inclusion root of milestone 17,?339 that was signed\.$|^Each of \d+ blocks has|^The walk from the parents|computed by the node\.$|^Proved by your browser: the bytes hash to the block/;

const RANDOM = Array.from({ length: RANDOM_LIES }, (_, i) => {
  const name = `random lie ${i}`;
  const page = new Random(name).pick(Object.keys(ANSWERS));
  const rules = [randomLie(name, ANSWERS[page]!)];
  return { name, page, rules, alsoProved: OF_CHANGED_ANSWERS };
});

const PARTS: readonly { driver: (typeof DRIVERS)[number]; size: Size; every: number }[] = [
  { driver: DRIVERS[0]!, size: 'desktop', every: 1 },
  { driver: DRIVERS[1]!, size: 'phone', every: 15 },
];

describe.each(PARTS)('in $driver.name on a $size', ({ driver, size, every }) => {
  let browser: DrivenBrowser;
  let node: LyingNode;
  let teller: Teller;

  beforeAll(async () => {
    browser = await driver.launch();
    node = await startLyingNode(nodeAt(url));
    teller = await startTeller(browser, node, size);
  });
  afterAll(async () => {
    await browser?.close();
    await node?.[Symbol.asyncDispose]();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await teller.reopen();
  }, 30_000);

  const shareOf = <T>(all: readonly T[]) => all.filter((_, i) => i % every === 0);

  it.each(shareOf(HONEST_PAGES))('an honest node has each tick: $page', async (honest) => {
    const { by } = await teller.honestly(honest);
    expect(by.refuted).toEqual([]);
    for (const each of honest.proved) expect(by.proved.join('\n')).toMatch(each);
  });

  it.each(shareOf([...LIES, ...RANDOM]))('$name', (lie) => teller.tell(lie));

  describe('with keys of the visitor', () => {
    /** Verifies a node by keys that are typed in. Returns what the verdict says. */
    async function verifyBy(keys: string, threshold: string, nodeUrl = node.url) {
      const page = await browser.open(`${nodeUrl}/#/verify`, size);
      await untilCount(page, 'form.fields select', 1);
      await fill(page, 'form.fields select', 'own');
      await untilCount(page, 'form.fields textarea', 1);
      await fill(page, 'form.fields textarea', keys);
      await fill(page, 'form.fields input', threshold);
      await click(page, 'form.fields button', 'Verify');
      await textOf(page, '#verdict').toMatch(/(Verified|False|Not checked): /);
      const { by, text } = await readShown(page);
      await page.close();
      return { by, text };
    }

    it.each([
      ['as lines, seven of them', SAMPLE_KEYS.join('\n'), '7'],
      ['as a list with white space, all of them', ` ${SAMPLE_KEYS.join(' , ')}\n`, ''],
    ])('an honest node is verified: %s', async (_, keys, threshold) => {
      node.lie([]);
      const { by } = await verifyBy(keys, threshold);
      expect(by.proved.join('\n')).toMatch(/^Verified: milestone 17,?339/m);
    });

    it.each([
      ['that did not sign', 'ab'.repeat(32), '1', /^False: .*: signed by .*\(rule M-3\)/m],
      ['all but one', SAMPLE_KEYS.slice(1).join(), '7', /^False: .*: signed by .*\(rule M-3\)/m],
      ['that are none', 'nothing', '', /^Not checked: Key 1 is not 64 hex digits: nothing/m],
      ['fewer than needed', SAMPLE_KEYS[0]!, '2', /^Not checked: 2 signatures cannot/m],
    ])('an honest node is not: %s', async (_, keys, threshold, reason) => {
      node.lie([]);
      const { by } = await verifyBy(keys, threshold);
      expect([...by.refuted, ...by['not-checked']].join('\n')).toMatch(reason);
      expect(by.proved.join('\n')).not.toMatch(/Verified/);
    });

    it('a true node 50 milestones back is verified, and old', async () => {
      const network = recordedNetwork('network-a');
      await using old = await startLyingNode(await recordedSource(network, 10, nodeAt(url)));
      const keys = network.keys.keys.map(({ publicKey }) => publicKey.toHex());
      const { by, text } = await verifyBy(keys.join('\n'), '', old.url);
      expect(by.proved.join('\n')).toMatch(/^Verified: milestone 10\b.* old/m);
      expect(by.refuted).toEqual([]);
      expect(text).not.toMatch(/\blive\b/);
    });
  });
});
