/**
 * Reads a second of running nodes that follow the same network, by wrk. A benchmark of its own, as
 * the nodes are started by hand: this one by `npm run serve`, HORNET by its own command.
 */
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMain, UsageError } from '../cli/lib/process/command-line.ts';

const USAGE = `Usage: node tools/run.js bench/reads.ts URL [URL…]

Prints a table: reads a second of each route, a column for each node. IDs are taken from the first
node, which must be an edge node. Needs wrk (Debian's package of this name).

Environment:
  SECONDS       how long each route is read; default: 5
  CONNECTIONS   default: 16`;

/** IDs that a route reads in turn, at most. */
const MAX_IDS = 500;

/** More than are read in the second for which `serve` keeps an answer. */
const MAX_COLD_IDS = 20_000;

const MILESTONES = 100;

const LUA = `
local paths = {}
for path in io.lines(os.getenv('PATHS')) do paths[#paths + 1] = path end
local next = 0
request = function()
  next = next % #paths + 1
  return wrk.format('GET', paths[next])
end`;

interface NftEntry {
  nftId: string;
  owner: { address: string };
  metadata: { blockId: string; transactionId: string };
}

async function read<T>(url: string): Promise<T> {
  const response = await fetch(url);
  assert.equal(response.status, 200, `${url}: status ${response.status}`);
  return (await response.json()) as T;
}

/** Paths by the name of what they read. */
async function pathsOf(node: string): Promise<Map<string, string[]>> {
  const core = '/api/core/v2';
  const outputs = '/api/indexer/v1/outputs/nft';
  const ids: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined && ids.length < MAX_COLD_IDS; ) {
    const page: { items: string[]; cursor?: string } = await read(
      `${node}${outputs}?pageSize=1000${cursor && `&cursor=${cursor}`}`,
    );
    ids.push(...page.items);
    cursor = page.cursor;
  }
  const nfts: NftEntry[] = [];
  for (let i = 0; i < Math.min(ids.length, MAX_IDS); i += 100) {
    const some = ids.slice(i, Math.min(i + 100, MAX_IDS)).join();
    nfts.push(...(await read<{ nfts: NftEntry[] }>(`${node}/api/edge/v1/nfts?ids=${some}`)).nfts);
  }
  const { status } = await read<{ status: { confirmedMilestone: { index: number } } }>(
    `${node}${core}/info`,
  );
  const last = status.confirmedMilestone.index;
  const indexes = Array.from({ length: Math.min(MILESTONES, last - 1) }, (_, i) => last - i);
  const hot = ids.slice(0, MAX_IDS);
  return new Map([
    ['info', [`${core}/info`]],
    ['NFT lookup', nfts.map(({ nftId }) => `${outputs}/${nftId}`)],
    ['output', hot.map((id) => `${core}/outputs/${id}`)],
    ['output metadata', hot.map((id) => `${core}/outputs/${id}/metadata`)],
    [`output, ${ids.length} in turn`, ids.map((id) => `${core}/outputs/${id}`)],
    ['block', nfts.map(({ metadata }) => `${core}/blocks/${metadata.blockId}`)],
    ['block metadata', nfts.map(({ metadata }) => `${core}/blocks/${metadata.blockId}/metadata`)],
    [
      'included block',
      nfts.map(({ metadata }) => `${core}/transactions/${metadata.transactionId}/included-block`),
    ],
    ['milestone by index', indexes.map((index) => `${core}/milestones/by-index/${index}`)],
    [
      'changes of a milestone',
      indexes.map((index) => `${core}/milestones/by-index/${index}/utxo-changes`),
    ],
    ['NFTs by address', nfts.map(({ owner }) => `${outputs}?address=${owner.address}`)],
    ['treasury', [`${core}/treasury`]],
    ['tips', [`${core}/tips`]],
    ['NFT with output and owner', nfts.map(({ nftId }) => `/api/edge/v1/nfts/${nftId}`)],
  ]);
}

/** Reads a second, or undefined if the node has no such route. Throws if only some succeed. */
async function measure(node: string, paths: readonly string[], folder: string) {
  if ((await fetch(node + paths[0])).status !== 200) return undefined;
  const files = { PATHS: join(folder, 'paths'), lua: join(folder, 'reads.lua') };
  writeFileSync(files.PATHS, paths.join('\n'));
  writeFileSync(files.lua, LUA);
  const { SECONDS = '5', CONNECTIONS = '16' } = process.env;
  const wrk = (seconds: string) =>
    execFileSync(
      'wrk',
      ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '20s', '-s', files.lua, node],
      {
        env: { ...process.env, PATHS: files.PATHS },
        encoding: 'utf8',
      },
    );
  wrk('1');
  const printed = wrk(SECONDS);
  assert.doesNotMatch(printed, /Non-2xx|Socket errors/, `${paths[0]}: ${printed}`);
  return Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(printed)![1]));
}

await runMain(USAGE, async (args) => {
  const nodes = args.map((arg) => arg.replace(/\/$/, ''));
  if (nodes.length === 0) throw new UsageError('URL of a node is missing');
  const folder = mkdtempSync(join(tmpdir(), 'reads-'));
  try {
    console.log(`| read | ${nodes.join(' | ')} |\n|---|${'---|'.repeat(nodes.length)}`);
    for (const [name, paths] of await pathsOf(nodes[0]!)) {
      const rates: string[] = [];
      for (const node of nodes)
        rates.push((await measure(node, paths, folder))?.toLocaleString('en') ?? '–');
      console.log(`| ${name} | ${rates.join(' | ')} |`);
    }
    return 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
});
