/**
 * The Worker's own entrypoint with the bindings of wrangler.toml, before anything was imported; and
 * the page that it carries.
 */

import { exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  checkRow,
  expectError,
  type Fetch,
  nftRows,
  WHITE_FLAG,
  whiteFlagRows,
} from '../support/http/contract.ts';
import { hasRoute } from '../support/http/has-route.ts';
import { facts } from '../support/http/stub-node.ts';

const fetch: Fetch = (path, init) => exports.default.fetch(`http://no-ledger.example${path}`, init);

describe('without a ledger', () => {
  const needsNoLedger = [...nftRows(facts), ...whiteFlagRows(facts)].filter(
    ({ status, path, init }) =>
      [400, 405].includes(status) && !(path === WHITE_FLAG && init?.method === 'POST'),
  );
  it.each(needsNoLedger)('$name', (row) => checkRow(fetch, row));
});

describe.runIf(hasRoute('/openapi.json'))('static files', () => {
  it('the page may load nothing from elsewhere but pictures, and runs no script of its text', async () => {
    const response = await fetch('/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toContain('unsafe');
    const page = await response.text();
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).toContain('content="http://no-ledger.example/explorer/card.jpg"');
    expect(page).not.toContain('origin.invalid');
  });

  it.each([
    ['/explorer/app.js', 'text/javascript; charset=utf-8', /noscript|hashchange/],
    ['/explorer/style.css', 'text/css; charset=utf-8', /--accent/],
    ['/explorer/icon.svg', 'image/svg+xml', /^<svg/],
    ['/robots.txt', 'text/plain; charset=utf-8', /^User-agent: \*\nDisallow: \/api\/$/m],
    ['/favicon.ico', 'image/vnd.microsoft.icon', /PNG/],
    ['/openapi.json', 'application/json', /^\{"openapi":"3\.1\.0",/],
  ])('%s is there, with its type', async (path, type, content) => {
    const response = await fetch(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(await response.text()).toMatch(content);
  });

  it('may be kept, and asked for again by their tag', async () => {
    for (const path of ['/', '/explorer/app.js']) {
      const { headers, body } = await fetch(path);
      await body?.cancel();
      expect(headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
      const again = await fetch(path, { headers: { 'if-none-match': headers.get('etag')! } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
  });

  it.each(['/', '/explorer/app.js', '/openapi.json'])('%s: HEAD and OPTIONS', async (path) => {
    const head = await fetch(path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(path, { method: 'OPTIONS' })).status).toBe(204);
    await expectError(fetch, path, 405, { method: 'POST' });
  });

  it('have one spelling of their paths, and no others are served', async () => {
    expect((await fetch('/?from=search')).status).toBe(200);
    for (const path of [
      '//',
      '/index.html',
      '/explorer',
      '/explorer/',
      '/explorer/no.js',
      '/worker.js',
    ])
      await expectError(fetch, path, 404);
  });
});
