/** Who may ask (docs/contract.md#who-may-ask): passwords, tokens, and what caches may keep. */

import { describe, expect, it } from 'vitest';
import type { Route } from '../../../src/http/route.ts';
import { listRoutes } from '../../../src/http/routes.ts';
import { MODULES } from '../../../src/modules/list.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';
import { expectError, NFT, post, WHITE_FLAG } from '../../support/http/contract.ts';
import { facts, fetchFrom } from '../../support/http/stub-node.ts';

const BOTH = 'Basic realm="stardust-edge-node", charset="UTF-8", Bearer realm="stardust-edge-node"';

const settings = {
  publicRoutes: ['/health', '/api/core/v2/*', '/api/indexer/*'],
  protectedRoutes: ['*/whiteflag', '/api/indexer/v1/*'],
  apiUser: { name: 'coordinator', password: 'pässword:with colon' },
  apiToken: 'eyJhbGciOiJIUzI1NiJ9.e30.abc_-~+/==',
};
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const right = basic('coordinator:pässword:with colon');
const good = JSON.stringify(facts.whiteFlag);
const nftPath = NFT + facts.nftId;

function asking(authorization: string | undefined, init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers);
  if (authorization !== undefined) headers.set('authorization', authorization);
  return { ...init, headers };
}

describe('404, 403, 401, 405, in that order', () => {
  const fetch = fetchFrom({ settings });
  it.each<[name: string, status: number, path: string, init?: RequestInit]>([
    ['no such path', 404, '/api/core/v2/nothing'],
    ['a slash after it', 404, `${WHITE_FLAG}/`, asking(undefined, post(good))],
    ['no NFT ID', 404, NFT],
    ['not public, whatever is sent', 403, '/metrics', asking(right)],
    ['not public, another method', 403, '/metrics', post('{}')],
    ['no password', 401, WHITE_FLAG, post(good)],
    ['another method', 401, WHITE_FLAG],
    ['a body that can never be right', 401, WHITE_FLAG, post('nonsense')],
    ['an NFT', 401, nftPath],
    ['an ID in upper case', 401, nftPath.toUpperCase().replace(NFT.toUpperCase(), NFT)],
    ['no ID', 401, `${NFT}%30x`],
    ['the password, another method', 405, WHITE_FLAG, asking(right)],
    ['the password, no ID', 400, `${NFT}0x`, asking(right)],
  ])('%s: %i', (_, status, path, init) => {
    const asks = { 401: { 'www-authenticate': BOTH }, 405: { allow: 'POST, OPTIONS' } };
    return expectError(fetch, path, status, init, asks[status as 401]);
  });

  it('the password: 200', async () => {
    const answer = await fetch(WHITE_FLAG, asking(right, post(good)));
    expect([answer.status, await answer.json()]).toEqual([200, facts.roots]);
  });

  it('other routes ask for nothing, and preflights pass', async () => {
    expect((await fetch('/health')).headers.get('www-authenticate')).toBeNull();
    expect((await fetch('/api/core/v2/info')).status).toBe(200);
    const preflight = await fetch(WHITE_FLAG, {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'authorization' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
  });

  it('the rate limit counts only who may ask', async () => {
    let counted = 0;
    const limit = async () => ({ success: ++counted < 0 });
    const limited = fetchFrom({ settings: { ...settings, whiteFlagLimit: { limit } } });
    expect((await limited(WHITE_FLAG, post(good))).status).toBe(401);
    expect(counted).toBe(0);
    expect((await limited(WHITE_FLAG, asking(right, post(good)))).status).toBe(429);
  });
});

describe('passwords and tokens', () => {
  const fetch = fetchFrom({ settings });

  it.each([
    ['the password', right],
    ['the scheme in any case, spaces', right.replace('Basic ', 'bASIC   ')],
    ['the token', `Bearer ${settings.apiToken}`],
    ['the token, the scheme in lower case', `bearer ${settings.apiToken}`],
  ])('%s is let in', async (_, authorization) => {
    expect((await fetch(nftPath, asking(authorization))).status).toBe(200);
  });

  it.each([
    ['another password', basic('coordinator:password')],
    ['a shorter one', basic('coordinator:pässword:with colo')],
    ['a longer one', basic('coordinator:pässword:with colonn')],
    ['another case', basic('coordinator:Pässword:with colon')],
    ['another user', basic('coordinato:pässword:with colon')],
    ['the colon elsewhere', basic('coordinator:pässword:with colon:')],
    ['no user', basic(':pässword:with colon')],
    ['nothing', 'Basic'],
    ['empty', ''],
    ['the password as a token', right.replace('Basic', 'Bearer')],
    ['the token as a password', `Basic ${settings.apiToken}`],
    ['the password as it is', 'Basic coordinator:pässword:with colon'.replace('ä', 'a')],
    ['another token', `Bearer ${settings.apiToken}=`],
    ['no scheme', settings.apiToken],
    ['another scheme', `Digest ${settings.apiToken}`],
    ['two at once', `${right}, Bearer ${settings.apiToken}`],
    ['the empty token', 'Bearer ='],
  ])('%s is not', async (_, authorization) => {
    await expectError(fetch, nftPath, 401, asking(authorization));
  });

  it('only what is set lets in, and only that is named', async () => {
    const token = fetchFrom({ settings: { ...settings, apiUser: undefined } });
    const refused = await token(nftPath, asking(right));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="stardust-edge-node"',
    ]);
    expect((await token(nftPath, asking(`Bearer ${settings.apiToken}`))).status).toBe(200);
    const user = fetchFrom({ settings: { ...settings, apiToken: undefined } });
    expect((await user(nftPath, asking('Bearer undefined'))).status).toBe(401);
    expect((await user(nftPath, asking(right))).status).toBe(200);
  });
});

