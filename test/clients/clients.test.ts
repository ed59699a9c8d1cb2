/**
 * Clients as npm has them, unchanged, against `npm start`
 * (docs/protocol.md#what-clients-expect): iota.js, and the SDK in its build for WebAssembly.
 */
import { join } from 'node:path';
import { ClientError, IndexerPluginClient, SingleNodeClient } from '@iota/iota.js';
import { Client } from '@iota/sdk-wasm/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../src/stardust/json/rest-json.ts';
import { decodeOutput } from '../../src/stardust/wire/ids.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { npmStart, type Served } from '../support/edge/npm-serve.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';
import { errorBody } from '../support/http/contract.ts';
import { nftIdOfOutput } from '../support/payloads/outputs.ts';

const LEDGER_INDEX = 17_339;
const UNKNOWN = `0x${'5a'.repeat(32)}`;

const folder = temporaryFolder();

let worker: SampleWorker;
let started: Pick<Served, 'url' | 'stop'>;
/** A Worker of which only the health is public, and one without a ledger. */
let closed: string;
let empty: string;

beforeAll(async () => {
  worker = await serveSample();
  started = await npmStart(join(folder, 'sample'));
  closed = await worker.startEmpty({ PUBLIC_ROUTES: '/health' });
  empty = await worker.startEmpty();
});
afterAll(() => Promise.all([worker.stop(), started.stop()]));

/** What the promise is rejected with; fails if it is not. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  if ('result' in value) throw new Error(`not rejected: ${JSON.stringify(value.result)}`);
  return value.error;
}

describe('iota.js', () => {
  const indexerAt = (url: string) => new IndexerPluginClient(new SingleNodeClient(url));

  it('finds an NFT', async () => {
    const { nftId, outputId } = worker.nft;
    expect(await indexerAt(started.url).nft(nftId)).toEqual({
      ledgerIndex: LEDGER_INDEX,
      items: [outputId],
    });
  });

  it('reads the output that it found: raw, as JSON, and its metadata', async () => {
    const { nftId, outputId } = worker.nft;
    const node = new SingleNodeClient(started.url);
    const output = decodeOutput(await node.outputRaw(outputId));
    expect(toHex(nftIdOfOutput(output, Uint8Array.fromHex(outputId.slice(2)))!)).toBe(nftId);
    const json = await node.output(outputId);
    expect(json.output).toEqual(outputToJson(output));
    expect(json.metadata).toMatchObject({ isSpent: false, milestoneIndexBooked: LEDGER_INDEX });
    expect(await node.outputMetadata(outputId)).toEqual(json.metadata);
  });

  it('asks the node about itself', async () => {
    const node = new SingleNodeClient(started.url);
    expect(await node.health()).toBe(false); // the milestones are of 2022
    expect(await node.routes()).toEqual({
      routes: ['core/v2', 'edge/v1', 'indexer/v1', 'mqtt/v1', 'poi/v1'],
      indexed: ['nft'],
    });
    expect(await node.protocolInfo()).toMatchObject({
      networkName: 'shimmer',
      tokenSupply: '1813620509061365',
    });
    expect(await new SingleNodeClient(empty).health()).toBe(false);
  });

  it.each([
    [404, () => indexerAt(started.url).nft(UNKNOWN)],
    [400, () => indexerAt(started.url).nft('0x00')],
    [403, () => indexerAt(closed).nft(worker.nft.nftId)],
    [500, () => indexerAt(empty).nft(worker.nft.nftId)],
    [404, () => new SingleNodeClient(started.url).outputRaw(`${UNKNOWN}0000`)],
    [400, () => new SingleNodeClient(started.url).outputRaw('0x00')],
    [403, () => new SingleNodeClient(closed).outputRaw(worker.nft.outputId)],
    [500, () => new SingleNodeClient(empty).outputRaw(worker.nft.outputId)],
  ])('turns a %i into its error', async (status, ask) => {
    const error = await rejection(ask());
    expect(error).toBeInstanceOf(ClientError);
    const { code, message } = JSON.parse(errorBody(status)).error;
    expect(error).toMatchObject({ httpStatus: status, code, message });
  });
});

describe('the SDK', () => {
  const clientAt = (url: string) => new Client({ nodes: [url] });

  it('finds an NFT', async () => {
    expect(await clientAt(started.url).nftOutputId(worker.nft.nftId)).toBe(worker.nft.outputId);
  });

  it('reads the output that it found', async () => {
    const { output, metadata } = await clientAt(started.url).getOutput(worker.nft.outputId);
    expect(output).toMatchObject({ type: 6, amount: '170800' });
    expect(metadata).toMatchObject({ isSpent: false, ledgerIndex: LEDGER_INDEX });
  });

  it('understands what the node says of itself', async () => {
    const { nodeInfo } = await clientAt(started.url).getInfo();
    expect(nodeInfo).toMatchObject({
      status: { isHealthy: false, confirmedMilestone: { index: LEDGER_INDEX } },
      protocol: { networkName: 'shimmer' },
      baseToken: { name: 'Shimmer' },
    });
  });

  /** It takes no ID that is not one, but passes on what a plug-in is asked. */
  const askRaw = (url: string, path: string) =>
    clientAt(url).callPluginRoute('api/indexer/v1/', 'GET', path);

  it('turns a 404 into its own error', async () => {
    expect(await rejection(clientAt(started.url).nftOutputId(UNKNOWN))).toContain(
      `nft/${UNKNOWN} was not found`,
    );
  });

  it.each([
    [400, () => askRaw(started.url, 'outputs/nft/0x00')],
    [403, () => clientAt(closed).nftOutputId(worker.nft.nftId)],
    [500, () => clientAt(empty).nftOutputId(worker.nft.nftId)],
  ])('turns a %i into an error that says what the Worker said', async (status, ask) => {
    const { payload } = JSON.parse(String(await rejection(ask())));
    expect(payload.error).toContain(
      `node error: Response error with status code ${status}: ${errorBody(status)}`,
    );
  });

  it('refuses what is no ID before it asks', async () => {
    expect(await rejection(clientAt(started.url).nftOutputId('0x00'))).toContain('hex error');
  });
});
