/** openapi.json: up to date, complete, and true of real answers. */
import { describe, expect, it } from 'vitest';
import { version } from '../../package.json';
import { buildDocument } from '../../scripts/openapi/document.ts';
import examples from '../../scripts/openapi/examples.json';
import openapi from '../../src/http/assets/openapi.json';
import { listRoutes } from '../../src/http/routes.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { nftIdOf } from '../../src/stardust/wire/ids.ts';
import { NFT, post, WHITE_FLAG } from '../support/http/contract.ts';
import { checkDescribed } from '../support/http/described.ts';
import { recordedNode } from '../support/http/recorded-node.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';
import { coneOf } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { nodeOver } from '../support/nft-list/list-node.ts';
import { listedLedger } from '../support/nft-list/listed-ledger.ts';
import { type PlainNft, recordedNfts } from '../support/nft-list/recorded-nfts.ts';

describe('openapi.json', () => {
  it('is what `npx node scripts/openapi.ts` makes of the routes', () => {
    expect(openapi).toEqual(JSON.parse(JSON.stringify(buildDocument(version, examples))));
  });

  it('has every route, and no other', () => {
    const routes = Object.entries(listRoutes()).map(
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

describe('answers are as described', () => {
  const network = recordedNetwork('network-a');
  const nftNetwork = listedLedger(60);
  const [{ output, outputId: nftOutputId }] = recordedNfts()(60) as [PlainNft];
  const nftId = toHex(nftIdOf(output, Uint8Array.fromHex(nftOutputId)));
  const outputId = [...network.outputs.keys()][100]!;
  const block = coneOf(network, 50)[0]!.id;

  it.each<[string, number, RequestInit?]>([
    [NFT + facts.nftId, 200],
    [WHITE_FLAG, 200, post(JSON.stringify(facts.whiteFlag))],
    ['/api/routes', 200],
    ['/api/core/v2/info', 200],
    ['/api/indexer/v1/outputs/nft?pageSize=2', 200],
    [`/api/edge/v1/nfts/${nftId}`, 200],
    [`/api/edge/v1/nfts?ids=${facts.nftId},${nftId}`, 200],
    ['/api/edge/v1/changes/nfts?after=60', 200],
    [`/api/core/v2/outputs/${outputId}`, 200],
    [`/api/core/v2/outputs/${outputId}/metadata`, 200],
    ['/api/edge/v1/whiteflag/50', 200],
    [`/api/edge/v1/blocks/${block}/proof`, 200],
    [`/api/poi/v1/create/${block}`, 200],
    ['/nowhere', 404],
  ])('%s', async (path, status, init) => {
    const { listOutputs, readNfts, readNftChanges } = nodeOver(await nftNetwork);
    // fetchFrom holds every answer against openapi.json
    const fetch = fetchFrom({
      node: { ...recordedNode(network, 106), listOutputs, readNfts, readNftChanges },
    });
    expect((await fetch(path, init)).status).toBe(status);
  });
});

describe('an answer is not as described', () => {
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
