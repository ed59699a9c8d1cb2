/**
 * The real milestones 17339 and 17340 of Shimmer, from the snapshot before them
 * (test/vectors/README.md): taken in as any node's would be, refused when a bit is wrong.
 */

import { beforeEach, describe, expect, it } from 'vitest';
import { importSnapshot } from '../../cli/lib/import/import-snapshot.ts';
import type { SqliteDatabase } from '../../cli/lib/wrangler/sqlite-database.ts';
import { sampleKeys } from '../../cli/start/prepare-sample.ts';
import {
  CONFIRMED,
  PROPOSED,
  readNetwork,
  readSampleMilestone,
  SNAPSHOT,
  sampleUpstream,
} from '../../cli/start/sample.ts';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { followOnce } from '../../src/follower/pass.ts';
import { outputColumns, readOutputBytes } from '../../src/ledger/core/output-bytes.ts';
import { computeWhiteFlag } from '../../src/node/compute-white-flag.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { blockId } from '../../src/stardust/wire/ids.ts';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { bringFrom, ledgerIndex, requestOf, rootsOf } from '../support/ledger/ledger-harness.ts';
import { dump, openMemory } from '../support/ledger/memory-database.ts';
import type { WhiteFlagCase } from '../support/network/network-model.ts';
import { oracleWhiteFlag, parsedBlocks } from '../support/oracle/product-and-oracle.ts';
import { readJson, readLines } from '../support/vectors.ts';

const keys = sampleKeys(readNetwork());
const sample = {
  [CONFIRMED]: readSampleMilestone(CONFIRMED),
  [PROPOSED]: readSampleMilestone(PROPOSED),
};

interface LedgerOutput {
  outputId: string;
  raw: string;
}

const created = (index: number) => readLines(`shimmer/${index}.created.jsonl`) as LedgerOutput[];
const consumed = (index: number) => readLines(`shimmer/${index}.consumed.jsonl`) as LedgerOutput[];

const node = sampleUpstream();

let db: SqliteDatabase;

beforeEach(async () => {
  db = await openMemory();
  await importSnapshot(db, { full: SNAPSHOT, delta: undefined, keys });
});

/** The sample's node as it was when it had confirmed `index`. */
function upstreamAt(index: number): Upstream {
  return {
    ...node,
    readHeads: async () => ({ ...(await node.readHeads()), confirmed: index }),
    readMilestone: async (asked) =>
      asked === CONFIRMED || asked === PROPOSED ? fromHex(sample[asked]!.payload) : undefined,
    async readReference(id) {
      const reference = await node.readReference(id);
      return reference != null && reference > index ? null : reference;
    },
    readTips: async () => [],
  };
}

const createTools = () => ({
  verify: verifySignature,
  memory: createFollowerMemory(),
  publish: async () => {},
  retention: 1000,
});

async function follow(upstream: Upstream): Promise<number> {
  const tools = createTools();
  // its position is in the head
  tools.memory.upkeep.scrubbedAt = Date.now();
  await followOnce(
    { db, upstreams: [upstream], keys, ...tools },
    { deadline: Date.now() + 60_000, milestones: 2 },
  );
  return ledgerIndex(db);
}

async function unspent(): Promise<Map<string, string>> {
  const { results } = await db.prepare(`SELECT ${outputColumns('output')} FROM output`).all();
  return new Map(
    results.map(({ id, bytes }) => [`0x${id}`, toHex(readOutputBytes(String(bytes), String(id)))]),
  );
}

type Request = WhiteFlagCase['request'];

/** Puts the question to the ledger as it stands; blocks that it lacks come from the node. */
async function ask(request: Request) {
  const ledger = await ledgerIndex(db);
  const following = { db, upstreams: [upstreamAt(ledger)], keys, ...createTools() };
  const options = { rules: following, bring: bringFrom(following) };
  const result = await computeWhiteFlag(db, requestOf(request), options);
  return result.ok ? rootsOf(result) : result;
}

