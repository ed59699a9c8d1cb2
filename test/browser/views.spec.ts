/**
 * Each view of the explorer as people meet it, over the built Worker with the sample, in Chromium, on
 * a phone and on a desktop: what it says, that its URL is its own, and what it looks like.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/browser/chromium.ts';
import { expectPicture } from '../support/browser/expected-picture.ts';
import { SAMPLE_ISSUER as ISSUER } from '../support/browser/sample-facts.ts';
import { type Screen, type Visit, visit } from '../support/browser/visit.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

const UNKNOWN = `0x${'5a'.repeat(32)}`;
const BLOCK = '0xd79a2feb857ffe4791bfae2d2e991463bbcc6d9f9d2eeb1276d0931f16ae14dd';
const TRANSACTION = '0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e';
const MILESTONE_ID = '0xef16bf8eae2756dce09732f6faa0ba906e5991e82133b68c9bff8c9486b9af59';

let browser: Browser;
let worker: SampleWorker;

beforeAll(async () => {
  browser = await launchChromium();
  worker = await serveSample();
}, 180_000);
afterAll(() => Promise.all([browser?.close(), worker?.stop()]));

const inOneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ');

const textOf = (page: Page, selector: string) =>
  expect.poll(async () => inOneLine(await page.locator(selector).first().innerText()));

/** Terms and values of the first list of facts. */
const factsOf = (page: Page, within = 'main') =>
  expect.poll(async () => {
    const rows = await page.locator(`${within} .facts`).first().locator('div').all();
    const texts = await Promise.all(rows.map((row) => row.locator('dt, dd').allInnerTexts()));
    return Object.fromEntries(texts.map(([term, value]) => [term, inOneLine(value ?? '')]));
  });

