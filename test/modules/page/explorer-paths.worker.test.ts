/** Links to views of the explorer are pages with a title of their own; so is what is missing, for people. */
import { exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { expectError, type Fetch } from '../../support/http/contract.ts';

const fetch: Fetch = (path, init) => exports.default.fetch(`http://node.example${path}`, init);

const ID = `0x${'5a'.repeat(32)}`;
const ADDRESS = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';
const HTML = { headers: { accept: 'text/html,application/xhtml+xml;q=0.9' } };

describe('a view of the explorer', () => {
  it.each([
    [`/nft/${ID}`, 'NFT 0x5a5a5a5a…5a5a5a · Stardust edge node'],
    [`/transaction/${ID}`, 'Transaction 0x5a5a5a5a…5a5a5a · Stardust edge node'],
    ['/milestone/17339', 'Milestone 17339 · Stardust edge node'],
    [`/address/${ADDRESS}`, 'Address smr1zq6yg8…tney6m · Stardust edge node'],
    ['/verify', 'Stardust edge node'],
    ['/search?q=1', 'Stardust edge node'],
  ])('%s has a title and a card, whoever asks', async (path, title) => {
    const response = await fetch(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toContain(`<title>${title}</title>`);
    expect(page).toContain(`<meta property="og:title" content="${title}">`);
    expect(page).toContain('content="http://node.example/explorer/card.jpg"');
  });

  it('has another tag than other views', async () => {
    const [a, b] = await Promise.all([fetch(`/nft/${ID}`), fetch('/')]);
    await Promise.all([a.text(), b.text()]);
    expect(a.headers.get('etag')).not.toBe(b.headers.get('etag'));
    const again = await fetch(`/nft/${ID}`, {
      headers: { 'if-none-match': a.headers.get('etag')! },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

describe('a path that is missing', () => {
  it.each(['/nothing', '/nft/a/b', '/nft/%3Cscript%3E', `/nft/${ID}/`, '/explorer/'])(
    '%s is a page for those who want one, and JSON for all others',
    async (path) => {
      const page = await fetch(path, HTML);
      expect(page.status).toBe(404);
      expect(await page.text()).toContain('<title>Stardust edge node</title>');
      await expectError(fetch, path, 404);
    },
  );

  it('is never an empty page: a condition is about what is there', async () => {
    const tag = (await fetch('/nothing', HTML)).headers.get('etag');
    for (const condition of ['*', tag!]) {
      const headers = { ...HTML.headers, 'if-none-match': condition };
      const page = await fetch('/nothing', { headers });
      expect([page.status, (await page.text()).length > 100]).toEqual([404, true]);
    }
  });

  it.each(['/api/nothing', '/api'])('%s is JSON for everybody', async (path) => {
    await expectError(fetch, path, 404, HTML);
  });

  it('is no page for what is sent', async () => {
    await expectError(fetch, '/nothing', 404, { ...HTML, method: 'POST' });
  });
});
