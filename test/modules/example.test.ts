/**
 * The example of src/modules/README.md, examples/demo/, counts no NFT that was burned. `npm run
 * test:slow -- modules` does all that the page says of it, and type checks it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { HttpError } from '../../src/http/errors.ts';
import type { Operations } from '../../src/http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../src/http/route.ts';
import type { Module } from '../../src/modules/module.ts';
import { recordedNode } from '../support/http/recorded-node.ts';
import { holdersOf, nftsAt } from '../support/network/nft-places.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const INDEX = 90;

const example = join(PROJECT, 'examples/demo');
const moduleText = readFileSync(join(example, 'module.ts'), 'utf8');
const testText = readFileSync(join(example, 'test.ts'), 'utf8');

mkdirSync(join(PROJECT, 'dist'), { recursive: true });
const folder = mkdtempSync(join(PROJECT, 'dist/example-'));
afterAll(() => rmSync(folder, { recursive: true }));

const modulePath = join(folder, 'module.ts');
const toSource = (_: string, path: string) => `from '${join(PROJECT, 'src/modules/demo', path)}'`;
writeFileSync(modulePath, moduleText.replace(/from '(\.[^']+)'/g, toSource));

interface Example {
  demo: Module;
  describeDemo(): Operations<RouteTable>;
}

it('counts the NFTs that are there, not those that were burned', async () => {
  const network = recordedNetwork('network-n');
  const node = await recordedNode(network, INDEX);
  const { demo, describeDemo }: Example = await import(modulePath);
  const ask = async (minLedgerIndex: string) => {
    const headers = { 'x-min-ledger-index': minLedgerIndex };
    const request = new Request('http://edge.example/api/edge/v1/demo', { headers });
    return demo.routes!.readDemo!.handle({ request, node } as RouteContext);
  };
  const db = node.session(undefined);
  const { results } = await db.prepare('SELECT 1 FROM nft WHERE output IS NULL').all();
  expect(results.length).toBeGreaterThan(0);
  const { body } = await ask('1');
  const nftCount = nftsAt(holdersOf(network), INDEX).size;
  expect(JSON.parse(body as string)).toEqual({ ledgerIndex: INDEX, nftCount });
  expect(testText).toContain(`{ ledgerIndex: ${INDEX}, nftCount: ${nftCount} }`);
  // such an answer has these two errors
  expect(describeDemo().readDemo!.answer.ledgerIndex).toBe('tagged');
  for (const [minimum, status] of [
    ['latest', 400],
    [`${INDEX + 1}`, 404],
  ] as const) {
    const error: unknown = await ask(minimum).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ status });
  }
});