function permutations<T>(values: readonly T[]): T[][] {
  if (values.length <= 1) return [[...values]];
  return values.flatMap((value, i) =>
    permutations(values.toSpliced(i, 1)).map((rest) => [value, ...rest]),
  );
}

describe('white flag for 17339, asked at ledger index 17338', () => {
  const request = readJson('shimmer/17339.whiteflag.request.json') as Request;
  const expected = readJson('shimmer/17339.whiteflag.expected.json');

  it('answers the signed roots', async () => {
    expect(await ask(request)).toEqual(expected);
  });

  // How the answers are known: by the oracle, an independent white flag that is nothing but the
  // rules E.1 to E.3 written down, and which gives the signed roots for the signed order and the
  // node's answer for every question of network-a and network-c
  // (test/self/networks.test.ts).
  it('gives, for 144 of the 720 orders of its parents, what the rules give', {
    timeout: 900_000,
  }, async () => {
    const blocks = parsedBlocks(...sample[CONFIRMED]!.blocks.map(fromHex));
    const ledger = [...(await unspent())].map(([id, bytes]) => [id, fromHex(bytes)] as const);
    const unspentOutputs = { unspent: new Map(ledger), spent: new Set<string>() };
    const given = { genesisMilestoneIndex: 0, blocks, ...unspentOutputs };
    const answers = new Set<string>();
    for (const parents of permutations(request.parents).filter((_, i) => i % 5 === 0)) {
      const asked = { ...request, parents };
      const { inclusionMerkleRoot, appliedMerkleRoot } = await oracleWhiteFlag({
        ...asked,
        ...given,
      });
      const answer = await ask(asked);
      expect(answer).toEqual({ inclusionMerkleRoot, appliedMerkleRoot });
      answers.add(JSON.stringify(answer));
    }
    expect(answers.size).toBeGreaterThan(20);
  });
});

it('takes both milestones in: the roots are the signed ones, and the ledger is what it was', async () => {
  const before = await unspent();
  expect(await follow(upstreamAt(PROPOSED))).toBe(PROPOSED);
  for (const index of [CONFIRMED, PROPOSED]) {
    for (const { outputId, raw } of created(index)) before.set(outputId, raw);
    for (const { outputId } of consumed(index)) before.delete(outputId);
  }
  expect(await unspent()).toEqual(before);
  const nfts = await db.prepare('SELECT id, output, changed FROM nft').all();
  expect(nfts.results.filter(({ changed }) => changed === PROPOSED)).toEqual([]);
});

describe('a bit that is wrong', () => {
  const flip = (bytes: Uint8Array, bit: number): Uint8Array => {
    const flipped = bytes.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    return flipped;
  };

  let before: Record<string, unknown[]>;

  beforeEach(async () => {
    before = await dump(db);
  });

  async function expectRefused(upstream: Upstream): Promise<void> {
    expect(await follow(upstream)).toBe(CONFIRMED - 1);
    expect({ ...(await dump(db)), follower: [] }).toEqual({ ...before, follower: [] });
  }

  it('in any block, or a block that is missing', async () => {
    const upstream = upstreamAt(CONFIRMED);
    for (const [i, block] of sample[CONFIRMED]!.blocks.map(fromHex).entries()) {
      const id = toHex(blockId(block)).slice(2);
      const spoilt = i % 4 === 3 ? undefined : flip(block, (i * 7919) % (block.length * 8));
      await expectRefused({
        ...upstream,
        readBlock: async (asked) => (asked === id ? spoilt : upstream.readBlock(asked)),
      });
    }
  });

  it('anywhere in the payload: roots, signatures, everything that is signed', {
    timeout: 900_000,
  }, async () => {
    const upstream = upstreamAt(CONFIRMED);
    const payload = fromHex(sample[CONFIRMED]!.payload);
    for (let bit = 0; bit < payload.length * 8; bit += 61) {
      await expectRefused({ ...upstream, readMilestone: async () => flip(payload, bit) });
    }
  });
});
