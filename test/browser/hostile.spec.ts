/**
 * What anybody may write into an NFT, and what a network may bring: it stays text, within its place,
 * and nothing is loaded that was not asked for.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  type Elsewhere,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { SAMPLE_ISSUER as ISSUER } from '../support/browser/sample-facts.ts';
import {
  click,
  countOf,
  fill,
  open,
  overhangOf,
  readText,
  textOf,
  unfold,
  untilCount,
  untilTitle,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { inJson, type Json, withField } from '../support/lies/rules.ts';
import { EXPLANATION, ONE_NFT } from '../support/lies/sample-paths.ts';

const { url, nft } = inject('sample');

const MARKUP = '<img src="https://elsewhere.example/x.png" onerror="document.title = 1">';
const RTL = '\u202Eevil \u2067\u05E9\u05DC\u05D5\u05DD\u202E';

const CID = 'bafybeigxpf6s67gdf2jolhpnqlhpoly3uxn2pefxdmhcptqa5zwhs42n7e';
const PICTURE_METADATA = JSON.stringify({
  standard: 'IRC27',
  name: 'x',
  uri: `ipfs://${CID}/a b.png`,
});
const PIXEL: Elsewhere = {
  status: 200,
  contentType: 'image/gif',
  body: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;

    beforeAll(async () => {
      browser = await launch({ scheme });
      node = await startLyingNode(nodeAt(url));
      page = await browser.open(`${node.url}/#/no/such/page`, size);
    });
    afterAll(async () => {
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });
    afterEach(async () => {
      expect(page.faults.splice(0)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
    });

    /** Shows the NFT in a page, as if this text was its metadata. */
    async function showNft(metadata: string, owner: object = {}, where = page): Promise<void> {
      const data = `0x${Buffer.from(metadata).toString('hex')}`;
      const change = (answer: Json) => {
        answer.output.immutableFeatures = [{ type: 2, data }];
        Object.assign(answer.owner, owner);
      };
      node.lie([inJson(ONE_NFT, change)]);
      // another view before, so that the NFT is read again
      await open(where, '/no/such/page');
      await textOf(where, 'main h1').toBe('No such page');
      await open(where, `/nft/${nft.nftId}`);
      await untilCount(where, '#nft-says', 1);
    }

    describe('metadata', () => {
      it('with markup stays text, in every field', async () => {
        await showNft(
          JSON.stringify({
            standard: 'IRC27',
            name: MARKUP,
            collectionName: MARKUP,
            description: MARKUP,
            issuerName: MARKUP,
            type: MARKUP,
            attributes: [{ trait_type: MARKUP, value: MARKUP }],
            royalties: { [MARKUP]: 0.025 },
            uri: MARKUP,
          }),
        );
        expect((await readText(page, '.claims')).split(MARKUP)).toHaveLength(10);
        expect(await countOf(page, 'img')).toBe(0);
        await untilTitle(page, `NFT ${MARKUP.slice(0, 100)} · Stardust edge node`);
        expect(await audit(page)).toEqual([]);
      });

      it('of 64 KB is folded, and does not widen or stall the page', async () => {
        const attributes = Array.from({ length: 900 }, (_, i) => ({
          trait_type: `trait ${i}`,
          value: 'x'.repeat(40),
        }));
        const text = JSON.stringify({
          standard: 'IRC27',
          name: 'N'.repeat(500),
          description: 'W'.repeat(8000),
          attributes,
        });
        expect(text.length).toBeGreaterThan(64_000);
        await showNft(text);
        await unfold(page);
        await expect
          .poll(async () => (await readText(page, '.claims pre')).length)
          .toBeGreaterThan(64_000);
      });

      it('from right to left does not turn what is beside it', async () => {
        await showNft(
          JSON.stringify({
            standard: 'IRC27',
            name: RTL,
            collectionName: RTL,
            attributes: [{ trait_type: RTL, value: RTL }],
            royalties: { [RTL]: 0.05 },
          }),
        );
        expect(await page.evaluate(`document.querySelector('.claims .name bdi').textContent`)).toBe(
          RTL,
        );
        // the share is to the left of the address, whatever the address is
        const [share, address] = (await page.evaluate(`(() => {
          const row = [...document.querySelectorAll('.claims dd p')].at(-1);
          const range = document.createRange();
          range.selectNodeContents(row.firstChild);
          const leftOf = (each) => each.getBoundingClientRect().left;
          return [leftOf(range), leftOf(row.querySelector('bdi'))];
        })()`)) as [number, number];
        expect(share).toBeLessThan(address);
      });

      it.each([
        ['javascript:alert(1)', 'by javascript:, which is not loaded'],
        ['data:text/html,<script>alert(1)</script>', 'by data:, which is not loaded'],
        ['http://elsewhere.example/x.png', 'by http:, which is not loaded'],
        ['file:///etc/passwd', 'by file:, which is not loaded'],
        ['ipfs://../../secret', 'that leads elsewhere'],
        ['nothing', 'no picture that can be loaded'],
      ])('with the picture %s shows none, and no link', async (uri, reason) => {
        await showNft(JSON.stringify({ standard: 'IRC27', name: 'x', uri }));
        expect(await readText(page, '.frame')).toContain(reason);
        expect(await countOf(page, '.frame button, .claims a')).toBe(0);
      });

      it.each([
        MARKUP,
        'null',
        '[{"standard":"IRC27"}]',
        '\u0000\u0001',
        '{"name":{"a":1}}',
        '{"attributes":[null,1]}',
      ])('that is no IRC-27 is shown as it is: %s', async (text) => {
        await showNft(text);
        expect(await readText(page, '.claims summary')).toMatch(/^Metadata as (JSON|text)$/);
        await unfold(page);
        const shown = () => page.evaluate(`document.querySelector('.claims pre')?.textContent`);
        await expect
          .poll(async () => String(await shown()).replaceAll(/\s/g, ''))
          .toBe(text.replaceAll(/\s/g, ''));
        expect(await countOf(page, 'img')).toBe(0);
      });
    });

    it('shows a name of 3,000 characters in three lines, and metadata that may change', async () => {
      await showNft(JSON.stringify({ standard: 'IRC27', name: 'N'.repeat(3000) }));
      const height = `document.querySelector('main h1').getBoundingClientRect().height`;
      expect(await page.evaluate(height)).toBeLessThan(260);
      const changeable = `0x${Buffer.from(MARKUP).toString('hex')}`;
      node.lie([
        inJson(ONE_NFT, ({ output }) => {
          output.features = [{ type: 2, data: changeable }];
        }),
      ]);
      await open(page, '/no/such/page');
      await textOf(page, 'main h1').toBe('No such page');
      await open(page, `/nft/${nft.nftId}`);
      await textOf(page, '.claims').toContain(`What its owner wrote, and may change ${MARKUP}`);
    });

    it('copies without the clipboard of https, or shows what to copy', async () => {
      await showNft('{}');
      await page.evaluate(`{
        Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
        document.execCommand = () => {
          globalThis.copied = document.activeElement.value;
          return globalThis.canCopy ?? true;
        };
      }`);
      await click(page, '[aria-label="Copy NFT ID"]');
      await untilCount(page, '[aria-label="NFT ID copied"]', 1);
      expect(await page.evaluate('copied')).toBe(nft.nftId);
      await page.evaluate('void (canCopy = false)');
      await click(page, '[aria-label="Copy address"]');
      await textOf(page, '.refused').toMatch(/does not let this page copy.*smr1[0-9a-z]{59}/);
      await page.reload();
    });

    it('tells the owner in time', async () => {
      const passesTo = { address: ISSUER, unixTime: 1_700_000_000 };
      await showNft('{}', { canUnlock: false, timelockedUntil: 1_690_000_000, passesTo });
      const owner = await readText(page, '.facts');
      expect(owner).toContain('cannot move it before 22 Jul 2023, 04:26:40 UTC');
      expect(owner).toMatch(/passes to smr1zq6yg…tney6m on 14 Nov 2023, 22:13:20 UTC/);
    });

    describe('pictures', () => {
      let asked: string[];
      let other: DrivenPage;

      afterEach(() => other?.close());

      /** A page of its own, because it loads from elsewhere. */
      async function openOther(
        answer: (url: string) => Elsewhere | undefined,
        holdsLimits = false,
      ): Promise<void> {
        asked = [];
        other = await browser.open(`${node.url}/#/no/such/page`, size, { holdsLimits });
        await other.answerElsewhere((from) => {
          asked.push(from);
          return answer(from);
        });
      }

      it('are loaded on click only, from the gateway that was chosen', async () => {
        await openOther(() => PIXEL);
        await showNft(PICTURE_METADATA, {}, other);
        await chooseGateway('dweb.link');
        expect(asked).toEqual([]);
        await click(other, 'button', 'Show picture');
        await untilCount(other, 'img.shown', 1);
        expect(asked).toEqual([`https://dweb.link/ipfs/${CID}/a%20b.png`]);
      });

      it('that never come are given up, and another gateway can be tried', async () => {
        await openOther(
          (from) =>
            from.startsWith('https://ipfs.io/')
              ? undefined
              : { status: 404, contentType: 'text/plain', body: Buffer.from('none') },
          true,
        );
        await showNft(PICTURE_METADATA, {}, other);
        await chooseGateway('ipfs.io');
        await click(other, 'button', 'Show picture');
        await textOf(other, '.frame .over').toBe('Loading from ipfs.io …');
        // the page begins to count some time after it says that
        const later = async () => {
          await other.evaluate('passTime()');
          return readText(other, '.frame .over');
        };
        await expect
          .poll(later)
          .toBe('The picture from ipfs.io is not here after 20 seconds. It may still come.');
        await chooseGateway('dweb.link');
        await textOf(other, '.frame .over').toBe(
          'Your browser got no picture from dweb.link that it can show. It does not tell this page why.',
        );
      });

      it('are shown by their type: a video as one, other types as links', async () => {
        await openOther(() => ({ ...PIXEL, contentType: 'video/mp4' }));
        const typed = (type: string) =>
          JSON.stringify({ standard: 'IRC27', name: 'x', type, uri: 'https://a.example/{id}.x' });
        await showNft(typed('video/mp4'), {}, other);
        await click(other, 'button', 'Show video');
        await untilCount(other, 'img', 0);
        // what came is no video
        await textOf(other, '.frame .over').toContain('no video from a.example that it can show');
        expect(asked).toEqual([`https://a.example/${nft.nftId.slice(2)}.x`]);
        await showNft(typed('text/html'), {}, other);
        await textOf(other, '.frame').toContain('Open the file of type text/html');
        expect(await countOf(other, '.frame button, .frame img, .frame video')).toBe(0);
        expect(asked).toHaveLength(1);
      });

      it('of a gallery are loaded by one click', async () => {
        await openOther(() => PIXEL);
        await open(other, `/issuer/${ISSUER}`);
        await untilCount(other, '.gallery li', 22);
        expect(asked).toEqual([]);
        await click(other, 'button', 'Show pictures');
        await expect.poll(() => countOf(other, 'img.shown')).toBeGreaterThan(15);
      });

      async function chooseGateway(title: string): Promise<void> {
        const value = await other.evaluate(`[...document.querySelectorAll('.gateway option')]
          .find((each) => each.textContent === ${JSON.stringify(title)}).value`);
        await fill(other, '.gateway select', String(value));
      }
    });

    it('shows 10,000 blocks as a mosaic that stays quick', async () => {
      const id = (i: number) => `0x${i.toString(16).padStart(64, '0')}`;
      // one in ten of them is a transaction, some are in conflict
      const blocks = Array.from({ length: 10_000 }, (_, i) => ({
        blockId: id(i + 1),
        whiteFlagIndex: i,
        ...(i % 10 !== 3
          ? { payload: 'taggedData', ledgerInclusionState: 'noTransaction' }
          : i % 20 === 3
            ? { payload: 'transaction', ledgerInclusionState: 'included' }
            : { payload: 'transaction', ledgerInclusionState: 'conflicting', conflictReason: 2 }),
      }));
      node.lie([withField(EXPLANATION, 'blocks', blocks)]);
      await open(page, '/milestone/17339');
      await untilCount(page, 'tbody tr', 50);
      const zoomTime = `(async () => {
        const zoom = [...document.querySelectorAll('.zoom button')].find((each) => !each.disabled);
        const started = performance.now();
        zoom.click();
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return performance.now() - started;
      })()`;
      // what the machine takes for something that never changes: some 30 ms, more if it is busy
      const yardstick = `(() => {
        const started = performance.now();
        for (let i = 0; i < 3e7; i++) globalThis.spun = (globalThis.spun * 31 + i) | 0;
        return performance.now() - started;
      })()`;
      // on a machine that does nothing else it takes three frames of 60 a second
      const isQuick = async () => {
        const limit = Math.max(100, 4 * Number(await page.evaluate(yardstick)));
        return Number(await page.evaluate(zoomTime)) < limit;
      };
      await expect.poll(isQuick).toBe(true);
      // tiles of 20 pixels on up to 8,000: it says how far they go
      const drawn = Number(
        await page.evaluate(`(async () => {
          for (let i = 0; i < 4; i++) {
            [...document.querySelectorAll('.zoom button')].at(-1).click();
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
          }
          const { width, height } = document.querySelector('canvas').style;
          return (parseInt(width) * parseInt(height)) / 400;
        })()`),
      );
      expect(drawn < blocks.length).toBe(size === 'phone');
      const part = size === 'phone' ? ` of the first ${drawn.toLocaleString('en')}` : '';
      await textOf(page, '.mosaic .hint').toContain(`one tile each${part}, in white-flag order`);
      // conflicts are in their own colour: --bad of the style sheet
      const [red, green] = scheme === 'light' ? [179, 38] : [255, 157];
      const hasRed = await page.evaluate(`(() => {
        const canvas = document.querySelector('canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let i = 0; i < data.length; i += 4)
          if (data[i] > ${red - 40} && data[i + 1] < ${green + 40} && data[i + 3] > 200) return true;
        return false;
      })()`);
      expect(hasRed).toBe(true);
      await page.evaluate(`(() => {
        const canvas = document.querySelector('canvas');
        const { left, top } = canvas.getBoundingClientRect();
        canvas.dispatchEvent(
          new MouseEvent('click', { bubbles: true, clientX: left + 40, clientY: top + 40 }));
      })()`);
      await textOf(page, '.panel h2').toMatch(/Block \d+ of 10000/);
      expect(await audit(page)).toEqual([]);
    });

    it('says why a transaction is in conflict, on hover, on focus and in the table', async () => {
      const conflict = { ledgerInclusionState: 'conflicting', conflictReason: 2 };
      const change = ({ blocks }: Json) => void Object.assign(blocks[3], conflict);
      node.lie([inJson(EXPLANATION, change)]);
      await open(page, '/no/such/page');
      await textOf(page, 'main h1').toBe('No such page');
      await open(page, '/milestone/17339');
      const words = 'in conflict: an input was spent earlier in this milestone';
      const block = '[aria-label^="3: in conflict"]';
      await untilCount(page, block, 1);
      await page.hover(block);
      await textOf(page, '.caption').toContain(words);
      await page.hover('h1');
      await textOf(page, '.caption').not.toContain(words);
      await page.evaluate(`document.querySelector('${block}').focus()`);
      await textOf(page, '.caption').toContain(words);
      expect(await readText(page, 'tbody tr:nth-child(4)')).toContain(words);
      expect(await countOf(page, `${block} rect`)).toBe(1);
    });
  });
});
