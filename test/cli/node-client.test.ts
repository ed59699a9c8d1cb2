/**
 * What scripts say of a node that does not answer, or not as a node does: its URL and the cause.
 */
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { openNodeClient, requestJson } from '../../client/node-client.ts';
import { runCommand } from '../support/cli/script-process.ts';
import { freePort, listen } from '../support/edge/launch.ts';

const PATH = '/api/core/v2/info';

/** Host and port of a server. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(await listen(server)).host;
}

function request(url: string, timeout?: number): Promise<unknown> {
  return requestJson(openNodeClient(url, timeout), PATH, v.object({ name: v.string() }));
}

it.each([
  ['', undefined],
  ['a:b@', 'a:b'],
  [':b@', ':b'],
  ['a%40b:c%3Ad@', 'a@b:c:d'],
  // what no browser refuses
  ['a%:100%25%@', 'a%:100%25%'],
])('sends the user and the password of http://%s', async (user, sent) => {
  const host = await serve(({ headers }, response) => {
    response.end(JSON.stringify({ name: headers.authorization ?? 'nobody' }));
  });
  const name = sent === undefined ? 'nobody' : `Basic ${btoa(sent)}`;
  expect(await request(`http://${user}${host}`)).toEqual({ name });
});

describe('no answer', () => {
  it('nothing listens', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    await expect(request(`http://${host}`)).rejects.toThrow(
      `http://${host}${PATH} does not answer: connect ECONNREFUSED ${host}`,
    );
  });

  it('nothing listens at any address of the host', async () => {
    const host = `localhost:${await freePort()}`;
    await expect(request(`http://${host}`)).rejects.toThrow(
      /^http:\/\/localhost:\d+\/.* does not answer: .*connect ECONNREFUSED 127\.0\.0\.1:\d+/,
    );
  });

  it('there is no such host', async () => {
    await expect(request('http://node.invalid')).rejects.toThrow(
      /^http:\/\/node\.invalid\/api.* does not answer: getaddrinfo (?:ENOTFOUND|EAI_AGAIN) node\.inv/,
    );
  });

  it('it speaks no TLS', async () => {
    const host = await serve((_, response) => void response.end());
    await expect(request(`https://${host}`)).rejects.toThrow(
      `https://${host}${PATH} does not answer: ERR_SSL_WRONG_VERSION_NUMBER`,
    );
  });

  it('it is late', async () => {
    const host = await serve(() => {
      // never answers
    });
    await expect(request(`http://${host}`, 100)).rejects.toThrow(
      `http://${host}${PATH} does not answer: The operation was aborted due to timeout`,
    );
  });

  it.each<[string, string | undefined, number]>([
    ['JSON that never ends', undefined, 16 * 1024],
    ['a block that never ends', 'application/vnd.iota.serializer-v1', 32],
  ])('%s', async (_, accept, kibibytes) => {
    const host = await serve((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    const asked = openNodeClient(`http://${host}`)(PATH, accept === undefined ? {} : { accept });
    await expect(asked).rejects.toThrow(`the answer has more than ${kibibytes} KiB`);
  });

  it('the body is cut off', async () => {
    const host = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(request(`http://${host}`)).rejects.toThrow(
      `http://${host}${PATH} does not answer: UND_ERR_SOCKET: other side closed`,
    );
  });
});

describe('another answer', () => {
  it('an error, with its reason and without the password', async () => {
    const host = await serve((_, response) => {
      response.writeHead(503, { 'x-error-detail': 'nothing was imported' }).end();
    });
    await expect(request(`http://name:word@${host}/`)).rejects.toThrow(
      new Error(`http://${host}${PATH}: status 503, nothing was imported`),
    );
  });

  it.each([
    ['a web page', '<html>', ' is not JSON: is this the URL of a node?'],
    ['other JSON', '{"name":1}', ': name: Invalid type: Expected string but received 1'],
  ])('%s', async (_, body, reason) => {
    const host = await serve((_request, response) => void response.end(body));
    await expect(request(`http://${host}`)).rejects.toThrow(
      new Error(`http://${host}${PATH}${reason}`),
    );
  });
});

it('is not taken from another host', async () => {
  const other = await serve((_, response) => void response.end('{"name":"x"}'));
  const host = await serve((_, response) => {
    response.writeHead(302, { location: `http://${other}${PATH}` }).end();
  });
  await expect(request(`http://${host}`)).rejects.toThrow(
    `http://${host}${PATH} leads elsewhere, to http://${other}${PATH}: give that URL`,
  );
});

it('of control characters prints their numbers, and not all of a long text', async () => {
  const evil = `\x1b[2J\x1b[H\nEverything holds.\u202e${'x'.repeat(1000)}`;
  const host = await serve((_, response) => void response.end(JSON.stringify({ name: [evil] })));
  const place = v.object({ name: v.array(v.picklist(['a'])) });
  const asked = requestJson(openNodeClient(`http://${host}`), PATH, place);
  const { message } = (await asked.catch((error: Error) => error)) as Error;
  expect(message).toContain('\\u{1b}[2J\\u{1b}[H\\u{a}Everything holds.\\u{202e}xxx');
  expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(message.length).toBeLessThan(300);
});

it('deeper than anything that nodes answer is no JSON', async () => {
  const deep = `${'{"name":'.repeat(65)}1${'}'.repeat(65)}`;
  const host = await serve((_, response) => void response.end(deep));
  await expect(request(`http://${host}`)).rejects.toThrow('is not JSON');
});

describe('the scripts', () => {
  it.each([
    ['verify', (url: string) => [url, '--keys', 'ab'.repeat(32)], PATH],
    [
      'explain',
      (url: string) => {
        const request = join(PROJECT, 'package.json');
        return ['--request', request, '--ours', url, '--theirs', url];
      },
      '/api/edge/v1/whiteflag',
    ],
  ])('%s', async (script, args, path) => {
    const host = `127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await runCommand(script, ...args(`http://${host}`));
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `Not checked: http://${host}${path} does not answer: connect ECONNREFUSED ${host}\n`,
    });
  });
});
