/**
 * A Worker without a ledger that it could read: nothing was imported yet, with its tables and before
 * they are made, or the ledger has another schema. Nothing is answered as if the ledger were empty.
 * What names one thing by its ID or index is 404 where nothing was imported, which says that it is
 * not known here (docs/contract.md#errors); another schema says what to do
 * (docs/operations.md#upgrade).
 */
import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { finalLedgerRoutes } from '../../src/http/routes/proof/final-ledger.ts';
import { statementRoutes } from '../../src/http/routes/proof/statement.ts';
import { listRoutes } from '../../src/http/routes.ts';
import { SCHEMA } from '../../src/ledger/core/head.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { post } from '../support/http/contract.ts';
import { facts } from '../support/http/stub-node.ts';
import { startLedger } from '../support/ledger/ledger-harness.ts';
import '../support/vectors-in-workerd.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

/** These say nothing about a ledger, or are not public where no setting names them. */
const OTHERS: readonly string[] = [
  ...['/', '/api/routes', '/openapi.json', '/verifier.js', '/explorer/:file', '/metrics'],
  // takes WebSockets only
  '/api/mqtt/v1',
  // without FINAL_MILESTONE these read no ledger
  ...Object.values({ ...finalLedgerRoutes, ...statementRoutes }).map(({ path }) => path),
];

const routes = Object.values(listRoutes()).filter(({ path }) => !OTHERS.includes(path));
type Asked = (typeof routes)[number];

/** A path that fits: whatever follows a colon becomes an ID or an index. */
function pathOf(route: string): string {
  const id = `0x${'ab'.repeat(32)}`;
  return route
    .replace(/:outputId/, `${id}0000`)
    .replace(/:foundryId\+?/, `${id}000000000000`)
    .replace(/:milestoneIndex|:migratedAt/, '7')
    .replace(/:issuer/, toBech32('smr', { type: 0, id: new Uint8Array(32) }))
    .replace(/:\w+\+?/g, id)
    .replace(/changes\/nfts$/, 'changes/nfts?after=7')
    .replace(/nfts$/, `nfts?ids=${id}`);
}

async function ask({ method, path }: Asked): Promise<Response> {
  const proof = { milestone: {}, block: {}, proof: {} };
  const body = path.includes('whiteflag') ? facts.whiteFlag : proof;
  const init = method === 'POST' ? post(JSON.stringify(body)) : {};
  const response = await exports.default.fetch(`http://no-ledger.example${pathOf(path)}`, init);
  await response.body?.cancel();
  return response;
}

/** Roots and explanations are asked for by what they begin with. */
const namesOneThing = ({ path }: Asked) =>
  /:(?!nftId|aliasId|foundryId|migratedAt|issuer)/.test(path) || path.includes('whiteflag');

describe('nothing imported, with tables', () => {
  it.each(routes)('$method $path', async (route) => {
    const due = route.path === '/health' ? 503 : namesOneThing(route) ? 404 : 500;
    expect((await ask(route)).status).toBe(due);
  });
});

describe('a ledger of another schema', () => {
  beforeAll(async () => {
    await startLedger(env.LEDGER, recordedNetwork('network-n'), 54);
    await env.LEDGER.prepare('UPDATE head SET schema = schema + 1').run();
  });

  // a proof is validated without a ledger
  it.each(routes.filter(({ path }) => path !== '/api/poi/v1/validate'))(
    '$method $path',
    async (route) => {
      const { status, headers } = await ask(route);
      expect([status, headers.get('x-error-detail')]).toEqual([
        route.path === '/health' ? 503 : 500,
        `ledger schema ${SCHEMA + 1} is not supported by this version, which reads ${SCHEMA}: import the snapshot again (docs/operations.md#upgrade)`,
      ]);
    },
  );
});

describe('no tables', () => {
  beforeAll(async () => {
    const { results } = await env.LEDGER.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'",
    ).all<{ name: string }>();
    expect(results.length).toBeGreaterThan(10);
    await env.LEDGER.batch(results.map(({ name }) => env.LEDGER.prepare(`DROP TABLE ${name}`)));
  });

  it.each(routes)('$method $path', async (route) => {
    expect((await ask(route)).status).toBe(route.path === '/health' ? 503 : 500);
  });
});
