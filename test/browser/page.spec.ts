/**
 * The page at `/` as people meet it, over the built Worker with the sample: in Chromium, on a phone
 * and on a desktop, and each of its forms in Firefox.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWhiteFlag } from '../../scripts/start/sample.ts';
import { launchChromium } from '../support/browser/chromium.ts';
import { launchFirefox } from '../support/browser/firefox.ts';
import { SAMPLE_ISSUER as ISSUER } from '../support/browser/sample-facts.ts';
import {
  faintTexts,
  keepPicture,
  type Screen,
  type Visit,
  visit,
} from '../support/browser/visit.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';

const UNKNOWN = `0x${'5a'.repeat(32)}`;

let browser: Browser;
let worker: SampleWorker;

beforeAll(async () => {
  browser = await launchChromium();
  worker = await serveSample();
}, 180_000);
afterAll(() => Promise.all([browser?.close(), worker?.stop()]));

const textOf = (page: Page, selector: string) =>
  expect.poll(() => page.locator(selector).textContent());

describe.each<Screen>(['phone', 'desktop'])('on a %s', (screen) => {
  let current: Visit;
  let page: Page;

  beforeAll(async () => {
    current = await visit(browser, worker.url, screen);
    page = current.page;
  });
  afterAll(() => current.end());

  it('shows the state of the ledger', async () => {
    await textOf(page, '#ledger').toMatch(
      /^NetworkshimmerLedger index17339Time2022-09-28 17:25:01 UTC/,
    );
    await textOf(page, '#health').toMatch(/^not current: the last milestone is \d+ years old$/);
    await keepPicture(page, screen);
  });

  it('finds an NFT, and leads to its output', async () => {
    const { nftId, outputId } = worker.nft;
    await page.getByLabel('NFT ID').fill(` ${nftId} `);
    await page.getByRole('button', { name: 'Look up' }).click();
    await textOf(page, '#nft-answer').toMatch(/^HTTP 200 · at ledger index 17339\n/);
    await textOf(page, '#nft-answer').toContain(`"${outputId}"`);
    const href = await page.getByRole('link', { name: 'Read the output' }).getAttribute('href');
    expect((await page.request.get(worker.url + href)).status()).toBe(200);
  });

  it('shows whose it is, and its metadata', async () => {
    const facts = page.locator('#nft-facts');
    await textOf(page, '#nft-facts').toMatch(/^Owner at ledger index 17339smr1[0-9a-z]{59}Name/);
    const terms = await facts.locator('dt').allTextContents();
    expect(terms.slice(1)).toEqual([
      'Name',
      'Collection',
      'Issuer',
      'Type',
      'URI',
      'Description',
      'Attributes',
      'Royalties',
    ]);
    await textOf(page, '#nft-facts').toMatch(/NameSoonanaut #\d+CollectionSoonanaut NFT \(NF3\)/);
  });

  it('lists the NFTs of an issuer page by page', async () => {
    await page.getByLabel('The address is the').selectOption('issuer');
    await page.getByLabel('Address, bech32').fill(` ${ISSUER} `);
    await page.getByRole('button', { name: 'List' }).click();
    const outputs: string[] = [];
    for (const shown of ['1 to 10', '11 to 20', '21 to 22']) {
      await textOf(page, '#list-answer').toBe(`${shown} at ledger index 17339`);
      const links = page.locator('#list-items').getByRole('link');
      for (const link of await links.all())
        outputs.push((await link.getAttribute('href'))!.replace('/api/core/v2/outputs/', ''));
      const next = page.getByRole('button', { name: 'Next page' });
      expect(await next.isVisible()).toBe(shown !== '21 to 22');
      if (await next.isVisible()) await next.click();
    }
    const { items } = await (
      await page.request.get(`${worker.url}/api/indexer/v1/outputs/nft?issuer=${ISSUER}`)
    ).json();
    expect(outputs).toEqual(items);
  });

  it('computes the roots of an applied milestone again, and compares them with the signed ones', async () => {
    await page.getByRole('button', { name: 'Fill in' }).click();
    await expect.poll(() => page.getByLabel('Request').inputValue()).toContain('"index": 17339');
    await page.getByRole('button', { name: 'Compute' }).click();
    await textOf(page, '#flag-verdict').toBe(
      'Both roots are the ones that the coordinator signed.',
    );
    await textOf(page, '#flag-answer').toMatch(/^HTTP 200 · at ledger index 17338\n/);
  });

  it('computes the roots of the next milestone', async () => {
    const { request, expected } = readWhiteFlag();
    await page.getByLabel('Request').fill(JSON.stringify(request));
    await page.getByRole('button', { name: 'Compute' }).click();
    await textOf(page, '#flag-answer').toMatch(/^HTTP 200 · at ledger index 17339\n/);
    await textOf(page, '#flag-answer').toContain(JSON.stringify(expected, undefined, 2));
    await textOf(page, '#flag-verdict').toBe('');
  });

  it('explains a milestone, and leads to a proof of each block', async () => {
    await page.getByRole('button', { name: 'Explain' }).click();
    await textOf(page, '#explain-answer').toMatch(
      /Blocks: 38\. Transactions applied: 5, in conflict: 0\.$/,
    );
    const rows = page.locator('#blocks tbody tr');
    expect(await rows.count()).toBe(38);
    const cells = await rows.nth(3).locator('td').allTextContents();
    expect(cells).toEqual(['3', '0xf2174f3a…0f1d', 'transaction, applied']);
    const href = await rows.nth(3).getByRole('link').getAttribute('href');
    const proof = await page.request.get(worker.url + href);
    expect(Object.keys(await proof.json())).toEqual([
      'milestone',
      'block',
      'proof',
      'appliedProof',
    ]);
  });

  it('is never wider than the screen', async () => {
    await keepPicture(page, `${screen}-used`);
    expect(await current.overhang()).toBe(0);
  });

  it('does all that without an error in the console, and asks nobody else', () => {
    expect(current.faults).toEqual([]);
  });

  it('says what is not found, not valid, or not known', async () => {
    await page.getByLabel('NFT ID').fill(UNKNOWN);
    await page.getByLabel('NFT ID').press('Enter');
    await textOf(page, '#nft-answer').toContain(
      'HTTP 404 · at ledger index 17339 · no unspent output with this NFT ID at ledger index 17339',
    );
    expect(await page.getByRole('link', { name: 'Read the output' }).count()).toBe(0);
    await page.getByLabel('NFT ID').fill('0x00');
    await page.getByLabel('NFT ID').press('Enter');
    await textOf(page, '#nft-answer').toMatch(/^HTTP 400 · .*"invalid data provided"/s);
    expect(await page.locator('#nft-facts').textContent()).toBe('');
    await page.getByLabel('Address, bech32').fill('smr1');
    await page.getByLabel('Address, bech32').press('Enter');
    await textOf(page, '#list-answer').toMatch(/^HTTP 400 · issuer: no bech32 address/);
    expect(await page.locator('#list-items').isVisible()).toBe(false);
    await page.getByLabel('Milestone index').fill('99999');
    await page.getByLabel('Milestone index').press('Enter');
    await textOf(page, '#explain-answer').toMatch(
      /^HTTP 404 · this milestone was not applied here/,
    );
    expect(await page.locator('#blocks').isVisible()).toBe(false);
    await page.getByLabel('Request').fill('{');
    await page.getByRole('button', { name: 'Compute' }).click();
    await textOf(page, '#flag-answer').toMatch(/^HTTP 400 · the body is not JSON/);
    expect(await current.overhang()).toBe(0);
  });
});

it('tells live how blocks come in, as far as the node does', async () => {
  const { page, end, faults } = await visit(browser, worker.url, 'phone');
  await textOf(page, '#ledger').toContain('17339');
  expect(await page.locator('#blocks-by').count()).toBe(0);
  let headers: Record<string, string> = { 'x-blocks-by': 'feed', 'x-newest-block-age': '2' };
  await page.route('**/api/core/v2/info', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), ...headers } });
  });
  await textOf(page, '#blocks-by').toBe('by feed, the newest 2 seconds ago');
  const [milestone] = await page.getByText(/^0x/).elementHandles();
  headers = { 'x-blocks-by': 'polling', 'x-newest-block-age': '75' };
  await textOf(page, '#blocks-by').toBe('by polling, the newest 1 minute ago');
  headers = { 'x-blocks-by': 'polling' };
  await textOf(page, '#blocks-by').toBe('by polling');
  // what did not change stays as it is, selected or not
  expect(await milestone!.evaluate((element) => element.isConnected)).toBe(true);
  headers = {};
  await expect.poll(() => page.locator('#blocks-by').count()).toBe(0);
  await page.unroute('**/api/core/v2/info');
  await page.route('**/api/core/v2/info', (route) => route.abort());
  await textOf(page, '#ledger').toMatch(/^State/);
  await page.unroute('**/api/core/v2/info');
  await textOf(page, '#ledger').toMatch(/^NetworkshimmerLedger index17339/);
  expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
  await end();
});

