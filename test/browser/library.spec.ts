/**
 * The verifier of the library in a page of Chromium and of Firefox, bundled without polyfills: every
 * certificate of a recorded network verifies there, and none that was changed does.
 */
import { createServer, type Server } from 'node:http';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { listen } from '../support/edge/launch.ts';
import { type Answering, certificatePath, frozenAt } from '../support/lies/nft-liars.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { milestoneAt } from '../support/network/network-model.ts';
import { heldAt, holdersOf } from '../support/network/nft-places.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { changeField } from '../support/stardust/changed-json.ts';

const NEWEST = 125;
const CHANGED = 60;

const network = recordedNetwork('network-n');
const holders = holdersOf(network);
const { timestamp } = milestoneAt(network, NEWEST)!;

/** What the page defines: `verify(nodes, nftIds)`, and `prove(nftId, certificates)`. */
const PAGE = `
import { createVerifier } from './src/stardust/verifier.ts';
import { fromHex } from './src/stardust/encoding/bytes.ts';
import { verifyEd25519 } from './src/stardust/crypto/ed25519.ts';
import { proveCertificate } from './src/stardust/provenance/provenance.ts';

globalThis.verify = async ({ nodes, publicKeys, threshold, networkName, time, nftIds }) => {
  const keys = publicKeys.map((key) => ({ publicKey: fromHex(key), first: 0, last: 0 }));
  const verifier = createVerifier({ nodes, keys, threshold, networkName, now: () => time });
  const found = [];
  for (const nftId of nftIds)
    found.push(await verifier.nft(nftId).then(
      ({ standing, outputId, guarantee }) => [standing, outputId ?? null, guarantee],
      ({ name, shown }) => [name, shown?.outputId ?? null, shown?.guarantee ?? null],
    ));
  return found;
};

globalThis.prove = async ({ publicKeys, threshold, certificates }) => {
  const keys = publicKeys.map((key) => ({ publicKey: fromHex(key), first: 0, last: 0 }));
  const trust = { whose: 'the keys', keys: { keys, threshold }, verify: verifyEd25519 };
  const found = [];
  for (const [nftId, certificate] of certificates)
    found.push((await proveCertificate(certificate, nftId, trust)).standing);
  return found;
};
`;

let server: Server;
let url: string;
const certificates: [nftId: string, certificate: Record<string, unknown>][] = [];

beforeAll(async () => {
  const nodes: Record<string, Answering> = {
    current: await frozenAt(network, NEWEST),
    old: await frozenAt(network, NEWEST - 50),
  };
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: `${import.meta.dirname}/../..`, loader: 'js' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome110', 'firefox110', 'safari16.4'],
    write: false,
  });
  const page = `<!doctype html><link rel="icon" href="data:," /><title>Wallet</title>`;
  server = createServer(async (request, response) => {
    const [, node, path] = /^\/(current|old|again)(\/api\/.*)$/.exec(request.url!) ?? [];
    if (node !== undefined) {
      const answer = await (nodes[node] ?? nodes.current!)(path!);
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      return response.end(await answer.text());
    }
    const isScript = request.url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    return response.end(isScript ? outputFiles[0]!.text : page);
  });
  url = await listen(server);
  for (const nftId of holders.keys()) {
    const answer = await nodes.current!(certificatePath(nftId));
    if (answer.ok) certificates.push([nftId, await answer.json()]);
  }
});
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

const trust = {
  publicKeys: network.keys.keys.map(({ publicKey }) => toHex(publicKey)),
  threshold: network.keys.threshold,
};

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;
  let page: DrivenPage;

  beforeAll(async () => {
    browser = await launch();
    page = await browser.open(`${url}/`, 'desktop');
    await page.evaluate("import('/page.js').then(() => 0)");
  });
  afterAll(() => browser?.close());

  const verify = (nodes: readonly string[]) => {
    const asked = {
      ...trust,
      nodes: nodes.map((name) => `${url}/${name}`),
      networkName: network.genesis.parameters.networkName,
      time: timestamp + 5,
      nftIds: certificates.map(([nftId]) => nftId),
    };
    return page.evaluate(`verify(${JSON.stringify(asked)})`) as Promise<[string, string, string][]>;
  };

  it('says of every NFT that has a certificate who holds it, or that it was burned', async () => {
    const due = certificates.map(([nftId]) => {
      const held = heldAt(holders.get(nftId)!, NEWEST);
      return [held === undefined ? 'burned' : 'held', held ?? null, 'unrefuted'];
    });
    expect(await verify(['current', 'old', 'again'])).toEqual(due);
    expect(new Set(due.map(([standing]) => standing)).size).toBe(2);
    expect(page.faults).toEqual([]);
  });

  it('calls nothing unrefuted that only nodes say that stand still', async () => {
    for (const [name, , guarantee] of await verify(['old'])) {
      expect(name).toBe('Unproven');
      expect(guarantee).not.toBe('unrefuted');
    }
  });

  it(`refuses each of ${CHANGED} changed certificates`, async () => {
    const random = freshRandom();
    const changed = Array.from({ length: CHANGED }, () => {
      const [nftId, certificate] = structuredClone(random.pick(certificates));
      changeField(certificate, random);
      return [nftId, certificate];
    });
    const prove = (those: unknown) =>
      page.evaluate(`prove(${JSON.stringify({ ...trust, certificates: those })})`);
    expect(await prove(changed)).toEqual(changed.map(() => 'refuted'));
    expect(await prove(certificates)).toEqual(certificates.map(() => 'proved'));
  });
});