describe.each<Screen>(['desktop', 'phone'])('on a %s', (screen) => {
  let current: Visit;
  let page: Page;

  beforeAll(async () => {
    current = await visit(browser, worker.url, screen, screen === 'phone' ? 'dark' : 'light');
    page = current.page;
  });
  afterAll(() => current.end());

  const picture = (name: string) => expectPicture(page, `${name}-${screen}`);

  it('begins with examples from the ledger', async () => {
    await textOf(page, '#ledger-state').toMatch(/^shimmer · ledger 17,339 · \d+ years old$/);
    await textOf(page, 'main h1').toBe('Look into the ledger, and check it yourself.');
    await textOf(page, '.examples').toContain('Soonanaut NFT (NF3)');
    await textOf(page, '.home').toMatch(/38 blocks in white-flag order, 5 transactions applied/);
    await picture('home');
  });

  it('shows an NFT: what the ledger says, and apart from it what the NFT says', async () => {
    await page.getByLabel(/^NFT, output, block/).fill(` ${worker.nft.nftId.toUpperCase()} `);
    await page.getByRole('button', { name: 'Search' }).click();
    await textOf(page, 'main h1').toBe('0x0255e848…785aa7');
    expect(new URL(page.url()).hash).toBe(`#/nft/${worker.nft.nftId}`);
    await textOf(page, '.found-note').toBe(
      '32 bytes can be the ID of four things. This is an NFT.',
    );
    await factsOf(page).toMatchObject({
      Issuer: 'NFT 0x34441c09…e6a29b All NFTs of this issuer',
      Owner: 'smr1qpaj9…rvpn9d',
      'Held since': '28 Sept 2022, 17:25:01 UTC, milestone 17339',
      Deposit: '0.1708 SMR',
      Tag: 'Soonaverse',
      'True at': 'ledger index 17339',
    });
    const claims = page.locator('.claims');
    await expect.poll(() => claims.locator('h2').innerText()).toBe('What this NFT says of itself');
    expect(await claims.locator('.name').innerText()).toBe('Soonanaut #2526');
    await factsOf(page, '.claims').toMatchObject({
      Collection: 'Soonanaut NFT (NF3)',
      'Issuer, it says': 'Soonaverse',
      Royalties: '5 % to smr1qzu2y…h4hmy6',
    });
    expect(
      await page.getByRole('list', { name: 'Traits' }).locator('li').allInnerTexts(),
    ).toContain('Background Blood');
    expect(await page.title()).toBe('NFT 0x0255e848…785aa7 · Stardust edge node');
    await picture('nft');
  });

  it('leads from the issuer in the ledger to its gallery, page by page', async () => {
    await page.getByRole('link', { name: 'All NFTs of this issuer' }).click();
    await textOf(page, '.gallery li').toMatch(/^Soonanaut #\d+ 0x/);
    expect(new URL(page.url()).hash).toBe(`#/issuer/${ISSUER}`);
    expect(await page.locator('.gallery li').count()).toBe(22);
    await picture('issuer');
    await page.getByRole('link', { name: 'Holds' }).click();
    await textOf(page, '.reason').toMatch(/no NFT is held by this address/);
  });

  it('draws a milestone, checks it, and hashes the Merkle path of a block', async () => {
    await current.open('/milestone/17339');
    await textOf(page, '#findings').toMatch(
      /10 signatures are right, all by keys of Shimmer.*Each of 38 blocks has the hash.*The walk from the parents.*inclusion root that was signed.*applied root that was signed\.$/s,
    );
    await expect.poll(() => page.locator('svg .block[role=button]').count()).toBe(38);
    await page.getByRole('button', { name: /^5: transaction, applied/ }).click();
    await textOf(page, '.panel h2').toContain('Block 5 of 38');
    await textOf(page, '.merkle').toContain('7 hashes lead to the signed root.');
    expect(new URL(page.url()).hash).toBe(`#/milestone/17339?block=${BLOCK}`);
    await page.locator('.graph').scrollIntoViewIfNeeded();
    await page.evaluate(`document.querySelector('.checks').scrollIntoView()`);
    await picture('milestone');
  });

  it('keeps the view when it is loaded again, and goes back to the one before', async () => {
    await page.reload();
    await textOf(page, '.panel h2').toContain('Block 5 of 38');
    await current.open(`/block/${BLOCK}`);
    await textOf(page, 'main').toContain('at place 5 of its white-flag order');
    await textOf(page, '.merkle').toContain('7 hashes lead to the signed root.');
    await page.goBack();
    await textOf(page, '.panel h2').toContain('Block 5 of 38');
  });

  it('says the same in a table', async () => {
    await page.getByLabel('Show').selectOption({ label: 'transaction, applied, 5' });
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(5);
    expect(await rows.first().innerText()).toMatch(
      /^3\s+0xf2174f3a…b10f1d\s+transaction, applied$/,
    );
  });

  it('proposes the next milestone over the tips, by one click', async () => {
    await current.open('/proposal');
    await page.getByRole('button', { name: 'Propose milestone 17,340 over today’s tips' }).click();
    await textOf(page, 'main').toMatch(/Milestone 17340 is yet to come/);
    await textOf(page, '#findings').toMatch(/Each of 43 blocks.*computed by the node\.$/s);
    expect(page.url()).toMatch(/#\/proposal\?index=17340&timestamp=\d+&previousMilestoneId=0xef16/);
    await page.getByText('Edit the proposal').click();
    await page.getByLabel('Timestamp').fill('1');
    await page.getByRole('button', { name: 'Compute' }).click();
    await textOf(page, 'main').toMatch(
      /There are no roots for this proposal\. The node answered 400/,
    );
  });

  it('holds a past milestone against the roots that were signed', async () => {
    await current.open('/milestone/17339');
    await page.getByRole('link', { name: 'Let the node compute these roots again' }).click();
    await textOf(page, 'main').toContain(
      'Both roots are the ones that the network signed in milestone 17339.',
    );
    await expect.poll(() => page.locator('svg .block[role=button]').count()).toBe(38);
    await picture('proposal');
  });

  it('verifies the node by keys that it knows', async () => {
    await current.open('/verify');
    await page.getByRole('button', { name: 'Verify' }).click();
    await textOf(page, '#verdict').toMatch(/Verified: everything holds against the keys\./);
    expect(await page.locator('#checks .good').count()).toBe(5);
    await picture('verify');
  });

  it.each([
    [
      TRANSACTION,
      'transaction',
      `#/transaction/${TRANSACTION}`,
      /not an NFT, not a block, but a transaction/,
    ],
    [BLOCK, 'block', `#/block/${BLOCK}`, /not an NFT, but a block/],
    [
      MILESTONE_ID,
      'milestone',
      `#/milestone/${MILESTONE_ID}`,
      /not a transaction, but a milestone/,
    ],
  ])('finds out what %s is: a %s', async (id, _, hash, note) => {
    await current.open(`/search?q=${id}`);
    await textOf(page, '.found-note').toMatch(note);
    expect(new URL(page.url()).hash).toBe(hash);
  });

  it.each([
    ['17,339', '#/milestone/17339'],
    [ISSUER.toUpperCase(), `#/address/${ISSUER}`],
    [`${TRANSACTION}0600`, `#/output/${TRANSACTION}0600`],
  ])('recognises %s', async (text, hash) => {
    await page.locator('#search').fill(text);
    await page.locator('#search').press('Enter');
    await expect.poll(() => new URL(page.url()).hash).toBe(hash);
    await expect.poll(() => page.locator('main .page h1').count()).toBe(1);
  });

  it.each([
    [`/nft/${UNKNOWN}`, /NFT Not found.*never minted, or it was burned/s],
    [`/output/${UNKNOWN}0000`, /Output Not found.*never existed, or it was spent so long ago/s],
    [`/block/${UNKNOWN}`, /Block Not found.*it never came, or it is older/s],
    [`/transaction/${UNKNOWN}`, /Transaction Not found.*it was in conflict, or it is older/s],
    [`/milestone/${UNKNOWN}`, /Milestone Not found.*no milestone with this ID/s],
    ['/milestone/99999', /Milestone Not found.*yet to come: the ledger is at milestone 17339/s],
    ['/milestone/5', /Milestone Not found.*too old: this node keeps milestones from 17338 on/s],
    ['/address/smr1nothing', /no address of the network/],
    [
      `/search?q=${UNKNOWN}`,
      /Not found.*an NFT: not here.*a block: not here.*a transaction: not here.*a milestone: not here/s,
    ],
    ['/search?q=0x1234', /Not recognised.*This has 4 hex digits/s],
    [`/search?q=${ISSUER.slice(0, -1)}q`, /looks like an address, but its checksum is wrong/],
    ['/no/such/page', /No such page/],
  ])('has a page for what is not there: %s', async (fragment, text) => {
    await current.open(fragment);
    await textOf(page, 'main').toMatch(text);
    expect(await current.overhang()).toBe(0);
    if (fragment.startsWith('/nft')) await picture('not-found');
  });

  it('says that there is nothing to check yet of a milestone that came by the snapshot', async () => {
    await current.open('/milestone/17338');
    await textOf(page, 'main').toMatch(/There is nothing to check here yet/);
    expect(await page.locator('.bad').count()).toBe(0);
  });

  it('does all that without a fault, and asks nobody else', () => {
    expect(current.faults).toEqual([]);
  });
});

it('is small and quick: 60 KB before a graph, first paint within 300 ms', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const loaded: string[] = [];
  page.on('response', (response) => {
    if (/\.(js|css|svg|png)$|\/$/.test(new URL(response.url()).pathname))
      loaded.push(response.url());
  });
  const paints: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.goto(`${worker.url}/#/nft/${worker.nft.nftId}`);
    await textOf(page, '.claims .name').toBe('Soonanaut #2526');
    paints.push(
      Number(await page.evaluate(`performance.getEntriesByName('first-paint')[0].startTime`)),
    );
    await page.goto('about:blank');
  }
  expect(paints.sort((a, b) => a - b)[0]).toBeLessThan(300);
  let bytes = 0;
  for (const url of new Set(loaded)) bytes += await gzippedSize(url);
  expect(bytes).toBeLessThan(60_000);
  expect(loaded.join()).not.toMatch(/verifier|layout/);
  await context.close();
});

