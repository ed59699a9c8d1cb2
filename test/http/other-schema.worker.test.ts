/**
 * The Worker on a ledger of another schema: every route that reads the ledger answers 500, and says
 * what to do (docs/operations.md#upgrade).
 */
import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { finalLedgerRoutes } from '../../src/http/routes/proof/final-ledger.ts';
import { listRoutes } from '../../src/http/routes.ts';
import { SCHEMA } from '../../src/ledger/core/head.ts';
import { post } from '../support/http/contract.ts';
import { facts } from '../support/http/stub-node.ts';
import { startLedger } from '../support/ledger/ledger-harness.ts';
import '../support/vectors-in-workerd.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const SENTENCE = `ledger schema ${SCHEMA + 1} is not supported by this version, which reads ${SCHEMA}: import the snapshot again (docs/operations.md#upgrade)`;

/** These do not read the ledger, or are not public unless a setting names them. */
const OTHERS: readonly string[] = [
  ...['/', '/api/routes', '/openapi.json', '/verifier.js', '/explorer/:file', '/metrics'],
  // takes WebSockets only
  '/api/mqtt/v1',
  // not without FINAL_MILESTONE
  ...Object.values(finalLedgerRoutes).map(({ path }) => path),
];
const POI_VALIDATE = '/api/poi/v1/validate';

const routes = Object.values(listRoutes()).filter(
  ({ path }) => ![...OTHERS, POI_VALIDATE].includes(path),
);

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

describe('a ledger of another schema', () => {
  beforeAll(async () => {
    await startLedger(env.LEDGER, recordedNetwork('network-n'), 54);
    await env.LEDGER.prepare('UPDATE head SET schema = schema + 1').run();
  });

  it.each(routes)('$method $path', async ({ method, path }) => {
    const init = method === 'POST' ? post(JSON.stringify(facts.whiteFlag)) : {};
    const response = await exports.default.fetch(
      `http://other-schema.example${pathOf(path)}`,
      init,
    );
    await response.body?.cancel();
    expect([response.status, response.headers.get('x-error-detail')]).toEqual([
      path === '/health' ? 503 : 500,
      SENTENCE,
    ]);
  });
});