describe('every route', () => {
  const EXAMPLES: Record<string, string> = { milestoneIndex: '7', migratedAt: '7' };
  const pathOf = ({ path }: Route) =>
    path.replaceAll(/:(\w+)/g, (_, name: string) => EXAMPLES[name] ?? facts.nftId);
  const routes = Object.values(listRoutes(MODULES));
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'];
  const asked: string[] = [];
  const node = new Proxy({} as Partial<EdgeNode>, {
    get(_, name) {
      asked.push(String(name));
      return undefined;
    },
  });
  const everything = { ...settings, publicRoutes: ['*', '/metrics'], protectedRoutes: ['*'] };
  const fetch = fetchFrom({ node, settings: everything });

  it.each(routes)('$method $path is 401 by any method, then 405', async (route) => {
    const path = pathOf(route);
    for (const method of methods) {
      const own = method === route.method || (method === 'HEAD' && route.method === 'GET');
      const body = own && method === 'POST' ? { body: 'nonsense' } : {};
      for (const wrong of [undefined, basic('coordinator:')]) {
        const refused = await fetch(path, asking(wrong, { method, ...body }));
        expect([method, refused.status, refused.headers.get('cache-control')]).toEqual([
          method,
          401,
          'private, no-store',
        ]);
        expect(refused.headers.get('www-authenticate')).toBe(BOTH);
        if (method === 'HEAD') expect(await refused.text()).toBe('');
      }
      expect(asked).toEqual([]);
      const answer = await fetch(path, asking(right, { method, ...body }));
      expect([method, answer.status === 405]).toEqual([method, !own]);
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
      asked.length = 0;
    }
    expect((await fetch(path, { method: 'OPTIONS' })).status).toBe(204);
    const closed = fetchFrom({ node, settings: { ...everything, publicRoutes: ['/nothing'] } });
    expect((await closed(path, asking(right, { method: route.method }))).status).toBe(403);
  });

  it.each([
    '/api/core/v2/%77hiteflag',
    '/api/core/v2/whiteflag%20',
    '/api/core/v2/whiteflag%00',
    '/api/core/v2/whiteflag%2f',
    '/api/core/v2/whiteflag/',
    '/api/core/v2//whiteflag',
    '//api/core/v2/whiteflag',
    '/API/core/v2/whiteflag',
    '/api/core/v2/WhiteFlag',
    '/api/core/v2/whiteflag;a=b',
    '/api/core/v2/%2e%2e/v2/whiteflag/x',
    '/api/core/v2/wh\u0131teflag',
    '/%61pi/indexer/v1/outputs/nft/0x00',
  ])('another spelling, %s, is no route: nothing is asked', async (path) => {
    const some = fetchFrom({ node, settings: { ...settings, publicRoutes: [] } });
    for (const method of ['GET', 'POST'])
      expect([path, (await some(path, { method })).status]).toEqual([path, 404]);
    expect(asked).toEqual([]);
  });

  it.each([
    '/api/core/v2/./whiteflag',
    '/api/core/v2/x/../whiteflag',
    '/api/core/v2/x/%2e%2e/whiteflag',
    '/api\\core/v2/whiteflag',
    '/api/core/v2/white\tflag',
    '/api/core/v2/whiteflag?a=/health',
    '/api/core/v2/whiteflag#/health',
  ])('a URL that is the same path, %s, asks for the password', async (path) => {
    const some = fetchFrom({ node, settings: { ...settings, publicRoutes: [] } });
    expect((await some(path, post(good))).status).toBe(401);
    expect((await some(path, asking(right, post(good)))).status).toBe(200);
    asked.length = 0;
  });

  it('views of the page may be protected, though the page is not', async () => {
    const ofViews = { ...settings, publicRoutes: [], protectedRoutes: ['/milestone/*'] };
    const views = fetchFrom({ settings: ofViews });
    const statuses = ['/', '/milestone/17'].map(async (path) => (await views(path)).status);
    expect(await Promise.all(statuses)).toEqual([200, 401]);
  });

  it('one NFT may be protected, in any spelling of its ID', async () => {
    const pattern = `${NFT}0x${facts.nftId.slice(2, 8)}*`;
    const one = fetchFrom({ settings: { ...settings, protectedRoutes: [pattern] } });
    for (const id of [facts.nftId, facts.nftId.toUpperCase(), facts.nftId.replace('0x', '0X')])
      expect([id, (await one(NFT + id)).status]).toEqual([id, 401]);
    expect((await one(`${NFT}0x${'99'.repeat(32)}`)).status).toBe(404);
    expect((await one(`${NFT}%30${facts.nftId.slice(1)}`)).status).toBe(400);
  });
});

