/**
 * What people come for, as somebody does it who has never seen the explorer: each task by a search
 * and up to three clicks. What honest nodes show to them: nothing that looks like a lie; and what
 * lying ones show: first of all, that it is one.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { decodeBlock } from '../../src/stardust/wire/block.ts';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SIZES,
} from '../support/browser/driven-page.ts';
import { SAMPLE_HOLDER as HOLDER } from '../support/browser/sample-facts.ts';
import {
  click as clickOn,
  countOf,
  factsOf,
  fill,
  fragmentOf,
  readText,
  search as searchFor,
  textOf,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, type Rule, startLyingNode } from '../support/lies/lying-node.ts';
import { recordedSource } from '../support/lies/recorded-source.ts';
import {
  asIfAsked,
  flip,
  inBytes,
  inJson,
  type Json,
  withField,
  withStatus,
} from '../support/lies/rules.ts';
import {
  ANY_METADATA,
  ANY_MILESTONE,
  ANY_OUTPUT,
  APPLIED_BLOCK,
  DATA_BLOCK,
  EXPLANATION,
  HISTORY,
  INFO,
  MADE_NFT,
  TRANSACTION,
} from '../support/lies/sample-paths.ts';
import { lastIndex, type NetworkBlock } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const { url, indexed, ended, nft } = inject('sample');

const network = recordedNetwork('network-k');

/** The newest block whose transaction became this. */
function findBlock(state: string, conflict: number): NetworkBlock {
  const found = [...network.blocks.values()]
    .filter(({ referenced }) => referenced?.state === state && referenced.conflict === conflict)
    .toSorted((a, b) => b.referenced!.index - a.referenced!.index);
  return found[0]!;
}

const idOf = ({ bytes }: NetworkBlock) => toHex(decodeBlock(bytes).transaction!.id);

const APPLIED = findBlock('included', 0);
/** An input was spent in an earlier milestone. */
const FAILED = findBlock('conflicting', 1);
/** So it is of this one, by the same transaction: an earlier milestone had applied another block. */
const REPEATED = (() => {
  const blocks = [...network.blocks.values()];
  const applied = blocks.filter(({ referenced }) => referenced?.state === 'included').map(idOf);
  return blocks.find((each) => each.referenced?.conflict === 1 && applied.includes(idOf(each)))!;
})();

