/**
 * The built Worker with its own D1, KV and Durable Object, over real HTTP, at one milestone of a recorded network that a double of a node serves.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readD1Migrations } from '@cloudflare/vitest-plugin';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { toHexDigits } from '../../src/stardust/bytes.ts';
import { encode } from '../../src/stardust/codec.ts';
import { decodeOutput, nftIdOfOutput } from '../../src/stardust/ids.ts';
import { protocolParametersOption } from '../../src/stardust/milestone.ts';
import { protocolParameters } from '../../src/stardust/parameters.ts';
import { buildWorker, readModules } from '../edge/bundle.ts';
import { ledgerAt, milestoneAt, type Network } from '../network/model.ts';
import { type RecordedName, recordedNetwork, recordedQuestions } from '../network/recorded.ts';
import { NodeDouble } from '../upstream/double.ts';
import { type Facts, type Fetch, NFT } from './contract.ts';

export interface RunningWorker {
  fetch: Fetch;
  /** Where it listens. */
  url: URL;
  facts: Facts;
  /** Everything that the Worker logged so far. */
  log: { level: string; message: string }[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a snapshot import leaves behind, for a network whose genesis is its snapshot. */
async function importGenesis(db: D1Database, network: Network): Promise<void> {
  const { index, timestamp, treasury, parameters } = network.genesis;
  const zero = '0'.repeat(64);
  const option = encode(protocolParametersOption, {
    type: 1,
    targetMilestoneIndex: index,
    protocolVersion: parameters.version,
    parameters: encode(protocolParameters, parameters),
  });
  const outputs = ledgerAt(network, index).map((output) =>
    db
      .prepare('INSERT INTO output (id, bytes, block, created, created_time, seen) VALUES (?1, ?2, ?3, ?4, ?5, ?4)')
      .bind(
        toHexDigits(output.outputId),
        output.bytes.toBase64(),
        toHexDigits(output.blockId),
        output.bookedIndex,
        output.bookedTimestamp,
      ),
  );
  const migrations = await readD1Migrations('migrations');
  await db.batch(migrations.flatMap(({ queries }) => queries.map((query) => db.prepare(query))));
  await db.batch([
    db.prepare("INSERT INTO head VALUES (1, 'test', ?1, ?1, ?1, ?2, ?3, 0)").bind(index, zero, String(treasury)),
    db.prepare('INSERT INTO milestone VALUES (?1, ?2, ?3, NULL)').bind(index, zero, timestamp),
    db.prepare('INSERT INTO block (row, id, milestone, seen) VALUES (1, ?1, ?2, ?2)').bind(zero, index),
    db.prepare('INSERT INTO parameters VALUES (?1, ?1, ?2)').bind(index, option.toBase64()),
    ...outputs,
  ]);
}

function factsOf(network: Network, name: RecordedName, ledgerIndex: number): Facts {
  const question = recordedQuestions(name).find(
    (each) => each.ledgerIndex === ledgerIndex && each.status === 200 && (each.request as Facts['whiteFlag']).index > 0,
  );
  const nft = ledgerAt(network, ledgerIndex)
    .map(({ outputId, bytes }) => ({ outputId, nftId: nftIdOfOutput(decodeOutput(bytes), outputId) }))
    .find(({ nftId }) => nftId !== undefined);
  if (question === undefined || nft?.nftId === undefined) throw new Error(`nothing to ask at milestone ${ledgerIndex}`);
  return {
    ledgerIndex,
    genesisIndex: network.genesis.index,
    ledgerTimestamp: milestoneAt(network, ledgerIndex)!.timestamp,
    nftId: `0x${toHexDigits(nft.nftId)}`,
    nftOutputId: `0x${toHexDigits(nft.outputId)}`,
    whiteFlag: question.request as Facts['whiteFlag'],
    roots: question.response as Facts['roots'],
  };
}

export async function runWorker(name: RecordedName, ledgerIndex: number): Promise<RunningWorker> {
  const network = recordedNetwork(name);
  const double = await NodeDouble.start(network, { confirmed: ledgerIndex });
  const folder = await mkdtemp(join(tmpdir(), 'worker-'));
  await buildWorker(folder);
  const log: RunningWorker['log'] = [];
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      cf: false,
      logRequests: false,
      handleStructuredLogs: ({ level, message }) => void log.push({ level, message }),
      modulesRoot: folder,
      modules: await readModules(folder),
      compatibilityDate: '2026-11-01',
      d1Databases: ['LEDGER'],
      kvNamespaces: ['NFT_INDEX'],
      durableObjects: { FOLLOWER: { className: 'Follower', useSQLite: true } },
      bindings: {
        UPSTREAM_URL: double.url,
        MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => toHexDigits(publicKey)).join(','),
        MILESTONE_THRESHOLD: String(network.keys.threshold),
      },
    }),
  );
  const db: D1Database = await miniflare.getD1Database('LEDGER');
  await importGenesis(db, network);
  const url = await miniflare.ready;
  const request: Fetch = (path, init) => fetch(url.origin + path, init);
  const facts = factsOf(network, name, ledgerIndex);
  await waitForIndex(request, facts);
  return {
    fetch: request,
    url,
    facts,
    log,
    async [Symbol.asyncDispose]() {
      await miniflare.dispose();
      await double.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The Worker follows by itself, woken by its first request; the NFT index comes after the ledger. */
async function waitForIndex(request: Fetch, { nftId, ledgerIndex }: Facts): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { headers } = await request(NFT + nftId);
    if (headers.get('x-ledger-index') === String(ledgerIndex)) return;
    if (Date.now() > deadline) throw new Error(`the Worker stays at milestone ${headers.get('x-ledger-index')}`);
    await setTimeout(100);
  }
}
