/**
 * What anybody may write into an NFT, and what a network may bring: it stays text, within its place,
 * and nothing is loaded that was not asked for. In Chromium, on a phone.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/browser/chromium.ts';
import { SAMPLE_ISSUER as ISSUER } from '../support/browser/sample-facts.ts';
import { type Visit, visit } from '../support/browser/visit.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

let browser: Browser;
let worker: SampleWorker;

beforeAll(async () => {
  browser = await launchChromium();
  worker = await serveSample();
}, 180_000);
afterAll(() => Promise.all([browser?.close(), worker?.stop()]));

const MARKUP = '<img src="https://elsewhere.example/x.png" onerror="document.title = 1">';
const RTL = '\u202Eevil \u2067\u05E9\u05DC\u05D5\u05DD\u202E';

/** A visit to the NFT, whose metadata is this text. */
async function showNft(metadata: string, owner: object = {}): Promise<Visit> {
  const current = await visit(browser, worker.url, 'phone');
  const { page } = current;
  await page.route('**/api/edge/v1/nfts/*', async (route) => {
    const nft = await (await route.fetch()).json();
    const data = `0x${Buffer.from(metadata).toString('hex')}`;
    const output = { ...nft.output, immutableFeatures: [{ type: 2, data }] };
    await route.fulfill({ json: { ...nft, owner: { ...nft.owner, ...owner }, output } });
  });
  await current.open(`/nft/${worker.nft.nftId}`);
  await page.locator('#nft-says').waitFor();
  return current;
}

const claimsOf = ({ page }: Visit) => page.locator('.claims').innerText();

describe('metadata', () => {
  it('with markup stays text, in every field', async () => {
    const current = await showNft(
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
    expect((await claimsOf(current)).split(MARKUP)).toHaveLength(10);
    expect(await current.page.locator('img').count()).toBe(0);
    expect(await current.page.title()).toMatch(/^NFT 0x0255e848/);
    expect(await current.overhang()).toBe(0);
    expect(current.faults).toEqual([]);
    await current.end();
  });

  it('of 64 KB is folded, and does not widen or stall the page', async () => {
    const attributes = Array.from({ length: 900 }, (_, i) => ({
      trait_type: `trait ${i}`,
      value: 'x'.repeat(40),
    }));
    const description = 'W'.repeat(8000);
    const text = JSON.stringify({
      standard: 'IRC27',
      name: 'N'.repeat(500),
      description,
      attributes,
    });
    expect(text.length).toBeGreaterThan(64_000);
    const current = await showNft(text);
    expect(await claimsOf(current)).toContain('and 840 more, in the JSON');
    expect(await current.overhang()).toBe(0);
    await current.page.getByText('Metadata as JSON').click();
    expect((await current.page.locator('.claims pre').innerText()).length).toBeGreaterThan(64_000);
    expect(await current.overhang()).toBe(0);
    await current.end();
  });

  it('from right to left does not turn what is beside it', async () => {
    const current = await showNft(
      JSON.stringify({
        standard: 'IRC27',
        name: RTL,
        collectionName: RTL,
        attributes: [{ trait_type: RTL, value: RTL }],
        royalties: { [RTL]: 0.05 },
      }),
    );
    const { page } = current;
    expect(await page.locator('.claims .name bdi').innerText()).toBe(RTL);
    // the share stands to the left of the address, whatever the address is
    const [share, address] = await page.evaluate<[number, number]>(`(() => {
      const row = [...document.querySelectorAll('.claims dd p')].at(-1);
      const range = document.createRange();
      range.selectNodeContents(row.firstChild);
      return [range.getBoundingClientRect().left, row.querySelector('bdi').getBoundingClientRect().left];
    })()`);
    expect(share).toBeLessThan(address);
    await current.end();
  });

  it.each([
    ['javascript:alert(1)', 'by javascript:, which is not loaded'],
    ['data:text/html,<script>alert(1)</script>', 'by data:, which is not loaded'],
    ['http://elsewhere.example/x.png', 'by http:, which is not loaded'],
    ['file:///etc/passwd', 'by file:, which is not loaded'],
    ['ipfs://../../secret', 'that is no content ID'],
    ['nothing', 'no picture that can be loaded'],
  ])('with the picture %s shows none, and no link', async (uri, reason) => {
    const current = await showNft(JSON.stringify({ standard: 'IRC27', name: 'x', uri }));
    expect(await current.page.locator('.frame').innerText()).toContain(reason);
    expect(await current.page.getByRole('button', { name: 'Show picture' }).count()).toBe(0);
    expect(await current.page.locator('.claims a').count()).toBe(0);
    expect(current.faults).toEqual([]);
    await current.end();
  });

  it.each([
    MARKUP,
    'null',
    '[{"standard":"IRC27"}]',
    '\u0000\u0001',
    '{"name":{"a":1}}',
    '{"attributes":[null,1]}',
  ])('that is no IRC-27 is shown as it is: %s', async (text) => {
    const current = await showNft(text);
    await current.page.getByText(/^Metadata as (JSON|text)$/).click();
    const shown = await current.page.locator('.claims pre').textContent();
    expect(shown!.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    expect(await current.page.locator('img').count()).toBe(0);
    await current.end();
  });
});

it('tells the owner in time', async () => {
  const passesTo = { address: ISSUER, unixTime: 1_700_000_000 };
  const current = await showNft('{}', {
    canUnlock: false,
    timelockedUntil: 1_690_000_000,
    passesTo,
  });
  const text = await current.page.locator('.facts').first().innerText();
  const owner = text.replaceAll(/\s+/g, ' ');
  expect(owner).toContain('cannot move it before 22 Jul 2023, 04:26:40 UTC');
  expect(owner).toMatch(/passes to smr1zq6yg…tney6m\s+on 14 Nov 2023, 22:13:20 UTC/);
  await current.end();
});

describe('pictures', () => {
  const CID = 'bafybeigxpf6s67gdf2jolhpnqlhpoly3uxn2pefxdmhcptqa5zwhs42n7e';
  const metadata = JSON.stringify({ standard: 'IRC27', name: 'x', uri: `ipfs://${CID}/a b.png` });
  const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

  it('are loaded on click only, from the gateway that was chosen', async () => {
    const current = await showNft(metadata);
    const { page } = current;
    const asked: string[] = [];
    await page.route(/^https:/, (route) => {
      asked.push(route.request().url());
      return route.fulfill({ contentType: 'image/gif', body: PIXEL });
    });
    await page.getByLabel('IPFS gateway').selectOption('dweb.link');
    expect(asked).toEqual([]);
    await page.getByRole('button', { name: 'Show picture' }).click();
    await page.locator('img.shown').waitFor();
    expect(asked).toEqual([`https://dweb.link/ipfs/${CID}/a%20b.png`]);
    await current.end();
  });

  it('that never come are given up, and another gateway can be tried', async () => {
    const current = await showNft(metadata);
    const { page } = current;
    await page.clock.install();
    await page.route('https://ipfs.io/**', () => {
      // never answered
    });
    await page.route('https://dweb.link/**', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('button', { name: 'Show picture' }).click();
    await expect
      .poll(() => page.locator('.frame .over').innerText())
      .toBe('Loading from ipfs.io …');
    await page.clock.runFor(21_000);
    await expect
      .poll(() => page.locator('.frame .over').innerText())
      .toBe('ipfs.io has sent nothing for 20 seconds. Try another gateway.');
    await page.getByLabel('IPFS gateway').selectOption('dweb.link');
    await expect
      .poll(() => page.locator('.frame .over').innerText())
      .toBe('dweb.link has no picture there.');
    await current.end();
  });

  it('of a gallery are loaded by one click', async () => {
    const current = await visit(browser, worker.url, 'phone');
    const { page } = current;
    let asked = 0;
    await page.route(/^https:/, (route) => {
      asked++;
      return route.fulfill({ contentType: 'image/gif', body: PIXEL });
    });
    await current.open(`/issuer/${ISSUER}`);
    await page.locator('.gallery li').nth(21).waitFor();
    expect(asked).toBe(0);
    await page.getByRole('button', { name: 'Show pictures' }).click();
    await expect.poll(() => page.locator('img.shown').count()).toBeGreaterThan(15);
    await current.end();
  });
});

/** A milestone with so many blocks, one in ten of them a transaction, some in conflict. */
async function showCone(count: number): Promise<Visit> {
  const current = await visit(browser, worker.url, 'phone');
  const id = (i: number) => `0x${i.toString(16).padStart(64, '0')}`;
  const blocks = Array.from({ length: count }, (_, i) => ({
    blockId: id(i + 1),
    whiteFlagIndex: i,
    ...(i % 10 !== 3
      ? { payload: 'taggedData', ledgerInclusionState: 'noTransaction' }
      : i % 20 === 3
        ? { payload: 'transaction', ledgerInclusionState: 'included' }
        : { payload: 'transaction', ledgerInclusionState: 'conflicting', conflictReason: 2 }),
  }));
  await current.page.route('**/api/edge/v1/whiteflag/17339', async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, blocks } });
  });
  await current.open('/milestone/17339');
  return current;
}

