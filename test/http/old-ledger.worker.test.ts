/**
 * The Worker on a database of version 0.1 to which the migrations were applied: every answer that
 * needs the ledger is 500 and says what to do (docs/upgrading.md).
 */
import { env, exports } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { nftRows, post, WHITE_FLAG } from '../support/http/contract.ts';
import { facts } from '../support/http/stub-node.ts';

const fetch = (path: string, init?: RequestInit) =>
  exports.default.fetch(`http://old-ledger.example${path}`, init);

const SENTENCE =
  'the ledger in D1 is one of version 0.1, at milestone 17339: import a snapshot again (npm run import), then it is replaced';

describe('a ledger of version 0.1', () => {
  beforeAll(async () => {
    await env.LEDGER.prepare("INSERT INTO v1_head VALUES (1, 'g', 0, 1, 17339, '', '0', 0)").run();
  });

  it('is not healthy', async () => {
    const response = await fetch('/health');
    expect([response.status, response.headers.get('x-error-detail')]).toEqual([503, SENTENCE]);
  });

  const id = `0x${'ab'.repeat(32)}`;
  const nft = nftRows(facts).find(({ status }) => status === 200)!.path;
  it.each([
    [nft],
    ['/api/core/v2/info'],
    [`/api/core/v2/outputs/${id}0000`],
    [WHITE_FLAG, post(JSON.stringify(facts.whiteFlag))],
  ])('%s', async (path, init?: RequestInit) => {
    const response = await fetch(path, init);
    expect([response.status, response.headers.get('x-error-detail')]).toEqual([500, SENTENCE]);
    expect(await response.json()).toEqual({
      error: { code: 500, message: 'internal server error' },
    });
  });
});
