/** openapi.json: up to date, complete, and true of real answers. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lint, loadConfig } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { version } from '../../package.json';
import openapi from '../../src/http/openapi/openapi.json';
import { listRoutes } from '../../src/http/routes.ts';
import { MODULES } from '../../src/modules/list.ts';
import { buildDocument } from '../../tools/openapi/document.ts';
import examples from '../../tools/openapi/examples.json';
import { checkDescribed } from '../support/http/described.ts';
import { hasRoute } from '../support/http/has-route.ts';
import { fetchFrom } from '../support/http/stub-node.ts';

describe('openapi.json', () => {
  it('is what `node tools/run.js tools/openapi.ts` makes of the routes', () => {
    expect(openapi).toEqual(JSON.parse(JSON.stringify(buildDocument(version, examples))));
  });

  it('is valid for Redocly, without warnings', async () => {
    const ref = join(PROJECT, 'src/http/openapi/openapi.json');
    // also reads .redocly.lint-ignore.yaml
    const problems = await lint({ ref, config: await loadConfig() });
    const open = problems.filter(({ ignored }) => !ignored);
    expect(open.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has what a request may leave out as one plain schema: generated clients take it', () => {
    expect(openapi.components.schemas.WhiteFlagRequest.properties.previousMilestoneId).toEqual({
      type: ['string', 'null'],
      pattern: '^(?:0[xX][0-9a-fA-F]{64})?$',
    });
    expect(JSON.stringify(openapi.components.schemas)).not.toMatch(/"anyOf"|"default"/);
  });

  it('has no default of a parameter: generated clients would send it, with ids too', () => {
    const parameters = Object.values(openapi.paths).flatMap((item) =>
      Object.values(item).flatMap((operation) =>
        'parameters' in operation ? operation.parameters : [],
      ),
    );
    expect(parameters).not.toEqual([]);
    expect(JSON.stringify(parameters)).not.toMatch(/"default"/);
  });

  it('has on each operation the 503 of the front of `npm run serve`', () => {
    const operations = Object.values(openapi.paths).flatMap((item) => Object.values(item));
    expect(operations.filter(({ responses }) => !('503' in responses))).toEqual([]);
  });

  it('has on each 200 the Vary of the front of `npm run serve`', () => {
    const operations = Object.values(openapi.paths).flatMap((item) => Object.values(item));
    const open = operations.filter(({ responses }) => !('Vary' in responses[200].headers));
    expect(open.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('has every route, and no other', () => {
    const routes = Object.entries(listRoutes(MODULES)).map(
      ([operationId, { method, path }]) =>
        `${operationId} ${method} ${path.replace(/:(\w+)\+?/g, '{$1}')}`,
    );
    const described = Object.entries(openapi.paths).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    );
    expect(described.sort()).toEqual(routes.sort());
  });
});

describe('every route is named in a test', () => {
  const folder = join(PROJECT, 'test');
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  /** All that is fixed in the path stands in one file of tests. */
  const isNamed = (path: string) => {
    const parts = path.split('/').filter((part) => part !== '' && !part.startsWith(':'));
    return texts.some((text) => parts.every((part) => new RegExp(`\\b${part}\\b`).test(text)));
  };

  it.each(Object.values(listRoutes(MODULES)).map(({ path }) => path))('%s', (path) => {
    expect(isNamed(path)).toBe(true);
    expect(isNamed(`${path}/${['not', 'tested'].join('-')}`)).toBe(false);
  });
});

// fetchFrom, by which tests ask the routes, holds every answer against openapi.json
describe.runIf(hasRoute('/api/core/v2/tips'))('an answer is not as described', () => {
  const path = '/api/core/v2/tips';
  const tips = { tips: [`0x${'ab'.repeat(32)}`] };
  const check = (body: unknown, status = 200) =>
    checkDescribed('GET', path, Response.json(body, { status }));

  it.each<[string, unknown, number?]>([
    ['with a field more', { ...tips, more: 1 }],
    ['with a field less', {}],
    ['with another case', { tips: [`0x${'AB'.repeat(32)}`] }],
    ['with another status', tips, 202],
    ['with another error', { error: { code: '404', message: '' } }, 401],
  ])('%s', async (_, body, status) => {
    await check(tips);
    await expect(check(body, status)).rejects.toThrow();
  });

  it('with another type', async () => {
    await expect(checkDescribed('GET', path, new Response('{}'))).rejects.toThrow();
  });
});

it('a path that ends with a slash is told so', async () => {
  const fetch = fetchFrom({});
  const answer = await fetch(`/api/indexer/v1/outputs/nft/0x${'ab'.repeat(32)}/`);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('x-error-detail')).toBe('the NFT ID ends with a slash');
});
