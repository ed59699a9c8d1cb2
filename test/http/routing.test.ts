/**
 * What itty-router does by itself, and the contract does not want (src/http/app.ts). More of it is in
 * the rows of test/support/http/contract.ts.
 */
import { expect, it } from 'vitest';
import type { Module } from '../../src/modules/module.ts';
import { cpuTime } from '../support/cpu-time.ts';
import { expectError, NFT } from '../support/http/contract.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';

const fetch = fetchFrom();
const INFO = '/api/core/v2/info';

it('there is one page at most: of two it is not known which', () => {
  const page: NonNullable<Module['page']> = {
    route: { method: 'GET', path: '/', handle: async () => ({ body: null }) },
    isWanted: () => true,
  };
  const modules = [{ name: 'one', page }, { name: 'other' }, { name: 'another', page }];
  expect(() => fetchFrom({ modules })).toThrow('two modules have a page');
});

it('paths have one spelling, and bad ones have methods too', async () => {
  await expectError(fetch, `${INFO}/`, 404);
  const allow = { allow: 'GET, HEAD, OPTIONS' };
  for (const path of [INFO, `${NFT}${facts.nftId}/`])
    await expectError(fetch, path, 405, { method: 'PUT' }, allow);
});

it('reads a query of 16 KB, the most that comes, within 0.2 s of CPU', async () => {
  const path = `${INFO}?${'a&'.repeat(8000)}`;
  await fetch(path);
  const ms = await cpuTime(async () => expect((await fetch(path)).status).toBe(200));
  expect(ms).toBeLessThan(200);
});