it('shows 10,000 blocks as a mosaic that stays quick', async () => {
  const current = await showCone(10_000);
  const { page } = current;
  await page.locator('canvas').waitFor();
  expect(await page.locator('tbody tr').count()).toBe(50);
  // a drawing of all tiles fits into a frame of 60 a second, on a machine that does nothing else
  const drawn = await page.evaluate<number>(`(async () => {
    const zoom = document.querySelector('[aria-label="Zoom in"]');
    const started = performance.now();
    zoom.click();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return performance.now() - started;
  })()`);
  expect(drawn).toBeLessThan(500);
  // conflicts are in their own colour: rgb(179, 38, 30) of the style sheet
  const hasRed = await page.evaluate(`(() => {
    const canvas = document.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
      if (data[i] > 120 && data[i + 1] < 80 && data[i + 3] > 200) return true;
    return false;
  })()`);
  expect(hasRed).toBe(true);
  await page.locator('canvas').click({ position: { x: 40, y: 40 } });
  await expect.poll(() => page.locator('.panel h2').innerText()).toMatch(/Block \d+ of 10000/);
  expect(await current.overhang()).toBe(0);
  await current.end();
});

it('says why a transaction is in conflict, on hover, on focus and in the table', async () => {
  const current = await visit(browser, worker.url, 'desktop');
  const { page } = current;
  await page.route('**/api/edge/v1/whiteflag/17339', async (route) => {
    const answer = await (await route.fetch()).json();
    Object.assign(answer.blocks[3], { ledgerInclusionState: 'conflicting', conflictReason: 2 });
    await route.fulfill({ json: answer });
  });
  await current.open('/milestone/17339');
  const words = 'Conflict 2: an input was spent earlier in this milestone (L-1)';
  const block = page.getByRole('button', { name: /^3: Conflict 2/ });
  await block.hover();
  await expect.poll(() => page.locator('.caption').innerText()).toContain(words);
  await page.mouse.move(0, 0);
  await block.focus();
  await expect.poll(() => page.locator('.caption').innerText()).toContain(words);
  expect(await page.locator('tbody tr').nth(3).innerText()).toContain(words);
  expect(await block.locator('rect').count()).toBe(1);
  await current.end();
});
