/**
 * A Worker that was deployed and has no ledger yet, before its tables are made and after: nothing
 * is answered as if the ledger were empty. What asks for one thing by its ID or index is 404, which
 * says that it is not known here (docs/contract.md#errors).
 */
import { env, exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { finalLedgerRoutes } from '../../src/http/routes/proof/final-ledger.ts';
import { listRoutes } from '../../src/http/routes.ts';
import { post } from '../support/http/contract.ts';
import { facts } from '../support/http/stub-node.ts';

/** These say nothing about a ledger, or are not public where no setting names them. */
const OTHERS: readonly string[] = [
  '/',
  '/health',
  '/api/routes',
  '/openapi.json',
  '/verifier.js',
  '/explorer/:file',
  '/metrics',
  // takes WebSockets only
  '/api/mqtt/v1',
  // without FINAL_MILESTONE these read no ledger
  ...Object.values(finalLedgerRoutes).map(({ path }) => path),
];

const routes = Object.values(listRoutes()).filter(({ path }) => !OTHERS.includes(path));

/** A path that fits: whatever follows a colon becomes an ID or an index. */
function pathOf(route: string): string {
  const id = `0x${'ab'.repeat(32)}`;
  return route
    .replace(/:outputId/, `${id}0000`)
    .replace(/:foundryId\+?/, `${id}000000000000`)
    .replace(/:milestoneIndex|:migratedAt/, '7')
    .replace(/:\w+\+?/g, id)
    .replace(/changes\/nfts$/, 'changes/nfts?after=7')
    .replace(/nfts$/, `nfts?ids=${id}`);
}

async function ask({ method, path }: (typeof routes)[number]): Promise<Response> {
  const proof = { milestone: {}, block: {}, proof: {} };
  const body = path.includes('whiteflag') ? facts.whiteFlag : proof;
  const init = method === 'POST' ? post(JSON.stringify(body)) : {};
  return exports.default.fetch(`http://nothing-imported.example${pathOf(path)}`, init);
}

/** Roots and explanations are asked for by what they begin with. */
const namesOneThing = ({ path }: (typeof routes)[number]) =>
  /:(?!nftId|aliasId|foundryId|migratedAt)/.test(path) || path.includes('whiteflag');

describe.each(['tables', 'no tables'])('with %s', (which) => {
  it.each(routes)('$method $path', async (route) => {
    if (which === 'no tables') await dropTables();
    const response = await ask(route);
    await response.body?.cancel();
    expect(response.status).toBe(which === 'tables' && namesOneThing(route) ? 404 : 500);
  });
});

async function dropTables(): Promise<void> {
  const { results } = await env.LEDGER.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  ).all<{ name: string }>();
  const names = results.map(({ name }) => name).filter((name) => !name.startsWith('_cf_'));
  if (names.length > 0)
    await env.LEDGER.batch(names.map((name) => env.LEDGER.prepare(`DROP TABLE ${name}`)));
}
