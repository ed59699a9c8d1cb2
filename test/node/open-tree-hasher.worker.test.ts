/**
 * TREE_HASHER in an isolate: which hasher works out the roots of a request, which those that are
 * held against signatures, and what happens when the unrolled one is wrong in a bit.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { openNode } from '../../src/node/open-node.ts';
import { toHex } from '../../src/stardust/bytes.ts';
import type { TreeHasherName } from '../../src/stardust/tree-hasher/choose-tree-hasher.ts';
import { unrolledTreeHasher } from '../../src/stardust/tree-hasher/unrolled-tree-hasher.ts';
import { followTo, questionOf, startLedger } from '../support/ledger/ledger-harness.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const BLOCKS = 30;
const network = new SyntheticNetwork({ seed: 'tree hasher' });
for (let milestone = 1; milestone <= 2; milestone++) {
  for (let i = 0; i < BLOCKS; i++) network.note();
  network.milestone();
}

const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
const hashRight = unrolledTreeHasher.hashPair;
const hashed = vi.spyOn(unrolledTreeHasher, 'hashPair');

function hashWrong(words: Uint32Array, from: number, to: number): void {
  hashRight(words, from, to);
  words[to]! ^= 1 << 17;
}

beforeAll(async () => {
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 2);
});

afterEach(() => {
  logged.mockClear();
  hashed.mockReset();
});

function open(treeHasher: TreeHasherName) {
  return openNode({
    ledger: env.LEDGER,
    nftIndex: env.NFT_INDEX,
    follower: env.FOLLOWER,
    whiteFlagLimit: undefined,
    fetchLimit: undefined,
    scanLimit: undefined,
    requests: undefined,
    oneIsolate: false,
    versionId: undefined,
    upstreams: [],
    milestoneKeys: undefined,
    upstreamToken: undefined,
    publicRoutes: [],
    protectedRoutes: [],
    apiUser: undefined,
    apiToken: undefined,
    finalMilestone: undefined,
    retentionMilestones: 100,
    treeHasher,
    serverTiming: false,
  });
}

/** What the milestone's issuer asked: its roots are the signed ones, or the test fails. */
async function expectSignedRoots(node: ReturnType<typeof open>): Promise<void> {
  const { question, answer } = questionOf(network, 2);
  const result = await node.computeWhiteFlag({
    ...question,
    parents: question.parents.map((id) => id.slice(2)),
    previousMilestoneId: question.previousMilestoneId!.slice(2),
  });
  if (!result.ok) throw new Error(result.detail);
  expect({
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
  }).toEqual(answer);
}

it("hashes by noble's unless told otherwise", async () => {
  await expectSignedRoots(open('noble'));
  expect(hashed).not.toHaveBeenCalled();
  expect(logged).not.toHaveBeenCalled();
});

it('hashes the roots of requests by the unrolled one where that is set', async () => {
  const node = open('unrolled');
  hashed.mockClear();
  await expectSignedRoots(node);
  expect(hashed.mock.calls.length).toBeGreaterThanOrEqual(BLOCKS);
  expect(logged).not.toHaveBeenCalled();
});

it("hashes by noble's, and logs an error, when the unrolled one is wrong in a bit", async () => {
  hashed.mockImplementation(hashWrong);
  const node = open('unrolled');
  expect(logged).toHaveBeenCalledOnce();
  expect(JSON.parse(String(logged.mock.calls[0]![0]))).toEqual({
    event: 'tree hasher',
    fault: expect.stringMatching(/^unrolled: a node is [0-9a-f]{64} and must be [0-9a-f]{64}$/),
    instead: 'noble',
  });
  hashed.mockClear();
  await expectSignedRoots(node);
  expect(hashed).not.toHaveBeenCalled();
});

it('would answer wrong roots if it used a hasher that is wrong: the bit shows', async () => {
  const node = open('unrolled');
  hashed.mockImplementation(hashWrong);
  await expect(expectSignedRoots(node)).rejects.toThrow(/to deeply equal/);
});

it("applies milestones, and proves blocks, by noble's whatever is set", async () => {
  hashed.mockImplementation(hashWrong);
  const node = open('unrolled');
  hashed.mockClear();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 2);
  const block = [...network.blocks].find(([, { referenced }]) => referenced?.index === 2)![0];
  expect(await node.proveBlock(block.slice(2))).toBeDefined();
  expect(hashed).not.toHaveBeenCalled();
});
