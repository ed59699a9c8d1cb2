/** `npm run verify`: what an edge node says holds against the keys, and no lie of it passes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NodeClient } from '../../scripts/lib/node-client.ts';
import { NotVerified, verifyNode } from '../../scripts/verify/verify-node.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { recordedNode } from '../support/http/recorded-node.ts';
import { fetchFrom } from '../support/http/stub-node.ts';
import { questionOf } from '../support/ledger/ledger-harness.ts';
import { coneOf } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { callScript } from '../support/scripts/call-script.ts';
import { runScript } from '../support/scripts/script-process.ts';

const network = recordedNetwork('network-a');
const { keys } = network;
const INDEX = 60;
const { question, answer } = questionOf(network, INDEX);
const ids = coneOf(network, INDEX).map(({ id }) => id);

const fetchNode = fetchFrom({
  node: {
    ...recordedNode(network, INDEX),
    async computeWhiteFlag(request) {
      const asked = { ...request, parents: request.parents.map((id) => `0x${id}`) };
      expect(asked).toEqual({
        ...question,
        previousMilestoneId: question.previousMilestoneId!.slice(2),
      });
      const { inclusionMerkleRoot, appliedMerkleRoot } = answer as Record<string, string>;
      return {
        ok: true,
        inclusionMerkleRoot: fromHex(inclusionMerkleRoot!),
        appliedMerkleRoot: fromHex(appliedMerkleRoot!),
        blocks: ids.length,
        stages: {},
      };
    },
  },
});

/** The node, with the bodies of one path changed. */
function nodeWith(
  path: string | undefined,
  change: (body: Uint8Array) => Uint8Array | string,
): NodeClient {
  return async (asked, { body, accept } = {}) => {
    const response = await fetchNode(asked, {
      headers: accept === undefined ? {} : { accept },
      ...(body !== undefined && { method: 'POST', body }),
    });
    if (asked !== path) return response;
    return new Response(change(await response.bytes()) as BodyInit, response);
  };
}

const honest = nodeWith(undefined, (body) => body);
const flip = (at: number) => (body: Uint8Array) => body.with(at, body.at(at)! ^ 1);
const inText = (change: (text: string) => string) => (body: Uint8Array) => {
  const text = new TextDecoder().decode(body);
  expect(change(text)).not.toBe(text);
  return change(text);
};

it('finds everything right, whichever block chance picks', async () => {
  for (const random of [0, 0.5, 0.999]) {
    const lines = await Array.fromAsync(verifyNode(honest, keys, random));
    expect(lines).toHaveLength(5);
    expect(lines.join()).toContain(`Milestone ${INDEX} is signed by 2 of the keys.`);
    expect(lines.join()).toContain(ids[Math.floor(random * ids.length)]!);
  }
});

describe('no lie passes', () => {
  const explanation = `/api/edge/v1/whiteflag/${INDEX}`;
  const swapFirstTwo = (text: string) => {
    const value = JSON.parse(text);
    [value.blocks[0], value.blocks[1]] = [value.blocks[1], value.blocks[0]];
    return JSON.stringify(value);
  };
  const drop = (text: string) => {
    const value = JSON.parse(text);
    value.blocks.pop();
    return JSON.stringify(value);
  };

  it.each<[string, string, (body: Uint8Array) => Uint8Array | string, RegExp]>([
    [
      "a bit of the milestone's signature",
      `/api/core/v2/milestones/by-index/${INDEX}`,
      (body) => flip(body.length - 1)(body),
      /not signed by the keys: M-3/,
    ],
    ['a bit of a root', `/api/core/v2/milestones/by-index/${INDEX}`, flip(60), /not signed|parse/],
    [
      'a bit of a block',
      `/api/core/v2/blocks/${ids[0]}`,
      (body) => flip(body.length - 1)(body),
      /the bytes of block .* are those of/,
    ],
    ['two blocks that change places', explanation, inText(swapFirstTwo), /white-flag order/],
    ['a block that is left out', explanation, inText(drop), /inclusion root/],
    [
      'a verdict',
      explanation,
      inText((text) => text.replace('"included"', '"conflicting"')),
      /applied root/,
    ],
    [
      'a bit of the proof',
      `/api/edge/v1/blocks/${ids[0]}/proof`,
      inText((text) => text.replace(/"h":"0x./, '"h":"0xf')),
      /the proof of block/,
    ],
    [
      'the proof of another block',
      `/api/edge/v1/blocks/${ids[0]}/proof`,
      inText((text) => text.replace(ids[0]!, ids[1]!)),
      /the proof of block/,
    ],
    [
      'a root of the white flag',
      '/api/core/v2/whiteflag',
      inText((text) =>
        text.replace(/"appliedMerkleRoot":"0x.{8}/, '"appliedMerkleRoot":"0x00000000'),
      ),
      /the white flag answers appliedMerkleRoot/,
    ],
  ])('%s', async (_, path, change, reason) => {
    const found = Array.fromAsync(verifyNode(nodeWith(path, change), keys, 0));
    await expect(found).rejects.toThrow(NotVerified);
    await expect(found).rejects.toThrow(reason);
  });

  it('other keys, or too few of them', async () => {
    const other = {
      ...keys,
      keys: keys.keys.map((key) => ({ ...key, last: INDEX - 1, first: 1 })),
    };
    for (const each of [other, { ...keys, threshold: 3 }])
      await expect(Array.fromAsync(verifyNode(honest, each, 0))).rejects.toThrow(/M-2/);
  });
});

describe('npm run verify', () => {
  const hex = keys.keys.map(({ publicKey }) => publicKey.toHex());

  async function serve(): Promise<string> {
    const server = createServer(async (asked, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of asked) chunks.push(chunk);
      const answered = await fetchNode(asked.url!, {
        method: asked.method!,
        headers: asked.headers.accept === undefined ? {} : { accept: asked.headers.accept },
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      response.writeHead(answered.status).end(await answered.bytes());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('prints what it found right', async () => {
    const { code, stdout, stderr } = await runScript(
      'verify.ts',
      await serve(),
      '--keys',
      hex.join(),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(5);
  });

  it('prints what is not so, and ends with 1', async () => {
    const foreign = `${hex[0]},${'ab'.repeat(32)}`;
    const { code, stdout } = await runScript('verify.ts', await serve(), '--keys', foreign);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Not verified: milestone 60 is not signed by the keys: M-3/);
  });

  it.each([
    [[]],
    [['http://127.0.0.1:1']],
    [['nowhere', '--keys', hex[0]!]],
    [['http://a', 'http://b', '--keys', hex[0]!]],
    [['http://a', '--final-root', '0x12']],
    [['http://a', '--final-root', `0x${hex[0]}`, '0x12']],
    [['http://a', '--final-root', `0x${hex[0]}`, '--keys', hex[0]!]],
  ])('%j is misuse', async (args) => {
    expect((await callScript('verify.ts', ...args)).code).toBe(2);
  });
});
