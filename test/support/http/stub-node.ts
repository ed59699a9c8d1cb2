/** An app over made-up data: what the HTTP layer does, with no ledger behind it. */

import { createApp } from '../../../src/http/app.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import type { NodeStatus } from '../../../src/ledger/read/node-status.ts';
import { MODULES } from '../../../src/modules/list.ts';
import type { Module } from '../../../src/modules/module.ts';
import type { WhiteFlagResult } from '../../../src/node/compute-white-flag.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';
import type { Settings } from '../../../src/settings.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { defaultSettings } from '../default-settings.ts';
import type { Facts, Fetch } from './contract.ts';
import { checkingDescription } from './described.ts';

const id = (byte: string) => `0x${byte.repeat(32)}`;

export const facts: Facts = {
  ledgerIndex: 17_339,
  genesisIndex: 2,
  ledgerTimestamp: 1_664_385_901,
  nftId: id('c7'),
  nftOutputId: `${id('d1')}0100`,
  whiteFlag: {
    index: 17_340,
    timestamp: 1_664_385_906,
    parents: [id('b2'), id('a1'), id('f0')],
    previousMilestoneId: id('ef'),
  },
  roots: { inclusionMerkleRoot: id('11'), appliedMerkleRoot: id('22') },
};

export const status: NodeStatus = {
  ledger: {
    index: facts.ledgerIndex,
    timestamp: facts.ledgerTimestamp,
    milestoneId: 'ef'.repeat(32),
  },
  fingerprint: '00f1a2b3c4d5e',
  genesisIndex: facts.genesisIndex,
  nextBlock: 5000,
  nextOutput: 2 ** 40,
  pruningIndex: 17_000,
  retention: { kept: 338, configured: 17_280 },
  database: { bytes: 1_400_000_000, limitBytes: 10_000_000_000 },
  parameters: {
    version: 2,
    networkName: 'shimmer',
    bech32Hrp: 'smr',
    minPowScore: 1500,
    belowMaxDepth: 15,
    rentStructure: { vByteCost: 100, vByteFactorData: 1, vByteFactorKey: 10 },
    tokenSupply: 1_813_620_509_061_365n,
  },
  pendingParameters: [],
  upstream: undefined,
  follower: { state: 'off' },
  finalMilestone: undefined,
  referencedBlocksPerSecond: 8.6,
};

/** Without a ledger: nothing is selected. */
const emptyDatabase = {
  prepare() {
    const statement = { bind: () => statement, all: async () => ({ results: [] }) };
    return statement;
  },
  batch: async (statements: readonly unknown[]) => statements.map(() => ({ results: [] })),
} as unknown as Database;

/** It refuses nothing: a real ledger does (test/whole/running-worker.test.ts). */
const roots: WhiteFlagResult = {
  ok: true,
  inclusionMerkleRoot: fromHex(facts.roots.inclusionMerkleRoot),
  appliedMerkleRoot: fromHex(facts.roots.appliedMerkleRoot),
  blocks: 43,
  stages: { d1: 5, walk: 1 },
};

/** What the other methods answer is `undefined`: not found. */
export const stubNode = {
  computeWhiteFlag: async () => roots,
  answerProposal: async () => ({ ok: false, reason: 'unknown', detail: 'made up' }),
  lookUpNft: async (nftId) => ({
    ledgerIndex: facts.ledgerIndex,
    outputId: `0x${nftId}` === facts.nftId ? facts.nftOutputId.slice(2) : undefined,
    source: 'kv',
    why: 'range',
  }),
  readIndexedKinds: async () => ['nft'],
  session: () => emptyDatabase,
  readStatus: async () => status,
  readGeneration: async () => 'made-up',
} satisfies Partial<EdgeNode>;

const stubs: Partial<EdgeNode> = stubNode;

function completeNode(node: Partial<EdgeNode>): EdgeNode {
  return new Proxy(node as EdgeNode, {
    get(own, name: keyof EdgeNode) {
      const having = [own, stubs].find((each) => each[name] !== undefined);
      return having === undefined ? async () => undefined : having[name];
    },
  });
}

export interface StubParts {
  node?: Partial<EdgeNode>;
  settings?: Partial<Settings>;
  modules?: readonly Module[];
}

/** Static files that are empty objects, with the type of their names. */
const stubFiles = {
  async fetch(url: string): Promise<Response> {
    const [, name = 'js'] = /\.(\w+)$/.exec(url) ?? [];
    const types: Record<string, string> = {
      html: 'text/html',
      ico: 'image/vnd.microsoft.icon',
      json: 'application/json',
      txt: 'text/plain',
    };
    return new Response('{}', { headers: { 'content-type': types[name] ?? 'text/javascript' } });
  },
};

/**
 * Asks an app of these parts; work that goes on after the answer is waited for. Every answer is held
 * against openapi.json.
 */
export function fetchFrom({ node = {}, settings = {}, modules = MODULES }: StubParts = {}): Fetch {
  const app = createApp({
    settings: { ...defaultSettings({ ASSETS: stubFiles }), ...settings },
    node: completeNode(node),
    modules,
  });
  return checkingDescription(async (path, init) => {
    const deferred: Promise<unknown>[] = [];
    const ctx = {
      waitUntil: (work: Promise<unknown>) => deferred.push(work),
    } as unknown as ExecutionContext;
    const response = await app.fetch(new Request(`http://edge.example${path}`, init), ctx);
    await Promise.all(deferred);
    return response;
  });
}