/** Most that a task takes. */
const MAX_CLICKS = 3;

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;
  /** Of network-k, with every kind of output in lists. */
  let kinds: LyingNode;
  let sample: LyingNode;

  beforeAll(async () => {
    browser = await launch({});
    sample = await startLyingNode(nodeAt(url));
    kinds = await startLyingNode(
      await recordedSource(network, lastIndex(network), nodeAt(url), true),
    );
  });
  afterAll(async () => {
    await browser?.close();
    await sample?.[Symbol.asyncDispose]();
    await kinds?.[Symbol.asyncDispose]();
  });

  /** Opens the first page of a node for the first time; counts what a visitor does there. */
  async function visit(node: string, hasKeys = false) {
    const page = await browser.open(`${node}/robots.txt`, 'desktop');
    const publicKeys = network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join();
    const choice = JSON.stringify({ publicKeys, threshold: String(network.keys.threshold) });
    await page.evaluate(`{
      localStorage.clear();
      if (${hasKeys}) localStorage.setItem('milestone-keys', ${JSON.stringify(choice)});
      location.href = '/';
    }`);
    await untilCount(page, '#node-state', 1);
    const deeds = { searches: 0, clicks: 0 };
    return {
      page,
      async search(text: string) {
        deeds.searches++;
        await searchFor(page, text);
      },
      async click(selector: string, text?: string) {
        deeds.clicks++;
        await clickOn(page, selector, text);
      },
      async [Symbol.asyncDispose]() {
        expect(page.faults).toEqual([]);
        expect(deeds.searches).toBeLessThan(2);
        expect(deeds.clicks).toBeLessThanOrEqual(MAX_CLICKS);
        await page.close();
      },
    };
  }

  /** What became of it stands right below what it is: pixels between both. */
  const belowHead = async (page: DrivenPage) =>
    Number(
      await page.evaluate(`document.querySelector('.outcome').getBoundingClientRect().top -
        document.querySelector('.page > .head').getBoundingClientRect().bottom`),
    );

  describe('a visitor finds out', () => {
    it('who owns an NFT, and since when', async () => {
      await using visitor = await visit(url);
      await visitor.search(nft.nftId);
      await textOf(visitor.page, '.outcome [data-standing=proved]').toBe(
        'Owner smr1qpaj9…rvpn9d · proved in milestone 17339, 28 Sept 2022, 17:25:01 UTC',
      );
    });

    it('whether a payment arrived', async () => {
      await using visitor = await visit(kinds.url, true);
      await visitor.search(idOf(APPLIED));
      await textOf(visitor.page, '.outcome [data-standing=proved]').toMatch(
        new RegExp(`^Applied · .* UTC, milestone ${APPLIED.referenced!.index}$`),
      );
      expect(await belowHead(visitor.page)).toBeLessThan(50);
    });

    it('why a transaction failed, and what is certain of it', async () => {
      await using visitor = await visit(kinds.url, true);
      await visitor.search(idOf(FAILED));
      const { page } = visitor;
      await textOf(page, '.outcome.failed').toMatch(
        new RegExp(
          `^Failed in this block: an input was spent in an earlier milestone · .* UTC, milestone ${FAILED.referenced!.index} · your browser proved that it was not applied with this block; why, says this node$`,
        ),
      );
      await textOf(page, '.conflict').toMatch(
        /^Why it is in conflict .*Input \d+ decided: its output was spent in milestone \d+ by transaction 0x/,
      );
      expect(await belowHead(page)).toBeLessThan(50);
      // the colour of what is wrong, --bad of the style sheet
      expect(
        await page.evaluate(`getComputedStyle(document.querySelector('.outcome.failed p')).color`),
      ).toBe('rgb(179, 38, 30)');
      expect(
        await page.evaluate(`document.querySelector('.conflict').getBoundingClientRect().top <
          document.querySelector('.flow').getBoundingClientRect().top`),
      ).toBe(true);
    });

    it('what an address holds, and what of it can be spent', async () => {
      await using visitor = await visit(indexed);
      await visitor.search(HOLDER);
      await textOf(visitor.page, '.total').toBe('1.5208 SMR');
      await textOf(visitor.page, '.parts').toMatch(/^Available 1\.47 SMR It can be spent at any/);
      await textOf(visitor.page, '.balance').toMatch(/judged at 28 Sept 2022, .* years ago\./);
      // when it came, and by what
      await textOf(visitor.page, '.timeline').toMatch(
        /^28 Sept 2022, 17:24:56 UTC, milestone 17338 Basic output 1\.47 SMR/,
      );
    });

    it('which NFTs a collection has, and who holds most of them', async () => {
      sample.lie([
        inJson(/\/collections\//, ({ owners }: Json) => {
          owners[3].nftCount = 5;
        }),
      ]);
      await using visitor = await visit(sample.url);
      await visitor.search(nft.nftId);
      await visitor.click('a', 'All NFTs of this issuer');
      const { page } = visitor;
      await untilCount(page, '.gallery li', 22);
      await visitor.click('a', 'Who owns them');
      await textOf(page, '.owners li:first-child').toMatch(/^smr1\S+ 5 NFTs$/);
      await expect
        .poll(() =>
          page.evaluate(`document.querySelector('#owners-title').getBoundingClientRect().top`),
        )
        .toBeLessThan(860);
      expect(await fragmentOf(page)).toMatch(/^#\/issuer\/smr1/);
      sample.lie([]);
    });

    it('when an NFT was minted, and by whom', async () => {
      await using visitor = await visit(url);
      await visitor.search(nft.nftId);
      const { page } = visitor;
      await textOf(page, '.history li').toMatch(
        /^Minted for smr1\S+ ?28 Sept 2022, 17:25:01 UTC, milestone 17339, transaction/,
      );
      await factsOf(page).toMatchObject({ Issuer: expect.stringMatching(/^NFT 0x34441c09…/) });
      await visitor.click('.history a', 'transaction');
      await textOf(page, 'main h1').toBe('1 alias in a new state, 22 NFTs minted');
      await textOf(page, '.sides').toMatch(/from smr1qphmy…f9cl8p/);
    });

    it('what an address held when the network ended', async () => {
      await using visitor = await visit(ended);
      const { page } = visitor;
      await fill(page, 'input[name=holder]', HOLDER);
      await visitor.click('button', 'Show what it held');
      await visitor.click('main a', 'What this node says that it held');
      await textOf(page, '.total').toMatch(/ SMR$/);
      await textOf(page, '.balance').toMatch(/when the network ended\./);
    });

    it('whether the node tells the truth', async () => {
      await using visitor = await visit(url);
      await visitor.click('.masthead nav a', 'Verify');
      await visitor.click('main button', 'Verify');
      await textOf(visitor.page, '#verdict').toMatch(/^Verified: milestone 17339 /);
    });

    it('what a token is, and who controls it', async () => {
      await using visitor = await visit(kinds.url, true);
      await visitor.click('.masthead nav a', 'Tokens');
      await visitor.click('.tokens .what a');
      await factsOf(visitor.page).toMatchObject({
        Supply: expect.stringMatching(/^[\d,]+ units$/),
        'Controlled by': expect.stringMatching(/^alias 0x.* its state controller mints and melts$/),
      });
    });

    it('how to export an address', async () => {
      await using visitor = await visit(indexed);
      await visitor.search(HOLDER);
      const { page } = visitor;
      await untilCount(page, '.total', 1);
      await page.evaluate(`void (HTMLAnchorElement.prototype.click = function () {
        globalThis.saved = this.download;
      })`);
      await visitor.click('main button', 'Save 2 outputs as CSV');
      expect(await page.evaluate('saved')).toBe(`outputs-${HOLDER}.csv`);
    });

    it('a link for a friend, with a preview', async () => {
      await using visitor = await visit(url);
      await visitor.search(nft.nftId);
      await textOf(visitor.page, 'main h1').toBe('Soonanaut #2526');
      const link = String(await visitor.page.evaluate('location.href'));
      expect(link).toBe(`${url}/nft/${nft.nftId}`);
      expect(await (await fetch(link)).text()).toMatch(
        /<meta property="og:title" content="NFT 0x0255e848…785aa7 · [^"]+">/,
      );
    });

    it('the call of the API behind a page', async () => {
      await using visitor = await visit(url);
      await visitor.search(nft.nftId);
      const { page } = visitor;
      await textOf(page, 'main h1').toBe('Soonanaut #2526');
      const path = String(await page.evaluate(`document.querySelector('a.api').href`));
      await visitor.click('a.api');
      await textOf(page, 'body').toContain(`"nftId":"${nft.nftId}"`);
      expect(path).toBe(`${url}/api/edge/v1/nfts/${nft.nftId}`);
    });
  });

  describe('an honest node looks honest', () => {
    /** Nothing in red, and no box that warns. */
    async function expectNoAlarm(page: DrivenPage): Promise<void> {
      await untilCount(page, '.loading', 0);
      expect(await countOf(page, '.bad, .warning:not(.neutral-note)')).toBe(0);
      expect(await readText(page, '.false-note')).toBe('');
    }

    it('of a network that the page does not know', async () => {
      await using visitor = await visit(kinds.url);
      const { page } = visitor;
      await textOf(page, '.warning').toMatch(/^This node calls its network “kinds_net_25”\. To /);
      expect(await page.evaluate(`document.querySelector('#search').placeholder`)).toBe(
        `0x…, ${lastIndex(network)} or tst1…`,
      );
      await expectNoAlarm(page);
      // the box does not touch what is below
      const gap = `document.querySelector('form.search label').getBoundingClientRect().top -
        document.querySelector('.warning').getBoundingClientRect().bottom`;
      expect(Number(await page.evaluate(gap))).toBeGreaterThanOrEqual(8);
      await visitor.click('.warning a');
      await textOf(page, 'main').toContain('This page has no keys of this network.');
      await visitor.click('main button', 'Verify');
      expect(await readText(page, '#verdict')).toBe('');
      await expectNoAlarm(page);
    });

    it('of an archive of another network that the page knows', async () => {
      await using archive = await startLyingNode(nodeAt(ended));
      archive.lie([withField(INFO, 'protocol.networkName', 'iota-mainnet')]);
      await using visitor = await visit(archive.url);
      const { page } = visitor;
      await textOf(page, '#ledger-state').toMatch(/^iota-mainnet · this node says: ledger 17338 /);
      expect(await countOf(page, '.warning')).toBe(0);
      await textOf(page, '.home').toMatch(
        /Not checked: Who signed milestone 17338, as this node does not have its bytes\./,
      );
      await expectNoAlarm(page);
      await visitor.click('.masthead nav a', 'Verify');
      await untilCount(page, '.fields select', 1);
      expect(await page.evaluate(`document.querySelector('.fields select').value`)).toBe(
        'iota-mainnet',
      );
      await expectNoAlarm(page);
    });

    it('that keeps a signed milestone and not its blocks', async () => {
      sample.lie([withStatus(EXPLANATION, 404)]);
      await using visitor = await visit(sample.url);
      const { page } = visitor;
      await textOf(page, '#ledger-state').toMatch(/· signed, but \d+ years old$/);
      await visitor.click('.masthead nav a', 'Verify');
      await visitor.click('main button', 'Verify');
      await textOf(page, '#verdict [data-standing=proved]').toMatch(
        /^Milestone 17339 of .* is signed by 10 of the keys of Shimmer/,
      );
      await expectNoAlarm(page);
      sample.lie([]);
    });
  });

  describe('what is false is named in the first window', () => {
    const owner = `/api/edge/v1/nfts/${MADE_NFT}`;
    const conflict = { ledgerInclusionState: 'conflicting', conflictReason: 1 };
    const inNode = (change: (json: Json) => void) => inJson(owner, change);
    const name = Buffer.from('{"standard":"IRC27","name":"Mona Lisa"}').toString('hex');
    it.each<[lie: string, path: string, rule: Rule, sentence: RegExp, title: RegExp]>([
      [
        'an owner',
        `/nft/${MADE_NFT}`,
        inNode((json) => void Object.assign(json.owner, { address: HOLDER })),
        /^The node shows another owner than the conditions of the output, .* lead to: smr1qpaj9/,
        /^Soonanaut #2526$/,
      ],
      [
        'a name',
        `/nft/${MADE_NFT}`,
        inNode(({ output }) => {
          output.immutableFeatures = [{ type: 2, data: `0x${name}` }];
        }),
        /^The node shows another issuer and metadata than its own certificate proves: its name is “Soonanaut #2526”\.$/,
        /^Mona Lisa$/,
      ],
      [
        'that nothing holds an NFT',
        `/nft/${MADE_NFT}`,
        withStatus(owner, 404),
        /^The node says that no output holds the NFT, and proves that output 0x9d9a/,
        /^Said to be gone$/,
      ],
      [
        'that an applied transaction failed',
        `/transaction/${TRANSACTION}`,
        inJson(ANY_METADATA, (json) => void Object.assign(json, conflict)),
        /^This node says that the transaction was not applied with this block\. It is false: the transaction was applied with this block\.$/,
        /^1 alias in a new state, 22 NFTs minted$/,
      ],
      [
        'the block of another transaction',
        `/transaction/${TRANSACTION}`,
        asIfAsked(/\/included-block\/metadata$/, `/api/core/v2/blocks/${APPLIED_BLOCK}/metadata`),
        /^Block 0xf217\w+ does not carry transaction 0x9d9a\w+\.$/,
        /^A transaction$/,
      ],
      [
        'amounts that are consumed',
        `/transaction/${TRANSACTION}`,
        inJson(ANY_OUTPUT, ({ output }) => {
          output.amount = `1${output.amount}`;
        }),
        /^The inputs that this node shows are false: the outputs do not hash to the inputs commitment of/,
        /^1 alias in a new state, 22 NFTs minted$/,
      ],
      [
        'bytes of a block',
        `/block/${DATA_BLOCK}`,
        inBytes(`/api/core/v2/blocks/${DATA_BLOCK}`, flip(-1)),
        /^The bytes of block 0xa62c\w+ are those of 0x/,
        /^A block$/,
      ],
      [
        'a milestone that nobody signed',
        '/milestone/17339',
        inBytes(ANY_MILESTONE, flip(40)),
        /^Milestone 17339 is not signed by the keys of Shimmer/,
        /^17339$/,
      ],
      [
        'what became of a block of a milestone',
        '/milestone/17339',
        inJson(EXPLANATION, ({ blocks }) => void Object.assign(blocks[3], conflict)),
        /^Block 3 was applied, and the node says that it was not: only so do the roots agree\. As it says, the applied ones do not lead to the signed applied root/,
        /^17339$/,
      ],
      [
        'the name of a network',
        '/',
        withField(INFO, 'protocol.networkName', 'sh\u0456mmer'),
        /^This may be a fake of Shimmer\. This node calls its network “sh\u0456mmer”, which looks like/,
        /^Look into the ledger/,
      ],
    ])('%s', async (_, path, rule, sentence, title) => {
      sample.lie([rule]);
      const page = await browser.open(`${sample.url}${path}`, 'desktop');
      const first = 'main .bad, main .warning';
      await textOf(page, first).toMatch(sentence);
      await textOf(page, 'main h1').toMatch(title);
      await untilCount(page, '.loading', 0);
      // a frame above the view says so, too
      if (path !== '/')
        await textOf(page, '.false-note').toMatch(/^Something that this node says here is false: /);
      const at = `document.querySelector('${first}').getBoundingClientRect().top`;
      expect(Number(await page.evaluate(at))).toBeLessThan(SIZES.desktop.height - 100);
      await page.close();
      sample.lie([]);
    });
  });

  describe('what is said beside a check is what there is', () => {
    it('of a block whose transaction was applied with another block', async () => {
      await using visitor = await visit(kinds.url, true);
      await visitor.search(REPEATED.id);
      const { page } = visitor;
      await textOf(page, '.outcome.failed').toMatch(/^Failed in this block: an input was spent/);
      await textOf(page, '.conflict').toMatch(
        /by transaction 0x\S+ ?, which is this one: another block had applied it\.$/,
      );
      await textOf(page, '.merkle').toContain('The transaction was not applied with this block,');
      await textOf(page, '.flow').toContain('This block changed nothing, this node says:');
    });

    it('of a block that no milestone references', async () => {
      const { tips } = (await (await fetch(`${url}/api/core/v2/tips`)).json()) as Json;
      const page = await browser.open(`${sample.url}/block/${tips[0]}`, 'desktop');
      await textOf(page, 'main').toMatch(/Waits: no milestone references it yet/);
      await untilCount(page, '.proved', 1);
      expect(await countOf(page, '.facts:empty')).toBe(0);
      expect(await readText(page, 'main')).not.toMatch(/What of it was checked/);
      await page.close();
    });

    it('of a place of which the node says nothing', async () => {
      sample.lie([inJson(ANY_METADATA, (json) => void delete json.whiteFlagIndex)]);
      const page = await browser.open(`${sample.url}/block/${APPLIED_BLOCK}`, 'desktop');
      await textOf(page, '.merkle').toMatch(/the block is at place \d+ of its white-flag order/);
      await untilCount(page, '.loading', 0);
      expect(await readText(page, 'main')).not.toMatch(/undefined/);
      expect(await countOf(page, 'main .bad')).toBe(0);
      await page.close();
      sample.lie([]);
    });

    it('of a state of which the node says nothing', async () => {
      sample.lie([
        inJson(ANY_METADATA, (json) => {
          delete json.whiteFlagIndex;
          delete json.ledgerInclusionState;
        }),
      ]);
      const page = await browser.open(`${sample.url}/block/${APPLIED_BLOCK}`, 'desktop');
      await textOf(page, '.outcome [data-standing=proved]').toMatch(/^Applied · /);
      await untilCount(page, '.loading', 0);
      expect(await readText(page, '.false-note')).toBe('');
      expect(await countOf(page, 'main .bad')).toBe(0);
      await page.close();
      sample.lie([]);
    });

    it('of an NFT that nothing holds, whose history is not read', async () => {
      sample.lie([withStatus(`/api/edge/v1/nfts/${MADE_NFT}`, 404), withStatus(HISTORY, 429)]);
      const page = await browser.open(`${sample.url}/nft/${MADE_NFT}`, 'desktop');
      await textOf(page, 'main').toMatch(
        /NFT Not found .*This node says that no unspent output holds an NFT with this ID/,
      );
      await page.close();
      sample.lie([]);
    });

    it('of changes that are pruned while they are read', async () => {
      const more = (json: Json) => void Object.assign(json, { cursor: `${'0'.repeat(76)}.10` });
      sample.lie([withStatus(/\/history\?.*cursor=/, 404), inJson(HISTORY, more)]);
      const page = await browser.open(`${sample.url}/nft/${MADE_NFT}`, 'desktop');
      await untilCount(page, '.history li', 1);
      await clickOn(page, 'button', 'Older changes');
      await textOf(page, '[aria-labelledby=history-title]').toMatch(/The node answered 404/);
      await page.close();
      sample.lie([]);
    });

    it('of a block whose bytes are false', async () => {
      sample.lie([inBytes(`/api/core/v2/blocks/${DATA_BLOCK}`, flip(-1))]);
      const page = await browser.open(`${sample.url}/block/${DATA_BLOCK}`, 'desktop');
      await untilCount(page, 'main .bad', 1);
      await textOf(page, '.said-label').toBe('This node says. Not checked.');
      await page.close();
      sample.lie([]);
    });

    it('of a change of an NFT, whose owner is false', async () => {
      sample.lie([
        inJson(HISTORY, ({ changes }: Json) => {
          changes[0].owner.address = HOLDER;
        }),
      ]);
      const page = await browser.open(`${sample.url}/nft/${MADE_NFT}`, 'desktop');
      await clickOn(page, '.history button', 'Check it');
      await textOf(page, '.history .bad').toBe('The node says another owner than it proves.');
      expect(await countOf(page, '.history .good')).toBe(0);
      await page.close();
      sample.lie([]);
    });
  });

  it('leads to another node from what is false', async () => {
    await using other = await startLyingNode(nodeAt(url));
    sample.lie([withStatus(`/api/edge/v1/nfts/${MADE_NFT}`, 404)]);
    const page = await browser.open(`${sample.url}/nft/${MADE_NFT}`, 'desktop');
    await textOf(page, '.false-note a').toBe('ask another node');
    await clickOn(page, '.false-note a');
    const form = '#another-node form';
    const send = async (text: string) => {
      await fill(page, `${form} input`, text);
      await page.evaluate(`document.querySelector('${form}').requestSubmit()`);
    };
    for (const none of [sample.url, 'https://[']) {
      await send(none);
      await textOf(page, `${form} .problem`).toMatch(/^This is no address of another node/);
    }
    // parts of the page are still arriving
    await expect.poll(() => audit(page), { timeout: 300_000 }).toEqual([]);
    await send(`${other.url}/elsewhere`);
    await textOf(page, 'main h1').toBe('Soonanaut #2526');
    expect(await page.evaluate('location.href')).toBe(`${other.url}/nft/${MADE_NFT}`);
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector('#another-node')).display`),
    ).toBe('none');
    await page.close();
    sample.lie([]);
  });

  describe('tiles', () => {
    const named = (name: string | undefined) =>
      inJson(/\/api\/edge\/v1\/nfts\?ids=/, ({ nfts }: Json) => {
        const data = Buffer.from(JSON.stringify({ standard: 'IRC27', name })).toString('hex');
        for (const { output } of nfts) output.immutableFeatures = [{ type: 2, data: `0x${data}` }];
      });

    it('are as high with a name of 3,000 characters as with a short one', async () => {
      const height = `Math.max(...[...document.querySelectorAll('.gallery li')].map((tile) =>
        tile.getBoundingClientRect().height))`;
      const heights: number[] = [];
      for (const name of ['short', 'N'.repeat(3000)]) {
        sample.lie([named(name)]);
        await using visitor = await visit(sample.url);
        await untilCount(visitor.page, '.gallery li', 6);
        heights.push(Number(await visitor.page.evaluate(height)));
      }
      // four lines more, of 80 characters in all
      expect(heights[1]! - heights[0]!).toBeLessThan(200);
      sample.lie([]);
    });

    it('without a name have an ID', async () => {
      sample.lie([named(undefined)]);
      await using visitor = await visit(sample.url);
      await textOf(visitor.page, '.gallery li').toMatch(/^NFT 0x18f7b263…2fb954 0x18f7b26311… /);
      sample.lie([]);
    });
  });

  it('is told that the browser is offline where a script does not come', async () => {
    await using visitor = await visit(sample.url);
    const { page } = visitor;
    await page.evaluate(`void Object.defineProperty(navigator, 'onLine', { value: false })`);
    sample.lie([withStatus(/^\/explorer\//, 503)]);
    await visitor.click('.masthead nav a', 'API');
    await textOf(page, 'main').toContain(
      'Your browser is offline: a part of this page could not be loaded. Load the page again',
    );
    sample.lie([]);
    page.faults.splice(0);
  });
});
