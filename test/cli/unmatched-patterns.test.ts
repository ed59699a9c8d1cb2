/** Patterns of PUBLIC_ROUTES and PROTECTED_ROUTES that match no route. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import {
  ACCESS_SETTINGS,
  findMisspelt,
  findUnmatched,
  readRoutePaths,
  VIEWS,
} from '../../cli/lib/unmatched-patterns.ts';
import { matchesAny } from '../../src/http/access/route-access.ts';
import { VIEW } from '../../src/modules/page/module.ts';

const PATHS = readRoutePaths(join(PROJECT, 'src/http/openapi/openapi.json'));
const NFT = `/api/indexer/v1/outputs/nft/0x${'ab'.repeat(32)}`;

it.each([
  '/',
  '*',
  '/metrics',
  '/API/CORE/*',
  '*/whiteflag*',
  '/explorer/*',
  '/explorer/a*.js',
  '*/metadata',
  NFT,
  `${NFT}*`,
  NFT.slice(0, -20).concat('*'),
  '/api/core/v2/milestones/by-index/1*/utxo-changes',
])('finds a route for %s, which lets requests through', (pattern) => {
  for (const name of ['PUBLIC_ROUTES', 'PROTECTED_ROUTES'])
    expect(findUnmatched({ [name]: ` ${pattern},` }, PATHS)).toEqual([]);
});

it('the views that it knows are those of the page', () => {
  const words = VIEW.source.match(/[a-z]{3,}/g)!;
  const known = VIEWS.map((view) => view.split('/')[1]!);
  expect(new Set(known)).toEqual(new Set(words));
  expect(known).toHaveLength(words.length);
  for (const view of VIEWS) expect(view.replace('{id}', '0x12')).toMatch(VIEW);
});

it.each(['/nft/*', '/search', '/reference*', '/block/0x12', '/NFTs/*'])(
  'knows views: %s',
  (pattern) => {
    expect(findUnmatched({ PROTECTED_ROUTES: pattern }, PATHS)).toEqual([]);
  },
);

it.each([
  '/nosuch/*',
  '/nft',
  '/output',
  '/search/x',
  '/api/core/v3/*',
  '/metric',
  '/metrics/',
  '/explorer/',
  '/explorer/*/a',
  `${NFT}/metadata`,
  '/api/core/v2/tips/*',
  '/health*a',
])('finds no route for %s', (pattern) => {
  const sentence = `PUBLIC_ROUTES: ${pattern} matches no route (docs/contract.md)`;
  expect(findUnmatched({ PUBLIC_ROUTES: `/health,${pattern}` }, PATHS)).toEqual([sentence]);
  for (const path of ['/', '/metrics', '/health', NFT, '/explorer/app.js'])
    expect(matchesAny(path, [pattern])).toBe(false);
});

it('a name that is nearly that of a setting is told, and others are not', () => {
  const note = (name: string, meant: string) => `${name} is not a setting: is ${meant} meant?`;
  const names = ['UPSTREAM_URL', 'UPSTREAM_URLS', 'SERVER_TIMNG', 'PATH', 'API_TOKEN', 'HOME'];
  expect(findMisspelt(new Set(names))).toEqual([
    note('UPSTREAM_URLS', 'UPSTREAM_URL'),
    note('SERVER_TIMNG', 'SERVER_TIMING'),
  ]);
  const near = new Set([...names, 'PROTECTED_ROUTE', 'PUBLIC_ROUTE', 'protected_routes']);
  expect(findMisspelt(near, ACCESS_SETTINGS)).toEqual([
    note('PROTECTED_ROUTE', 'PROTECTED_ROUTES'),
    note('PUBLIC_ROUTE', 'PUBLIC_ROUTES'),
    note('protected_routes', 'PROTECTED_ROUTES'),
  ]);
});
