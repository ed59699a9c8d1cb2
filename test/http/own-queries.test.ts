/**
 * Queries of our own routes are read whole (docs/contract.md#paths): no part of one is passed over.
 */

import { expect, it } from 'vitest';
import { describeCoreRoutes, listRoutes } from '../../src/http/routes.ts';
import { describeModules, MODULES } from '../../src/modules/list.ts';
import { fetchRecorded } from '../support/lies/recorded-source.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const own = Object.values(listRoutes(MODULES)).filter(
  ({ method, path }) => method === 'GET' && path.startsWith('/api/edge/'),
);
const ask = await fetchRecorded(recordedNetwork('network-a'), 60);

async function detailOf(path: string): Promise<[status: number, detail: string | null]> {
  const { status, headers } = await ask(path);
  return [status, headers.get('x-error-detail')];
}

/** With something for each parameter. */
const fill = (path: string) => path.replaceAll(/:\w+/g, '1');

it.each(own.map(({ path, query = [] }) => [path, query] as const))('%s', async (path, query) => {
  const [status, detail] = await detailOf(`${fill(path)}?unheard=1`);
  expect([status, detail]).toEqual([
    400,
    expect.stringMatching(/^the query has an unknown name: /),
  ]);
  for (const name of query)
    expect(await detailOf(`${fill(path)}?${name}=1&${name}=1`)).toEqual([
      400,
      `${name} is given twice`,
    ]);
  for (const pair of ['a=%zz', 'a=1;b=2'])
    expect(await detailOf(`${fill(path)}?${pair}`)).toEqual([
      400,
      'a pair of the query is malformed',
    ]);
});

it('openapi.json has the same names', () => {
  const described: Readonly<
    Record<string, { parameters?: readonly { in: string; name: string }[] }>
  > = { ...describeCoreRoutes(), ...describeModules() };
  for (const [name, { path, query = [] }] of Object.entries(listRoutes(MODULES))) {
    if (!path.startsWith('/api/edge/')) continue;
    const names = (described[name]!.parameters ?? []).filter((each) => each.in === 'query');
    expect([name, names.map((each) => each.name).sort()]).toEqual([name, [...query].sort()]);
  }
});
