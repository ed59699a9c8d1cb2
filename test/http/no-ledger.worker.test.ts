/**
 * A Worker without a ledger that it could read: nothing was imported yet, with its tables and before
 * they are made, as in a first `wrangler dev`; or the ledger has another schema. Nothing is answered
 * as if the ledger were empty: all reads are 500, and each says what to do.
 */

import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { listRoutes } from '../../src/http/routes.ts';
import { SCHEMA } from '../../src/ledger/core/head.ts';
import { readBlock } from '../../src/ledger/read/stored-block.ts';
import { MODULES } from '../../src/modules/list.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { errorBody, post } from '../support/http/contract.ts';
import { facts } from '../support/http/stub-node.ts';
import { startLedger } from '../support/ledger/ledger-harness.ts';
import '../support/vectors-in-workerd.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

/** These say nothing about a ledger, or are not public where no setting names them. */
const OTHERS: readonly string[] = [
  ...[
    '/',
    '/api/routes',
    '/openapi.json',
    '/robots.txt',
    '/favicon.ico',
    '/explorer/:file',
    '/metrics',
  ],
  // takes WebSockets only
  '/api/mqtt/v1',
];

/** Without FINAL_MILESTONE these read no ledger. */
const FINAL = '/api/edge/v1/final';

const routes = Object.values(listRoutes(MODULES)).filter(
  ({ path }) => !OTHERS.includes(path) && !path.startsWith(FINAL),
);
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
    .replace(/nfts$/, `nfts?ids=${id}`)
    .replace(/edge\/v1\/outputs$/, `$&?ids=${id}0000`);
}

/** Its status and reason. Throws an Error unless its body is that of an error. */
async function ask({ method, path }: Asked): Promise<[number, string | null]> {
  const proof = { milestone: {}, block: {}, proof: {} };
  const body = path.includes('whiteflag') ? facts.whiteFlag : proof;
  const init = method === 'POST' ? post(JSON.stringify(body)) : {};
  const response = await exports.default.fetch(`http://no-ledger.example${pathOf(path)}`, init);
  const { status, headers } = response;
  expect(await response.text()).toBe(path === '/health' ? '' : errorBody(status));
  return [status, headers.get('x-error-detail')];
}

const statusOf = ({ path }: Asked) => (path === '/health' ? 503 : 500);

// a proof is validated without a ledger
const readers = routes.filter(({ path }) => path !== '/api/poi/v1/validate');

const NOTHING_IMPORTED =
  'no ledger was imported yet: npx stardust-edge import FILE (docs/operations.md#import-a-snapshot)';

describe('nothing imported, with tables', () => {
  it.each(readers)('$method $path', async (route) => {
    expect(await ask(route)).toEqual([statusOf(route), NOTHING_IMPORTED]);
  });

  it('asks no upstream for a block, and so says what to do where one is set', async () => {
    expect(await readBlock(env.LEDGER, 'ab'.repeat(32))).toBeNull();
  });
});

describe('a ledger of another schema', () => {
  beforeAll(async () => {
    await startLedger(env.LEDGER, recordedNetwork('network-n'), 54);
    await env.LEDGER.prepare('UPDATE head SET schema = schema + 1').run();
  });

  it.each(readers)('$method $path', async (route) => {
    expect(await ask(route)).toEqual([
      statusOf(route),
      `ledger schema ${SCHEMA + 1} is not supported by this version, which reads ${SCHEMA}: install the newer release (docs/operations.md#upgrade)`,
    ]);
  });
});

describe('no tables', () => {
  beforeAll(async () => {
    const { results } = await env.LEDGER.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'",
    ).all<{ name: string }>();
    expect(results.length).toBeGreaterThan(10);
    await env.LEDGER.batch(results.map(({ name }) => env.LEDGER.prepare(`DROP TABLE ${name}`)));
  });

  it.each(readers)('$method $path', async (route) => {
    expect(await ask(route)).toEqual([statusOf(route), NOTHING_IMPORTED]);
  });

  it('the log says so too', async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    await ask(readers.find(({ path }) => path.endsWith('/whiteflag'))!);
    const lines = written.mock.calls.map(([line]) => JSON.parse(String(line)));
    written.mockRestore();
    expect(lines).toMatchObject([{ event: 'http.request', detail: NOTHING_IMPORTED }]);
  });

  const tips = readers.filter(({ path }) => path.endsWith('/tips'));

  it.each(tips)('another table that is missing is no reason to say so', async (route) => {
    const sql = 'CREATE TABLE head AS SELECT 1 AS schema';
    await env.LEDGER.prepare(sql).run();
    const [status, reason] = await ask(route);
    await env.LEDGER.prepare('DROP TABLE head').run();
    expect(status).toBe(500);
    expect(reason).not.toBe(NOTHING_IMPORTED);
  });
});
