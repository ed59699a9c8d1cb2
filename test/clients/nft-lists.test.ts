/**
 * Lists of NFTs and of other outputs through clients as they are published: iota.js, the SDK in its build for
 * WebAssembly, and iota.go where Go and its modules are at hand. Each walks every page.
 */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { IndexerPluginClient, SingleNodeClient } from '@iota/iota.js';
import { Client, type NftQueryParameter } from '@iota/sdk-wasm/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { chainIdOf } from '../../src/stardust/wire/ids.ts';
import { type BasicOutput, OutputType } from '../../src/stardust/wire/output.ts';
import { addressIn } from '../../src/stardust/wire/unlock-condition.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import { type RunningWorker, runWorker } from '../support/http/running-worker.ts';
import { type ListName, plainList } from '../support/nft-list/plain-list.ts';
import { recordedNfts, recordedOutputs } from '../support/nft-list/recorded-nfts.ts';
import { tellSkipped } from '../support/tools.ts';

/** In the course of network-n; so that the follower has not far to go. */
const INDEX = 30;
const PREFIX = 'tst';
const PAGE_SIZE = 7;

const nfts = recordedNfts()(INDEX);
const owners = Map.groupBy(nfts, ({ output }) => toBech32(PREFIX, addressIn(output, 0)));
/** Who holds the most NFTs. */
const [holder] = [...owners].sort(([, a], [, b]) => b.length - a.length)[0]!;

const folder = temporaryFolder();

let worker: RunningWorker;

beforeAll(async () => {
  worker = await runWorker('network-n', INDEX, { INDEX: 'all' });
  const deadline = Date.now() + 30_000;
  while ((await worker.fetch('/api/indexer/v1/outputs')).status !== 200)
    if (Date.now() > deadline) throw new Error('the lists are not filled');
});
afterAll(() => worker.stop());

function expectedItems(query: string): string[] {
  const { items } = plainList(nfts, INDEX, PREFIX, query).response!;
  expect(items.length).toBeGreaterThan(2 * PAGE_SIZE);
  return items;
}

interface Page {
  items: string[];
  cursor?: string | undefined;
}

/** Asks for page after page; all items. */
async function walk(ask: (cursor: string | undefined) => Promise<Page>): Promise<string[]> {
  const items: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    expect(page.items.length).toBeLessThanOrEqual(PAGE_SIZE);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

describe('iota.js', () => {
  const nftsBy = (filters: Parameters<IndexerPluginClient['nfts']>[0]) => {
    const indexer = new IndexerPluginClient(new SingleNodeClient(worker.url));
    return walk((cursor) =>
      indexer.nfts({ ...filters, pageSize: PAGE_SIZE, ...(cursor !== undefined && { cursor }) }),
    );
  };

  it('all', async () => {
    expect(await nftsBy({})).toEqual(expectedItems(''));
  });

  it('by address, and by what else it can ask for', async () => {
    expect(await nftsBy({ addressBech32: holder })).toEqual(expectedItems(`address=${holder}`));
    expect(await nftsBy({ hasTimelock: false, createdAfter: 1 })).toEqual(
      expectedItems('hasTimelock=false&createdAfter=1'),
    );
  });
});

describe('the SDK', () => {
  /** It goes on to the last page by itself. */
  const nftsBy = async (...filters: NftQueryParameter[]) => {
    const client = new Client({ nodes: [worker.url], ignoreNodeHealth: true });
    return (await client.nftOutputIds([...filters, { pageSize: PAGE_SIZE }])).items;
  };

  it('all', async () => {
    expect(await nftsBy()).toEqual(expectedItems(''));
  });

  it('by whoever can unlock', async () => {
    expect(await nftsBy({ unlockableByAddress: holder })).toEqual(
      expectedItems(`unlockableByAddress=${holder}`),
    );
  });
});

describe('other kinds of outputs', () => {
  const outputs = recordedOutputs('network-n')(INDEX);
  const itemsOf = (list: ListName, query = '') =>
    plainList(outputs, INDEX, PREFIX, query, list).response!.items;
  const [alias] = outputs.filter(({ output }) => output.type === OutputType.Alias);
  const aliasId = toHex(chainIdOf(alias!.output, Uint8Array.fromHex(alias!.outputId))!);
  const [basic] = outputs.filter(({ output }) => output.type === OutputType.Basic);
  const owner = toBech32(PREFIX, addressIn(basic!.output as BasicOutput, 0));

  it('by iota.js', async () => {
    const indexer = new IndexerPluginClient(new SingleNodeClient(worker.url));
    const query = { addressBech32: owner };
    expect((await indexer.basicOutputs(query)).items).toEqual(itemsOf('basic', `address=${owner}`));
    expect((await indexer.aliases({})).items).toEqual(itemsOf('alias'));
    expect((await indexer.foundries({})).items).toEqual(itemsOf('foundry'));
    expect((await indexer.alias(aliasId)).items).toEqual([`0x${alias!.outputId}`]);
  });

  it('by the SDK', async () => {
    const client = new Client({ nodes: [worker.url], ignoreNodeHealth: true });
    expect((await client.outputIds([{ unlockableByAddress: owner }])).items).toEqual(
      itemsOf('all', `unlockableByAddress=${owner}`),
    );
    expect((await client.basicOutputIds([{ address: owner }])).items).toEqual(
      itemsOf('basic', `address=${owner}`),
    );
    expect((await client.aliasOutputIds([])).items).toEqual(itemsOf('alias'));
    expect((await client.foundryOutputIds([])).items).toEqual(itemsOf('foundry'));
    expect(await client.aliasOutputId(aliasId)).toBe(`0x${alias!.outputId}`);
  });
});

/** The program that was built, undefined where Go or a module is not to be had. */
function buildWithGo(): string | undefined {
  const program = join(folder, 'iota-go-client');
  const { status } = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(import.meta.dirname, 'iota-go'),
  });
  if (status === 0) return program;
  tellSkipped('iota.go: Go or its modules are not to be had');
  return undefined;
}

const program = buildWithGo();

describe.skipIf(program === undefined)('iota.go', () => {
  const walkWithGo = async (...address: string[]) => {
    const { stdout } = await promisify(execFile)(program!, [
      worker.url,
      String(PAGE_SIZE),
      ...address,
    ]);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '));
  };

  it.each([
    ['all', [], ''],
    ['by address', [holder], `address=${holder}`],
  ])('%s, and reads each output', async (_, address, query) => {
    const pages = await walkWithGo(...address);
    expect(pages.flatMap(([, ...items]) => items)).toEqual(expectedItems(query));
    for (const [read, ...items] of pages) expect(Number(read)).toBe(items.length);
  });

  // its `code` is a string, as HORNET's
  it('does not read an error', async () => {
    await expect(walkWithGo('nobody')).rejects.toThrow('unable to read error');
  });
});
