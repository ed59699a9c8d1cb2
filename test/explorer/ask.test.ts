/** Four ways to get no answer are four different sentences. */
import { afterEach, expect, it, vi } from 'vitest';
import { askJson, NodeError } from '../../explorer/node/ask.ts';
import { tips } from '../../explorer/node/shapes.ts';

afterEach(() => vi.unstubAllGlobals());

const PATH = '/api/core/v2/tips';

function answer(status: number, body: string): void {
  const headers = { 'x-error-detail': 'for people' };
  vi.stubGlobal('fetch', async () => new Response(body, { status, headers }));
}

const ownError = (code: number) => JSON.stringify({ error: { code, message: 'why' } });

const failure = () => askJson(PATH, tips).catch((error: NodeError) => error);

it.each([
  ['a node that fails', 500, ownError(500), 500, 'The node answered 500: for people.'],
  ['a thing that is absent', 404, ownError(404), 404, 'The node answered 404: for people.'],
  [
    'a gateway that does not reach the node',
    502,
    '<h1>Bad Gateway</h1>',
    0,
    'Something between your browser and the node answered 502, and not the node itself.',
  ],
  [
    'a gateway that knows no such path',
    404,
    '{"message":"no such route"}',
    0,
    'Something between your browser and the node answered 404, and not the node itself.',
  ],
])('%s', async (_, status, body, ownStatus, sentence) => {
  answer(status, body);
  const error = await failure();
  expect(error).toBeInstanceOf(NodeError);
  expect(error).toMatchObject({ status: ownStatus, message: sentence });
});

it.each([
  [true, 'The node does not answer /api/core/v2/tips.'],
  [false, 'Your browser is offline. Nobody was asked.'],
])('no answer, while the browser says that it is online: %s', async (onLine, sentence) => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
  vi.stubGlobal('navigator', { onLine });
  expect(await failure()).toMatchObject({ status: 0, message: sentence });
});
