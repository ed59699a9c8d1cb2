/**
 * The page of the API fills its forms with IDs of the ledger that is served: here of another one than
 * the sample, whose examples openapi.json has.
 */
import { afterAll, expect, it, vi } from 'vitest';
import { readDescription } from '../../explorer/api/description.ts';
import { readExamples } from '../../explorer/api/examples.ts';
import { buildRequest, firstBody, firstValues } from '../../explorer/api/request.ts';
import { readInfo } from '../../explorer/node/ledger.ts';
import openapi from '../../src/http/openapi/openapi.json';
import { fetchRecorded } from '../support/lies/recorded-source.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const network = recordedNetwork('network-n');
const answer = await fetchRecorded(network, lastIndex(network));

vi.stubGlobal('fetch', (path: string, init?: RequestInit) =>
  path === '/openapi.json' ? Response.json(openapi) : answer(path, init),
);
afterAll(() => vi.unstubAllGlobals());

const description = await readDescription();
const examples = await readExamples(await readInfo());

const filled = description.groups
  .flatMap(({ operations }) => operations)
  .filter(({ path }) => path.startsWith('/api/') && !/mqtt|poi\/v1\/validate|\/final/.test(path))
  .filter(({ answers }) =>
    answers.some(({ status, content }) => status === '200' && content['application/json']?.example),
  );

it('many operations have an example', () => {
  expect(filled.length).toBeGreaterThan(25);
});

it.each(filled.map((operation) => [operation.operationId, operation] as const))(
  '%s answers what its form begins with',
  async (_, operation) => {
    const { method, path, body, headers } = buildRequest(
      operation,
      firstValues(operation, examples),
      firstBody(operation, examples),
      false,
    );
    const { status } = await answer(path, { method, headers, ...(body !== undefined && { body }) });
    expect([path, status]).toEqual([path, 200]);
  },
);
