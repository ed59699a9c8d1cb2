/** The page of the API: what it sends, and that it shows all that openapi.json describes. */

import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { contentOf, readDescription } from '../../explorer/api/description.ts';
import { describeType, fieldsOf, namedSchemas } from '../../explorer/api/fields.ts';
import {
  buildRequest,
  firstBody,
  firstValues,
  formatCurl,
  RAW_TYPE,
} from '../../explorer/api/request.ts';
import openapi from '../../src/http/openapi/openapi.json';
import { listRoutes } from '../../src/http/routes.ts';
import { MODULES } from '../../src/modules/list.ts';
import { listExampleRequests } from '../../tools/openapi/document.ts';

afterEach(() => vi.unstubAllGlobals());

function serve(document: unknown): ReturnType<typeof readDescription> {
  vi.stubGlobal('fetch', async () => Response.json(document));
  return readDescription();
}

const description = await serve(openapi);
vi.unstubAllGlobals();
const operations = description.groups.flatMap((group) => group.operations);
const named = (id: string) => operations.find(({ operationId }) => operationId === id)!;

it('every operation is in a group, once', () => {
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
    Object.keys(listRoutes(MODULES)).sort(),
  );
});

it('every status of every operation is described', () => {
  for (const { operationId, answers } of operations) {
    expect(answers.length, operationId).toBeGreaterThan(1);
    for (const answer of answers) expect(answer.description, operationId).not.toBe('');
  }
});

it('the examples that fill the form are the requests that they were made by', () => {
  let count = 0;
  for (const [operationId, example] of listExampleRequests()) {
    const operation = named(operationId);
    const request = buildRequest(operation, firstValues(operation), firstBody(operation), false);
    expect(request.path).toBe(example.path);
    expect(request.body && JSON.parse(request.body)).toEqual(example.body);
    count++;
  }
  expect(count).toBeGreaterThan(20);
});

describe('a request', () => {
  const readNft = named('readNft');
  const listNfts = named('listNfts');

  it('has what was filled in, and nothing that was not', () => {
    const values = { 'query tag': ' 0x61 ', 'query pageSize': '', 'header If-None-Match': 'W/"1"' };
    expect(buildRequest(listNfts, values, undefined, false)).toEqual({
      method: 'GET',
      path: '/api/indexer/v1/outputs/nft?tag=0x61',
      headers: { 'If-None-Match': 'W/"1"' },
      body: undefined,
    });
    const bytes = buildRequest(listNfts, {}, undefined, true);
    expect(bytes.headers).toEqual({ Accept: RAW_TYPE });
  });

  it('stays on its path, whatever was filled in', () => {
    for (const [text, path] of [
      ['../../x', '..%2F..%2Fx'],
      ['a?b#c', 'a%3Fb%23c'],
      ['$&$1', '%24%26%241'],
      ['//evil.example', '%2F%2Fevil.example'],
    ])
      expect(buildRequest(readNft, { 'path nftId': text! }, undefined, false).path).toBe(
        `/api/edge/v1/nfts/${path}`,
      );
  });

  it('is a command that sends the same, with any quotes', () => {
    const body = `{"a": "it's $HOME \`x\`"}`;
    const request = buildRequest(named('computeWhiteFlag'), {}, body, false);
    const command = formatCurl(request, 'http://127.0.0.1:1').replace(/^curl/, "printf '%s\\n'");
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\n')).toEqual([
      'http://127.0.0.1:1/api/core/v2/whiteflag',
      '-H',
      'Content-Type: application/json',
      '--data-binary',
      body,
      '',
    ]);
  });
});

describe('fields', () => {
  it('of every answer: whatever has a name is listed, and none is empty', () => {
    for (const operation of operations) {
      const schema = contentOf(operation)['application/json']?.schema;
      if (schema === undefined) continue;
      const lists = namedSchemas(schema, description.schemas);
      const names = new Set(lists.map(([name]) => name));
      const text = JSON.stringify([schema, ...lists.map(([, each]) => each)]);
      for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
        expect([...names]).toContain(name);
      for (const [name, each] of lists)
        for (const { type } of fieldsOf(each)) expect(type, name).not.toMatch(/undefined|^any$/);
    }
  });

  it('within fields have their paths', () => {
    expect(fieldsOf(description.schemas.Error!).map(({ path }) => path)).toEqual([
      'error',
      'error.code',
      'error.message',
    ]);
    const list = {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
    };
    expect(fieldsOf({ type: 'object', properties: { list }, required: ['list'] })).toMatchObject([
      { path: 'list', type: 'list of object', isOptional: false },
      { path: 'list[].a', type: 'string', isOptional: true },
    ]);
  });

  it('end where a document leads in a circle', () => {
    const circle = { type: 'object', properties: { own: { $ref: '#/components/schemas/Circle' } } };
    expect(namedSchemas(circle, { Circle: circle })).toEqual([['Circle', circle]]);
    expect(namedSchemas({ $ref: '#/x/constructor' }, {})).toEqual([]);
  });

  it.each([
    [{ $ref: '#/components/schemas/Hash' }, 'Hash'],
    [{ oneOf: [{ type: 'null' }, { const: 6 }] }, 'null or 6'],
    [{ type: 'integer', minimum: 1, maximum: 100 }, 'integer, 1 to 100'],
    [{ type: 'number', minimum: 0 }, 'number, 0 or more'],
    [{ type: 'string', enum: ['a', 'b'] }, '"a" or "b"'],
  ])('%j is %s', (schema, text) => {
    expect(describeType(schema)).toBe(text);
  });
});

it.each([
  ['nothing', {}],
  ['no paths', { ...openapi, paths: 7 }],
  ['a parameter that is none', { ...openapi, paths: { '/x': { get: { parameters: [1] } } } }],
])('a node that describes %s is refused', async (_, document) => {
  await expect(serve(document)).rejects.toThrow("The node's answer is not what its contract says");
});
