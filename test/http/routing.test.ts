/** What itty-router does by itself, and the contract does not want (src/http/app.ts). */
import { describe, expect, it } from 'vitest';
import { NFT } from '../support/http/contract.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';

const fetch = fetchFrom();
const INFO = '/api/core/v2/info';

describe('the router', () => {
  it.each([
    ['a slash at the end', `${INFO}/`, 404],
    ['a lookup without an ID', NFT.slice(0, -1), 200],
    ['a lookup without an ID, with its slash', NFT, 404],
    ['a slash behind the ID of a lookup', `${NFT}${facts.nftId}/`, 400],
    ['a further part behind the ID of a lookup', `${NFT}${facts.nftId}/metadata`, 400],
    ['slashes in place of the ID of a lookup', `${NFT}/`, 400],
  ])('answers %s', async (_, path, status) => {
    expect((await fetch(path)).status).toBe(status);
  });

  it('answers HEAD as GET, without the body', async () => {
    for (const path of [INFO, `${NFT}${facts.nftId}`]) {
      const [get, head] = [await fetch(path), await fetch(path, { method: 'HEAD' })];
      expect([head.status, await head.text()]).toEqual([get.status, '']);
      expect(head.headers.get('x-ledger-index')).toBe(get.headers.get('x-ledger-index'));
    }
  });

  it.each([
    ['GET', INFO, 'GET, HEAD, OPTIONS'],
    ['GET', `${NFT}${facts.nftId}/`, 'GET, HEAD, OPTIONS'],
    ['POST', '/api/core/v2/whiteflag', 'POST, OPTIONS'],
  ])('names the methods of a path, %s %s', async (method, path, allow) => {
    const response = await fetch(path, { method: method === 'GET' ? 'PUT' : 'GET' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  });

  it('reads a query of 16 KB, the most that comes, within 0.2 s', async () => {
    const path = `${INFO}?${'a&'.repeat(8000)}`;
    await fetch(path);
    const began = performance.now();
    expect((await fetch(path)).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(200);
  });

  it('does not tell what went wrong inside', async () => {
    const failing = fetchFrom({ node: { readStatus: () => Promise.reject(new Error('secret')) } });
    const response = await failing(INFO);
    expect([response.status, await response.text()]).toEqual([
      500,
      '{"error":{"code":500,"message":"internal server error"}}',
    ]);
  });
});