it('asks about the ledger while somebody looks, and no more once it is over', async () => {
  const { page, end } = await visit(browser, worker.url, 'phone');
  await textOf(page, '#ledger').toContain('17339');
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
  await textOf(page, '#health').toBe('final: the network ended with this milestone');
  await page.waitForTimeout(6_000);
  expect(asked).toBe(1);
  await end();
});

describe.each(['light', 'dark'] as const)('in %s colours', (scheme) => {
  it('can be read: every text has the contrast that WCAG asks for', async () => {
    const { page, end } = await visit(browser, worker.url, 'desktop', scheme);
    await textOf(page, '#ledger').toContain('17339');
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(scheme === 'light' ? 'rgb(244, 246, 249)' : 'rgb(16, 20, 26)');
    await page.getByLabel('NFT ID').fill(worker.nft.nftId);
    for (const name of ['Look up', 'Fill in', 'Explain'])
      await page.getByRole('button', { name }).click();
    await expect.poll(() => page.getByLabel('Request').inputValue()).toContain('17339');
    await page.getByRole('button', { name: 'Compute' }).click();
    await textOf(page, '#flag-verdict').toContain('Both roots');
    await page.locator('#blocks').waitFor();
    await keepPicture(page, scheme);
    expect(await faintTexts(page)).toEqual([]);
    await end();
  });
});