async function gzippedSize(url: string): Promise<number> {
  const { body } = await fetch(url);
  const bytes = await new Response(body!.pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
  return bytes.byteLength;
}

describe('a ledger that is fresh from a snapshot', () => {
  let current: Visit;
  let page: Page;

  beforeAll(async () => {
    current = await visit(browser, await worker.startFresh(), 'desktop');
    page = current.page;
  }, 60_000);
  afterAll(() => current.end());

  it('stays neutral everywhere', async () => {
    await textOf(page, '.home').toMatch(/This node starts at a snapshot: there is no milestone/);
    for (const fragment of ['/milestone/17338', '/verify']) {
      await current.open(fragment);
      if (fragment === '/verify') await page.getByRole('button', { name: 'Verify' }).click();
      await textOf(page, 'main').toMatch(/nothing to check here yet/);
      expect(await page.locator('.bad, .good').count()).toBe(0);
    }
    await current.open('/proposal');
    await page.getByRole('button', { name: /^Propose milestone/ }).click();
    await textOf(page, 'main').toMatch(/This node has no tips/);
    expect(await page.locator('.bad').count()).toBe(0);
    expect(current.faults).toEqual([]);
  });
});

it('tells live how blocks come in, as far as the node does', async () => {
  const { page, end, faults } = await visit(browser, worker.url, 'phone');
  await textOf(page, '#node-state').toMatch(/^Version \d.* Keeps milestones from 17,338 on\.$/);
  let headers: Record<string, string> = { 'x-blocks-by': 'feed', 'x-newest-block-age': '2' };
  await page.route('**/api/core/v2/info', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), ...headers } });
  });
  await textOf(page, '#node-state').toContain('Blocks come by feed, the newest 2 seconds ago.');
  headers = { 'x-blocks-by': 'polling', 'x-newest-block-age': '75' };
  await textOf(page, '#node-state').toContain('by polling, the newest 1 minute ago.');
  headers = { 'x-blocks-by': 'polling' };
  await textOf(page, '#node-state').toMatch(/Blocks come by polling\.$/);
  // an answer that fails leaves what was read on show
  await page.unroute('**/api/core/v2/info');
  await page.route('**/api/core/v2/info', (route) => route.abort());
  await textOf(page, '#ledger-state').toBe(
    'shimmer · ledger 17,339 · the node does not answer now',
  );
  expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
  await end();
});

it('says so where there is no ledger', async () => {
  const { page, end } = await visit(browser, await worker.startEmpty(), 'phone');
  await textOf(page, 'main').toMatch(/No ledger to look into.*The node answered 500/s);
  await end();
});

it('reads the state of the ledger while somebody looks, and no more once it is over', async () => {
  const { page, end } = await visit(browser, worker.url, 'phone');
  await textOf(page, '#ledger-state').toContain('17,339');
  let asked = 0;
  await page.route('**/api/core/v2/info', async (route) => {
    asked++;
    const info = await (await route.fetch()).json();
    await route.fulfill({ json: { ...info, features: ['finalMilestone'] } });
  });
  const hide = (hidden: boolean) =>
    page.evaluate(`void Object.defineProperty(document, 'hidden',
      { configurable: true, value: ${hidden} })`);
  await hide(true);
  await page.waitForTimeout(6_000);
  expect(asked).toBe(0);
  await hide(false);
  await textOf(page, '#ledger-state').toMatch(/final: the network ended here$/);
  await page.waitForTimeout(6_000);
  expect(asked).toBe(1);
  await end();
});
