/**
 * Static files (`[assets]` of wrangler.toml): the explorer at `/` and at its views' paths, and
 * openapi.json. They are no part of the Worker's script, but requests for them pass through it, so
 * that docs/contract.md#who-may-ask holds for them too.
 */
import * as v from 'valibot';
import type { Answer } from '../../http/answer.ts';
import { HttpError } from '../../http/errors.ts';
import { hashText, revalidate } from '../../http/ledger-answer.ts';
import { inPath, type Operation, type Operations } from '../../http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../http/route.ts';
import type { Module } from '../module.ts';

const assetRoutes = {
  describeApi: { method: 'GET', path: '/openapi.json', keep: 'second', handle: answerStaticFile },
  showPage: { method: 'GET', path: '/', keep: 'second', handle: answerPage },
  readRobots: { method: 'GET', path: '/robots.txt', keep: 'second', handle: answerStaticFile },
  readIcon: { method: 'GET', path: '/favicon.ico', keep: 'second', handle: answerStaticFile },
  readExplorerFile: {
    method: 'GET',
    path: '/explorer/:file',
    keep: 'second',
    handle: answerStaticFile,
  },
} satisfies RouteTable;

export const page: Module = {
  name: 'page',
  routes: assetRoutes,
  page: { route: assetRoutes.showPage, isWanted: isPageWanted },
};

type AssetContext = Pick<RouteContext, 'request' | 'settings'>;

/** The explorer's own files, requests to this node, and pictures of NFTs. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "img-src 'self' https:",
  'media-src https:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Placeholder of the origin in index.html: cards of social networks need whole URLs. */
const ORIGIN_PLACEHOLDER = 'https://origin.invalid';

/** Views of the explorer that are paths (explorer/route.ts), and their IDs: nothing to escape. */
export const VIEW =
  /^\/(?:search|verify|statement|milestones|nfts|tokens|proposal|reference|(nft|alias|foundry|output|block|transaction|milestone|address|nfts|issuer|statement|reference)\/(\w{1,100}))$/;

function isPageWanted({ method, headers }: Request, path: string): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || /^\/api(?:\/|$)/.test(path)) return false;
  return VIEW.test(path) || headers.get('accept')?.includes('text/html') === true;
}

const TITLE = 'Stardust edge node';

/** The title of the page: of what it shows, as far as its path says. */
function titleOf(path: string): string {
  const [, kind, id] = VIEW.exec(path) ?? [];
  if (kind === undefined || id === undefined) return TITLE;
  const name = kind === 'nft' ? 'NFT' : kind.charAt(0).toUpperCase() + kind.slice(1);
  return `${name} ${id.length > 20 ? `${id.slice(0, 10)}…${id.slice(-6)}` : id} · ${TITLE}`;
}

async function answerPage({ request, settings }: AssetContext): Promise<Answer> {
  const { body, headers } = await readFile(new URL('/index.html', request.url), settings);
  const { origin, pathname } = new URL(request.url);
  const title = titleOf(pathname);
  return revalidate(request, {
    status: pathname === '/' || VIEW.test(pathname) ? 200 : 404,
    headers: {
      ...headers,
      // the file's tag is the same whatever is written into the page
      etag: `W/"${await hashText((headers.etag ?? '') + origin + title)}"`,
      'content-security-policy': PAGE_POLICY,
      'referrer-policy': 'no-referrer',
    },
    body: new TextDecoder()
      .decode(body)
      .replaceAll(ORIGIN_PLACEHOLDER, origin)
      .replaceAll(TITLE, title),
  });
}

/** The file with the request's path. */
async function answerStaticFile({ request, settings }: AssetContext): Promise<Answer> {
  return revalidate(request, await readFile(new URL(request.url), settings));
}

/** 200 with the platform's type, tag and word to caches. Throws an HttpError 404. */
async function readFile(
  url: URL,
  { staticFiles }: AssetContext['settings'],
): Promise<{ headers: Record<string, string>; body: Uint8Array }> {
  const response = await staticFiles.fetch(url.href);
  const { status } = response;
  if (status === 404) throw new HttpError(404, 'no such file');
  if (status !== 200) throw new Error(`static file ${url.pathname}: status ${status}`);
  const kept = ['content-type', 'etag', 'cache-control'].flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return {
    headers: Object.fromEntries(kept),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

export function describeAssets(): Operations<typeof assetRoutes> {
  const statuses = { 304: 'If-None-Match names the ETag of the file.' };
  const headers = { ETag: 'A tag of the file.' };
  const file = (summary: string, type: string): Operation => ({
    tag: 'node',
    summary,
    answer: { description: 'The file.', type, headers },
    statuses,
  });
  return {
    describeApi: {
      tag: 'node',
      summary: 'This description',
      answer: { description: 'OpenAPI 3.1.', schema: { type: 'object' }, headers },
      statuses,
    },
    showPage: {
      tag: 'node',
      summary: 'The explorer: a page for people',
      answer: {
        description: 'The page.',
        type: 'text/html',
        headers: {
          ...headers,
          'Content-Security-Policy': 'What the page may load.',
          'Referrer-Policy': 'Always `no-referrer`.',
        },
      },
      statuses,
    },
    readRobots: file('What crawlers may read: the pages, and not the API', 'text/plain'),
    readIcon: file('The icon of the explorer', 'image/vnd.microsoft.icon'),
    readExplorerFile: {
      ...file('A file of the explorer: a script, its style, a picture or the licences', '*/*'),
      parameters: [inPath('file', v.string(), 'As the page names it.')],
      errors: [404],
    },
  };
}