it('says in words why a transaction was not applied', async () => {
  const { page, overhang, end } = await visit(browser, worker.url, 'phone');
  const explanation = 'the sum of the inputs and outputs base token amount does not match';
  const block = {
    blockId: UNKNOWN,
    whiteFlagIndex: 0,
    payload: 'transaction',
    ledgerInclusionState: 'conflicting',
  };
  const milestone = {
    milestoneId: UNKNOWN,
    timestamp: 0,
    blocks: [{ ...block, conflictReason: 4, explanation }],
  };
  await page.route('**/api/edge/v1/whiteflag/*', (route) => route.fulfill({ json: milestone }));
  await textOf(page, '#ledger').toContain('17339');
  await page.getByRole('button', { name: 'Explain' }).click();
  await textOf(page, '#blocks tbody').toContain(`transaction, conflict 4: ${explanation}`);
  await textOf(page, '#explain-answer').toContain(
    'Blocks: 1. Transactions applied: 0, in conflict: 1.',
  );
  await keepPicture(page, 'conflict');
  expect(await overhang()).toBe(0);
  await end();
});

it('shows metadata as text, whatever it is', async () => {
  const { page, overhang, faults, end } = await visit(browser, worker.url, 'phone');
  const path = `${worker.url}/api/edge/v1/nfts/${worker.nft.nftId}`;
  const nft = await (await page.request.get(path)).json();
  const show = async (metadata: string) => {
    const data = `0x${Buffer.from(metadata).toString('hex')}`;
    const output = { ...nft.output, immutableFeatures: [{ type: 2, data }] };
    const passesTo = { address: ISSUER, unixTime: 0 };
    const owner = { ...nft.owner, canUnlock: false, timelockedUntil: 1, passesTo };
    await page.unroute('**/api/edge/v1/nfts/*');
    await page.route('**/api/edge/v1/nfts/*', (route) =>
      route.fulfill({ json: { ...nft, owner, output } }),
    );
    await page.getByLabel('NFT ID').fill(worker.nft.nftId);
    await page.getByLabel('NFT ID').press('Enter');
  };
  const markup = '<img src="https://elsewhere.example/x.png" onerror="document.title = 1">';
  const uri = 'https://elsewhere.example/nft.png';
  await show(JSON.stringify({ standard: 'IRC27', name: markup, uri, royalties: { a: [markup] } }));
  await textOf(page, '#nft-facts').toContain(`Name${markup}URI${uri}Royalties{"a":`);
  await textOf(page, '#nft-facts').toContain('Timelocked until1970-01-01 00:00:01 UTC');
  await textOf(page, '#nft-facts').toContain(`Passes on1970-01-01 00:00:00 UTC, to ${ISSUER}`);
  for (const other of [markup, 'null', '[{"standard":"IRC27"}]', '{"standard":"IRC28"}']) {
    await show(other);
    await textOf(page, '#nft-facts').toMatch(/Metadata/);
    expect(await page.locator('#nft-facts dd').last().textContent()).toBe(other);
  }
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.title()).toBe('Stardust edge node');
  expect(await overhang()).toBe(0);
  expect(faults).toEqual([]);
  await end();
});

it('says so where there is no ledger', async () => {
  const { page, end, faults } = await visit(browser, await worker.startEmpty(), 'phone');
  await textOf(page, '#ledger').toMatch(/^StateHTTP 500/);
  expect(faults.filter((fault) => !fault.includes('status of 500'))).toEqual([]);
  await end();
});

it('works in Firefox', async () => {
  const firefox = await launchFirefox();
  try {
    const page = await firefox.newPage();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(String(error)));
    await page.goto(`${worker.url}/`);
    const read = (selector: string) =>
      expect.poll(() => page.evaluate(`document.querySelector('${selector}').textContent`));
    const press = (name: string) => page.locator(`button ::-p-text(${name})`).click();
    await read('#ledger').toContain('17339');
    await page.locator('#nft-id').fill(worker.nft.nftId);
    await press('Look up');
    await read('#nft-answer').toContain(`"${worker.nft.outputId}"`);
    await press('Fill in');
    await expect
      .poll(() => page.evaluate(`document.querySelector('#flag-body').value`))
      .toContain('"index": 17339');
    await press('Compute');
    await read('#flag-verdict').toBe('Both roots are the ones that the coordinator signed.');
    await press('Explain');
    await read('#explain-answer').toContain('Blocks: 38.');
    expect(faults).toEqual([]);
  } finally {
    await firefox.close();
  }
});
