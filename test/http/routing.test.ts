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

it.each([
  ['a name', (i: number) => `${i}&`],
  ['one name', () => 'a&'],
  ['one name with values', () => 'a=1&'],
  ['nothing', () => '&'],
])(
  'reads a query of 32 KB, the most that comes, in linear time: %s again and again',
  async (_, pair) => {
    for (const path of [INFO, '/nothing', '/api/indexer/v1/outputs/nft']) {
      const read = async (characters: number): Promise<number> => {
        let query = '';
        for (let i = 0; query.length < characters; i++) query += pair(i);
        return cpuTime(() => fetch(`${path}?${query}`));
      };
      await read(32_000);
      // 200 to 500 ms where it was quadratic
      expect(Math.min(await read(32_000), await read(32_000), await read(32_000))).toBeLessThan(
        100,
      );
    }
  },
);
