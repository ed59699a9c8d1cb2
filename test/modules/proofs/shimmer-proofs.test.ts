/**
 * Proofs of real blocks: both Shimmer milestones are taken into a ledger, every block of theirs is
 * proven by it, and the proofs are checked as anybody checks them, with `stardust-edge
 * conformance`. In a proof, made here or recorded elsewhere, no byte can be changed.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { README_PARAMETERS } from '../../../cli/conformance/parameters.ts';
import { runVector } from '../../../cli/conformance/run-vector.ts';
import { importSnapshot } from '../../../cli/lib/import/import-snapshot.ts';
import { openLocalDatabase } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { sampleKeys } from '../../../cli/start/prepare-sample.ts';
import {
  CONFIRMED,
  PROPOSED,
  readNetwork,
  readSampleMilestone,
  SNAPSHOT,
  sampleUpstream,
} from '../../../cli/start/sample.ts';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import { followOnce } from '../../../src/follower/pass.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { VerifySignature } from '../../../src/stardust/milestone-keys.ts';
import { blockId } from '../../../src/stardust/wire/ids.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { spoil } from '../../support/stardust/changed-json.ts';
import { readJson } from '../../support/vectors.ts';

type File = Record<string, unknown>;

const PROJECT = join(import.meta.dirname, '../../..');
const BLOCKS = { [CONFIRMED]: 38, [PROPOSED]: 43 };
const proofs: { index: number; id: string; file: File }[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofs-'));
  const db = await openLocalDatabase(folder, readWranglerConfig());
  try {
    await takeBothIn(db);
    const fetch = fetchFrom({ node: { session: () => db } });
    for (const index of [CONFIRMED, PROPOSED]) {
      for (const id of readSampleMilestone(index).blocks.map((bytes) =>
        toHex(blockId(fromHex(bytes))),
      )) {
        const response = await fetch(`/api/edge/v1/blocks/${id}/proof`);
        expect(response.status).toBe(200);
        proofs.push({ index, id, file: (await response.json()) as File });
      }
    }
  } finally {
    db.close();
  }
});
afterAll(() => rm(folder, { recursive: true }));

async function takeBothIn(db: Database): Promise<void> {
  const keys = sampleKeys(readNetwork());
  await importSnapshot(db, { full: SNAPSHOT, delta: undefined, keys });
  const tools = {
    verify: verifySignature,
    memory: createFollowerMemory(),
    publish: async () => {},
    retention: 100,
  };
  const budget = { deadline: Date.now() + 30_000, milestones: 2 };
  const { applied } = await followOnce(
    { db, upstreams: [bothMilestones()], keys, ...tools },
    budget,
  );
  expect(applied).toBe(2);
}

/** The sample's node, once it has confirmed the second milestone too. */
function bothMilestones(): Upstream {
  const sample = sampleUpstream();
  const payload = fromHex(readSampleMilestone(PROPOSED).payload);
  return {
    ...sample,
    readHeads: async () => ({ ...(await sample.readHeads()), confirmed: PROPOSED }),
    readMilestone: async (index) => (index === PROPOSED ? payload : sample.readMilestone(index)),
  };
}

const verdicts = new Map<string, Promise<boolean>>();

/** Most changes leave most signatures as they were: these are verified once. */
const verifyOnce: VerifySignature = (...signature) => {
  const key = signature.map(toHex).join();
  const verdict = verdicts.get(key) ?? verifySignature(...signature);
  verdicts.set(key, verdict);
  return verdict;
};

/**
 * Whether the checker takes the file. If not, it must be for a reason, and not because it broke.
 */
async function passes(json: unknown): Promise<boolean> {
  const { failure } = await runVector(JSON.stringify(json), README_PARAMETERS, verifyOnce);
  expect(failure ?? '').not.toContain('failed with an error');
  return failure === undefined;
}

describe('every block of the two milestones', () => {
  it('is proven, and its transaction where it was applied', () => {
    const count = (index: number) => proofs.filter((proof) => proof.index === index).length;
    expect({ [CONFIRMED]: count(CONFIRMED), [PROPOSED]: count(PROPOSED) }).toEqual(BLOCKS);
    for (const { index, file } of proofs) {
      expect(file.milestone).toMatchObject({ index });
      const { payload } = file.block as { payload?: { type: number } };
      // none of these milestones has a transaction that conflicts
      expect('appliedProof' in file).toBe(payload?.type === 6);
    }
  });

  it('passes `stardust-edge conformance`, as lines of one file and as a file of its own', async () => {
    const lines = join(folder, 'proofs.jsonl');
    const document = join(folder, 'proof.json');
    await writeFile(lines, proofs.map(({ file }) => `${JSON.stringify(file)}\n`).join(''));
    await writeFile(document, JSON.stringify(proofs[0]!.file, undefined, 2));
    const script = join(PROJECT, 'cli/stardust-edge.js');
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[script, 'conformance'],
      ...[lines, document],
    ]);
    expect(stdout).toBe(`${proofs.length + 1} passed, 0 failed\n`);
  });

  it('has a proof of its own', async () => {
    for (const [i, { file, index }] of proofs.entries()) {
      const next = proofs[(i + 1) % proofs.length]!.file;
      expect(await passes({ ...file, block: next.block })).toBe(false);
      expect(await passes({ ...file, proof: next.proof })).toBe(false);
      const other = proofs.find((proof) => proof.index !== index)!.file;
      expect(await passes({ ...file, milestone: other.milestone })).toBe(false);
      if ('appliedProof' in file)
        expect(await passes({ ...file, appliedProof: file.proof })).toBe(false);
    }
  });
});

/** Bytes of which one is changed: all of them by `npm run test:slow -- proofs`. */
const STRIDE = process.env.SLOW ? 1 : 20;

describe('no changed byte passes', () => {
  const spoiltThatPass = async (files: Iterable<{ place: string; json: unknown }>) => {
    const places: string[] = [];
    let at = 0;
    for (const { place, json } of files)
      if ((at++ % STRIDE === 0 || !place.includes(' byte ')) && (await passes(json)))
        places.push(place);
    return places;
  };

  it.each(['private-network', 'shimmer-3857880'])(
    'in the recorded proof %s: any byte',
    async (name) => {
      expect(await spoiltThatPass(spoil(readJson(`proofs/${name}.json`)))).toEqual([]);
    },
    120_000,
  );

  it('in ours: any byte of one with a transaction that was applied', async () => {
    const { file } = proofs.find((proof) => 'appliedProof' in proof.file)!;
    expect(await spoiltThatPass(spoil(file))).toEqual([]);
  });

  it('in ours: every number of each, and some of its bytes', async () => {
    // of the bytes a stride that is no multiple of what repeats, begun elsewhere in each file
    const some = proofs.flatMap(({ file }, i) =>
      [...spoil(file)].filter(
        ({ place }, at) => !place.includes(' byte ') || (at + i * 7) % 211 === 0,
      ),
    );
    expect(some.length).toBeGreaterThan(proofs.length);
    expect(await spoiltThatPass(some)).toEqual([]);
  });
});
