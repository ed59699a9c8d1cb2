/**
 * The Worker's own entrypoint with the bindings of wrangler.toml, before anything was imported; and
 * the page that it carries.
 */
import { exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  checkRow,
  type Fetch,
  nftRows,
  post,
  WHITE_FLAG,
  whiteFlagRows,
} from '../support/http/contract.ts';
import { facts } from '../support/http/stub-node.ts';

const fetch: Fetch = (path, init) => exports.default.fetch(`http://no-ledger.example${path}`, init);

describe('without a ledger', () => {
  it('is not healthy, and says why', async () => {
    const response = await fetch('/health');
    expect([response.status, await response.text()]).toEqual([503, '']);
    expect(response.headers.get('x-error-detail')).toBe('no ledger was imported yet');
  });

  const found = nftRows(facts).find(({ status }) => status === 200)!;
  it.each([found.path, '/api/core/v2/info'])('cannot answer %s at any ledger index', (path) =>
    checkRow(fetch, { name: '', path, status: 500 }),
  );

  it('does not know the state that a white flag asks for', () =>
    checkRow(fetch, {
      name: '',
      path: WHITE_FLAG,
      init: post(JSON.stringify(facts.whiteFlag)),
      status: 404,
    }));

  const needsNoLedger = [...nftRows(facts), ...whiteFlagRows(facts)].filter(
    ({ status, path, init }) =>
      [400, 405].includes(status) && !(path === WHITE_FLAG && init?.method === 'POST'),
  );
  it.each(needsNoLedger)('$name', (row) => checkRow(fetch, row));
});

describe('the page', () => {
  it('is HTML that may load nothing from elsewhere', async () => {
    const response = await fetch('/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    const page = await response.text();
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).not.toContain('innerHTML');
  });

  it('gets a script of its own, and may', async () => {
    const policy = (await fetch('/')).headers.get('content-security-policy');
    expect(policy).toContain("script-src 'unsafe-inline' 'self';");
    const response = await fetch('/verifier.js');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await response.text()).toMatch(/export\{.* as verifyHere\}/);
  });

  it('has one spelling of its path', async () => {
    expect((await fetch('/?from=search')).status).toBe(200);
    await checkRow(fetch, { name: '', path: '//', status: 404 });
    await checkRow(fetch, { name: '', path: '/index.html', status: 404 });
  });
});
