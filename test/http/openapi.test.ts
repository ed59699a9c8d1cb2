/** openapi.json: up to date, complete, and true of real answers. */

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { version } from '../../package.json';
import { buildDocument } from '../../scripts/openapi/document.ts';
import * as responses from '../../scripts/openapi/responses.ts';
import openapi from '../../src/http/assets/openapi.json';
import { listRoutes, nftRoute } from '../../src/http/routes.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { nftIdOf } from '../../src/stardust/wire/ids.ts';
import { type Fetch, NFT, post, WHITE_FLAG } from '../support/http/contract.ts';
import { recordedNode } from '../support/http/recorded-node.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';
import { coneOf } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { nodeOver } from '../support/nft-list/list-node.ts';
import { listedLedger } from '../support/nft-list/listed-ledger.ts';
import type { PlainNft } from '../support/nft-list/plain-list.ts';
import { recordedNfts } from '../support/nft-list/recorded-nfts.ts';

describe('openapi.json', () => {
  it('is what `npm run openapi` makes of the schemas', () => {
    expect(openapi).toEqual(JSON.parse(JSON.stringify(buildDocument(version))));
  });

  it('has every route, and no other', () => {
    const routes = [nftRoute, ...listRoutes()].map(
      ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    );
    const described = Object.entries(openapi.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(routes.sort());
  });

  it('is served', async () => {
    expect(await (await fetchFrom()('/openapi.json')).json()).toEqual(openapi);
  });
});

describe('answers are as described', () => {
  const network = recordedNetwork('network-a');
  const nftNetwork = listedLedger(60);
  const fetch: Fetch = async (path, init) => {
    const { listNfts, readNfts } = nodeOver(await nftNetwork);
    return fetchFrom({ node: { ...recordedNode(network, 106), listNfts, readNfts } })(path, init);
  };
  const [{ output, outputId: nftOutputId }] = recordedNfts()(60) as [PlainNft];
  const nftId = toHex(nftIdOf(output, Uint8Array.fromHex(nftOutputId)));
  const outputId = [...network.outputs.keys()][100]!;
  const block = coneOf(network, 50)[0]!.id;

  it.each<[string, v.GenericSchema, RequestInit?]>([
    [NFT + facts.nftId, responses.Nft],
    [WHITE_FLAG, responses.WhiteFlag, post(JSON.stringify(facts.whiteFlag))],
    ['/api/routes', responses.ApiRoutes],
    ['/api/core/v2/info', responses.Info],
    ['/api/indexer/v1/outputs/nft?pageSize=2', responses.NftList],
    [`/api/edge/v1/nfts/${nftId}`, responses.NftOutput],
    [`/api/edge/v1/nfts?ids=${facts.nftId},${nftId}`, responses.NftOutputs],
    [`/api/core/v2/outputs/${outputId}`, responses.Output],
    [`/api/core/v2/outputs/${outputId}/metadata`, responses.OutputMetadata],
    ['/api/edge/v1/whiteflag/50', responses.ExplainedMilestone],
    [`/api/edge/v1/blocks/${block}/proof`, responses.Proof],
    [`/api/poi/v1/create/${block}`, responses.Inclusion],
    ['/nowhere', responses.ErrorBody],
  ])('%s', async (path, schema, init) => {
    v.parse(schema, await (await fetch(path, init)).json());
  });
});
