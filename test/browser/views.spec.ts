/**
 * Each view of the explorer as people meet it, over the built Worker with the sample: what it says,
 * that its URL is its own, what it looks like, and that axe finds nothing in it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { expectPicture } from '../support/browser/expected-picture.ts';
import { SAMPLE_ISSUER as ISSUER } from '../support/browser/sample-facts.ts';
import {
  click,
  countOf,
  factsOf,
  fill,
  fragmentOf,
  open,
  overhangOf,
  readText,
  search,
  textOf,
  unfold,
  untilCount,
  untilTitle,
} from '../support/browser/use-page.ts';

const FOREIGN = 'iota1qpg2xkj66wwgn8p2ggnp7p582gj8g6p79us5hve2tsudzpsr2ap4skprwjg';
const UNKNOWN = `0x${'5a'.repeat(32)}`;
const BLOCK = '0xd79a2feb857ffe4791bfae2d2e991463bbcc6d9f9d2eeb1276d0931f16ae14dd';
const TRANSACTION = '0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e';
const MILESTONE_ID = '0xef16bf8eae2756dce09732f6faa0ba906e5991e82133b68c9bff8c9486b9af59';

const { url, nft } = inject('sample');

const DRAWN_BLOCK = 'svg .block[role=button]';

describe.each(DRIVERS)('in $name', ({ name: browserName, launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let page: DrivenPage;

    beforeAll(async () => {
      browser = await launch({ scheme });
      page = await browser.open(`${url}/`, size);
    });
    afterAll(() => browser?.close());
    afterEach(async () => {
      expect(page.faults.splice(0)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
    });

    /** Nothing that axe finds, and the expected picture. */
    async function expectLook(picture?: string): Promise<void> {
      expect(await audit(page)).toEqual([]);
      if (picture !== undefined && browserName === 'Chromium')
        await expectPicture(page, `${picture}-${size}`);
    }

    it('begins with examples from the ledger', async () => {
      const dark = 'matchMedia("(prefers-color-scheme: dark)").matches';
      expect(await page.evaluate(dark)).toBe(scheme === 'dark');
      await textOf(page, '#ledger-state').toMatch(
        /^shimmer · ledger 17339 · signed, but \d+ years old$/,
      );
      await textOf(page, 'main h1').toBe('Look into the ledger, and check it yourself.');
      await textOf(page, '.home').toMatch(/Soonanaut #876 0x\S+ minted 28 Sept 2022/);
      await textOf(page, '.home').toMatch(
        /38 blocks, of which 5 applied transactions, in the 1 milestone that this page has read/,
      );
      await untilCount(page, '.home .gallery li', 6);
      await untilCount(page, '.home .milestones .strip svg', 24);
      await textOf(page, '#node-state').toMatch(
        /^This node says: version \d.* It has nothing of milestones before 17338\.$/,
      );
      await expectLook('home');
    });

    it('shows an NFT: what the node says, and apart from it what the NFT says', async () => {
      await search(page, ` ${nft.nftId.toUpperCase()} `);
      await textOf(page, 'main h1').toBe('Soonanaut #2526');
      expect(await fragmentOf(page)).toBe(`#/nft/${nft.nftId}`);
      await textOf(page, '.found-note').toBe('This is an NFT, this node says.');
      await factsOf(page).toMatchObject({
        Issuer: 'NFT 0x34441c09…e6a29b All NFTs of this issuer',
        Owner: 'smr1qpaj9…rvpn9d',
        'Held since': '28 Sept 2022, 17:25:01 UTC, milestone 17339',
        Deposit: '0.1708 SMR',
        Tag: 'Soonaverse',
        'Said at': 'ledger index 17339',
      });
      await textOf(page, '.said').toMatch(
        /^This node says\. Not checked\..*What would prove it: /s,
      );
      await textOf(page, '.outcome [data-standing=proved]').toMatch(
        /^Owner smr1qpaj9…rvpn9d · proved in milestone 17339, 28 Sept 2022, 17:25:01 UTC$/,
      );
      await textOf(page, '.claims h2').toBe('What this NFT says of itself');
      await textOf(page, '.claims .name').toBe('Soonanaut #2526');
      await factsOf(page, '.claims').toMatchObject({
        Collection: 'Soonanaut NFT (NF3)',
        'Issuer, it says': 'Soonaverse',
        Royalties: '5 % to smr1qzu2y…h4hmy6',
      });
      await textOf(page, '[aria-label=Traits]').toContain('Background Blood');
      await textOf(page, '.certificate [data-standing=proved]').toMatch(
        /^NFT 0x.* came to output 0x.* in milestone 17339 of 28 Sept 2022, 17:25:01 UTC, signed by \d+ of /,
      );
      await textOf(page, '.history li').toMatch(/ UTC, milestone 17339, transaction/);
      await untilTitle(page, 'NFT Soonanaut #2526 · Stardust edge node');
      await expectLook('nft');
      await click(page, 'button', 'Check it');
      await textOf(page, '.history [data-standing=proved]').toMatch(
        /^NFT 0x.* came to output 0x.* in milestone 17339 of .* UTC, signed by \d+ of /,
      );
      await click(page, 'summary', 'Metadata as JSON');
      await unfold(page);
      await textOf(page, 'pre').toContain('IRC27');
      await expectLook();
    });

    it('leads from the issuer in the ledger to its gallery, page by page', async () => {
      await click(page, 'a', 'All NFTs of this issuer');
      await textOf(page, '.gallery li').toMatch(/^Soonanaut #\d+ 0x/);
      expect(await fragmentOf(page)).toBe(`#/issuer/${ISSUER}`);
      expect(await countOf(page, '.gallery li')).toBe(22);
      await expectLook('issuer');
      await click(page, 'a', 'Holds');
      await textOf(page, '.reason').toMatch(/This node lists NFTs alone, it says/);
      await textOf(page, 'main').toMatch(/at ledger index 17339 no NFT names this address/);
      await expectLook();
    });

    it('draws a milestone, checks it, and hashes the Merkle path of a block', async () => {
      await open(page, '/milestone/17339');
      await textOf(page, '#findings').toMatch(
        /signed by 10 of the keys of Shimmer: signed, but \d+ years old.*Each of 38 blocks has the hash.*The walk from the parents.*inclusion root that was signed.*applied root that was signed\.$/s,
      );
      await untilCount(page, DRAWN_BLOCK, 38);
      await click(page, '[aria-label^="5: transaction, applied"]');
      await textOf(page, '.panel h2').toContain('Block 5 of 38');
      await textOf(page, '.merkle').toMatch(
        /7 hashes lead to the inclusion root of milestone 17339 that was signed/,
      );
      expect(await fragmentOf(page)).toBe(`#/milestone/17339?block=${BLOCK}`);
      await page.evaluate(`document.querySelector('.checks').scrollIntoView()`);
      await expectLook('milestone');
    });

    it('keeps the view when it is loaded again, and goes back to the one before', async () => {
      await page.reload();
      await textOf(page, '.panel h2').toContain('Block 5 of 38');
      await open(page, `/block/${BLOCK}`);
      await textOf(page, 'main').toContain('at place 5 of its white-flag order');
      await textOf(page, '.merkle').toMatch(
        /7 hashes lead to the inclusion root of milestone 17339 that was signed/,
      );
      await expectLook();
      await page.evaluate('history.back()');
      await textOf(page, '.panel h2').toContain('Block 5 of 38');
    });

    it('says the same in a table', async () => {
      await fill(page, '.table select', 'applied');
      await untilCount(page, 'tbody tr', 5);
      expect(await readText(page, 'tbody tr')).toBe('3 0xf2174f3a…b10f1d transaction, applied');
    });

    it('shows a transaction as a flow, with what it changes and the data beside it', async () => {
      await open(page, `/transaction/${TRANSACTION}`);
      await textOf(page, '.outcome [data-standing=proved]').toBe(
        'Applied · 28 Sept 2022, 17:25:01 UTC, milestone 17339',
      );
      await textOf(page, 'main h1').toBe('1 alias in a new state, 22 NFTs minted');
      await textOf(page, '.flow-verdicts').toMatch(/The 3 outputs that are consumed hash to/);
      await textOf(page, '.sides').toMatch(
        /^3 inputs, 1 NFT 91\.4091 SMR.*25 outputs, 23 NFTs 91\.4091 SMR.*“Soonanaut #2526”.*Show all 25$/,
      );
      await textOf(page, '.changes').toMatch(
        /1 alias in a new state, 1 NFT kept, 22 NFTs minted\./,
      );
      await textOf(page, '.tagged').toMatch(/Tag: Soonaverse Data: 126 bytes, as JSON/);
      await textOf(page, '.merkle').toContain('the transaction was applied');
      await expectLook('transaction');
    });

    it('shows an output: who can unlock it, what it holds, and where it is from', async () => {
      await open(page, `/output/${TRANSACTION}0600`);
      await textOf(page, '.unlock').toMatch(/Only smr1qpaj9…rvpn9d can spend it\./);
      await textOf(page, 'main').toMatch(/Proved by your browser: this stands at the place/);
      await textOf(page, 'main').toMatch(/unspent at ledger index 17339/);
      await expectLook('output');
    });

    it('proposes the next milestone over the tips, by one click', async () => {
      await open(page, '/proposal');
      await click(page, 'button', 'Propose milestone 17340 over today’s tips');
      await textOf(page, 'main').toMatch(/Milestone 17340 was yet to come when this was computed/);
      await textOf(page, '#findings').toMatch(/Each of 43 blocks.*computed by the node\.$/s);
      expect(await fragmentOf(page)).toMatch(
        /^#\/proposal\?index=17340&timestamp=\d+&previousMilestoneId=0xef16/,
      );
      await untilCount(page, DRAWN_BLOCK, 43);
      await unfold(page);
      await expectLook();
      await fill(page, '.fields label:nth-child(2) input', '1');
      await click(page, 'button', 'Compute');
      await textOf(page, 'main').toMatch(
        /There are no roots for this proposal\. The node answered 400/,
      );
    });

    it('holds a past milestone against the roots that were signed', async () => {
      await open(page, '/milestone/17339');
      await click(page, 'a', 'Let the node compute these roots again');
      await textOf(page, 'main').toContain(
        'Both roots are the ones that the keys of Shimmer signed in milestone 17339, of 28 Sept 2022',
      );
      await untilCount(page, DRAWN_BLOCK, 38);
      await expectLook('proposal');
    });

    it('calls no roots false that a past milestone with other parents has not', async () => {
      const answer = await fetch(`${url}/api/core/v2/milestones/by-index/17339`);
      const { timestamp, parents, previousMilestoneId } = (await answer.json()) as {
        timestamp: number;
        parents: string[];
        previousMilestoneId: string;
      };
      const fields = { index: '17339', timestamp: `${timestamp}`, previousMilestoneId };
      for (const change of [
        { parents: parents.toReversed().join(' ') },
        { parents: parents.join(' '), timestamp: `${timestamp + 1}` },
      ]) {
        const query = new URLSearchParams({ ...fields, ...change });
        await open(page, `/proposal?${query}`);
        await textOf(page, 'main').toMatch(
          /Not checked: These roots, as milestone 17339 differs in parents, order or time\./,
        );
        await untilCount(page, DRAWN_BLOCK, 38);
        expect(await countOf(page, '.bad')).toBe(0);
      }
    });

    it('verifies the node by keys that it knows', async () => {
      await open(page, '/verify');
      await click(page, 'button', 'Verify');
      await textOf(page, '#verdict').toMatch(
        /^Verified: milestone 17339 of 28 Sept 2022, 17:25:01 UTC \(signed, but \d+ years old\)/,
      );
      await untilCount(page, '#checks .good', 5);
      await expectLook('verify');
    });

    it.each([
      [
        TRANSACTION,
        `#/transaction/${TRANSACTION}`,
        /^This is a transaction that was applied, this node says\.$/,
      ],
      [BLOCK, `#/block/${BLOCK}`, /^This is a block, this node says\.$/],
      [MILESTONE_ID, `#/milestone/${MILESTONE_ID}`, /^This is a milestone, this node says\.$/],
    ])('finds out what %s is', async (id, fragment, note) => {
      await open(page, `/search?q=${id}`);
      await textOf(page, '.found-note').toMatch(note);
      expect(await fragmentOf(page)).toBe(fragment);
    });

    it.each([
      ['17,339', '#/milestone/17339'],
      [ISSUER.toUpperCase(), `#/address/${ISSUER}`],
      [`${TRANSACTION}0600`, `#/output/${TRANSACTION}0600`],
    ])('recognises %s', async (text, fragment) => {
      await search(page, text);
      await expect.poll(() => fragmentOf(page)).toBe(fragment);
      await untilCount(page, 'main .page h1', 1);
    });

    it('says what it does not recognise', async () => {
      await search(page, '0x12');
      await textOf(page, '#search-problem').toMatch(/2 hex digits/);
      await expectLook();
    });

    it.each([
      [`/nft/${UNKNOWN}`, /NFT Not found.*never minted, or it was burned/],
      [`/output/${UNKNOWN}0000`, /Output Not found.*never existed, or it was spent so long ago/],
      [`/block/${UNKNOWN}`, /Block Not found.*it never came, or it is older/],
      // of which the node says no more
      [
        '/block/0x12',
        /Block Not found 0x12 This node says that it is malformed: then nothing has such an ID\. The node answered 400/,
      ],
      ['/milestone/4294967296', /Not found 4294967296 This node says that it is malformed: then/],
      [
        `/transaction/${UNKNOWN}`,
        /Transaction Not found.*has applied no transaction with this ID.*through the failed transactions of milestone 17339/,
      ],
      [`/milestone/${UNKNOWN}`, /Milestone Not found.*no milestone with this ID/],
      [
        '/milestone/99999',
        /Milestone Not found.*This node says that milestone 99999 has not come yet: its ledger is at milestone 17339\./,
      ],
      [
        '/milestone/5',
        /Milestone Not found.*This node says that milestone 5 is too old: it has nothing of milestones before 17338\./,
      ],
      ['/milestone/17338', /There is nothing to check here yet/],
      ['/address/smr1nothing', /This is no address: a character is missing or mistyped/],
      [`/address/${FOREIGN}`, /an address of another network.*begin with smr1/],
      [
        `/search?q=${UNKNOWN}`,
        /Not found.*An NFT: not here.*A block: not here.*A transaction that was applied: not here.*A milestone: not here/,
      ],
      ['/search?q=0x1234', /Not recognised.*This has 4 hex digits/],
      [`/search?q=${ISSUER.slice(0, -1)}q`, /looks like an address, but its checksum is wrong/],
      ['/no/such/page', /No such page/],
    ])('has a page for what is not there: %s', async (fragment, text) => {
      await open(page, fragment);
      await textOf(page, 'main').toMatch(text);
      expect(await countOf(page, '.bad')).toBe(0);
      if (fragment.startsWith('/nft')) await expectLook('not-found');
      if (fragment.startsWith('/search')) await expectLook();
    });
  });
});