describe('passwords that are not plain', () => {
  it.each([
    ['umlauts and a euro', 'pässwörd €'],
    ['beyond the basic plane', '🔑🗝'],
    ['a combining accent', 'e\u0301'],
    ['spaces around', '  a b  '],
    ['one of a base64 that ends in ==', 'a'],
    ['long', 'x'.repeat(4096)],
  ])('%s', async (_, password) => {
    const apiUser = { name: 'köordinator', password };
    const fetch = fetchFrom({ settings: { ...settings, apiUser } });
    const own = basic(`köordinator:${password}`);
    expect((await fetch(nftPath, asking(own))).status).toBe(200);
    for (const other of [
      basic(`köordinator:${password}\0`),
      basic(`köordinator:${password.slice(0, -1)}`),
      basic(`koordinator:${password}`),
      basic(`köordinator: ${password}`),
      // Latin-1, as clients sent it before RFC 7617
      `Basic ${Buffer.from(`köordinator:${password}`, 'latin1').toString('base64')}`,
      own.replace(/.$/, ''),
      `${own}=`,
      `Basic ${own}`,
      own.replace(' ', '\t'),
      own.replace('Basic ', 'Basic'),
      own.replace('Basic ', 'Basic credentials='),
      `Bearer ${password}`,
    ]) {
      const headers = new Headers();
      try {
        headers.set('authorization', other);
      } catch {
        continue; // no header has such a value
      }
      expect([other, (await fetch(nftPath, { headers })).status]).toEqual([other, 401]);
    }
  });

  it('two headers, each of them right, are not one', async () => {
    const fetch = fetchFrom({ settings });
    const headers = new Headers({ authorization: right });
    headers.append('authorization', right);
    expect((await fetch(nftPath, { headers })).status).toBe(401);
  });
});

describe('1,000 wrong passwords', () => {
  it('do not ask the node', async () => {
    const asked: string[] = [];
    const node = new Proxy({} as Partial<EdgeNode>, {
      get: (_, name) => () => {
        asked.push(String(name));
        throw new Error('asked');
      },
    });
    const fetch = fetchFrom({ settings: { ...settings, protectedRoutes: ['*'] }, node });
    for (let i = 0; i < 250; i++) {
      const wrong = basic(`coordinator:${i}`);
      for (const [path, init] of [
        [WHITE_FLAG, post(good)],
        [nftPath, {}],
        ['/api/core/v2/info', {}],
        ['/health', {}],
      ] as const) {
        const { status } = await fetch(path, asking(wrong, init));
        expect(status).toBe(401);
      }
    }
    expect(asked).toEqual([]);
    await fetch('/api/core/v2/info', asking(right));
    expect(asked).toEqual(['readStatus']);
  });
});

describe('caches', () => {
  it('keep no answer of a protected route, whatever it is', async () => {
    const fetch = fetchFrom({ settings });
    const etag = (await fetch(nftPath, asking(right))).headers.get('etag')!;
    const answers = await Promise.all([
      fetch(nftPath),
      fetch(nftPath, asking(right)),
      fetch(nftPath, asking(right, { headers: { 'if-none-match': etag } })),
      fetch(`${NFT}0x${'00'.repeat(32)}`, asking(right)),
      fetch(`${NFT}0x`, asking(right)),
      fetch(WHITE_FLAG, post(good)),
      fetch(WHITE_FLAG, asking(right, post(good))),
      fetch(WHITE_FLAG, asking(right)),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual(
      [401, 200, 304, 404, 400, 401, 200, 405].map((status) => [status, 'private, no-store']),
    );
    // what is no route, or not public, says nothing that needs protection
    expect((await fetch('/')).headers.get('cache-control')).toBe('no-store');
  });
});
