/**
 * The contract (docs/contract.md) over real HTTP, against the built Worker with a ledger of a
 * recorded network.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { blockToJson, milestoneToJson } from '../../src/stardust/json/rest-json.ts';
import { verifyPath } from '../../src/stardust/proof/proof.ts';
import { parseBlock } from '../../src/stardust/wire/block.ts';
import { badRequests, checkAnswer } from '../support/http/bad-requests.ts';
import {
  checkRow,
  expectError,
  type Facts,
  ledgerRows,
  nftRows,
  post,
  type Row,
  WHITE_FLAG,
  whiteFlagRows,
} from '../support/http/contract.ts';
import { type RunningWorker, runWorker } from '../support/http/running-worker.ts';
import { facts as madeUp } from '../support/http/stub-node.ts';
import { readMilestone } from '../support/network/blocks.ts';
import { freshRandom } from '../support/network/fresh-random.ts';
import { coneOf, milestoneAt } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

/** What is read of answers, which are held against openapi.json as a whole. */
interface ExplainedMilestone {
  blocks: {
    blockId: string;
    whiteFlagIndex: number;
    payload: string;
    ledgerInclusionState: string;
    conflictReason?: number;
    explanation?: string;
  }[];
}
interface BlockProof {
  milestone: unknown;
  block: unknown;
  proof: unknown;
  appliedProof?: unknown;
}

const BAD_REQUESTS = Number(process.env.BAD_REQUESTS ?? 100);

const LEDGER_INDEX = 70;
const network = recordedNetwork('network-a');
/** Of a milestone that is not applied yet. */
const later = coneOf(network, LEDGER_INDEX + 1)[0]!.id;
let worker: RunningWorker;

beforeAll(async () => {
  worker = await runWorker('network-a', LEDGER_INDEX);
});
afterAll(() => worker.stop());

/** Rows have the same places for all facts; the facts are known only once the Worker runs. */
const placesOf = (rows: (facts: Facts) => Row[]) =>
  rows(madeUp).map(({ name }, place) => ({ name, place }));

describe('NFT lookup', () => {
  it.each(placesOf(nftRows))('$name', ({ place }) =>
    checkRow(worker.fetch, nftRows(worker.facts)[place]!),
  );
});

const allWhiteFlagRows = (facts: Facts) => [...whiteFlagRows(facts), ...ledgerRows(facts)];

describe('white flag', () => {
  it.each(placesOf(allWhiteFlagRows))('$name', ({ place }) =>
    checkRow(worker.fetch, allWhiteFlagRows(worker.facts)[place]!),
  );
});

const read = async <T>(path: string) => (await (await worker.fetch(path)).json()) as T;

it('explains of each applied milestone what the reference decided', async () => {
  const seen = new Set<string>();
  for (let index = 1; index <= LEDGER_INDEX; index++) {
    const explained = await read<ExplainedMilestone>(`/api/edge/v1/whiteflag/${index}`);
    expect(explained).toMatchObject({ index, milestoneId: milestoneAt(network, index)!.id });
    const due = coneOf(network, index).map(({ id, referenced }, whiteFlagIndex) => {
      const { state, conflict } = referenced!;
      return [id, whiteFlagIndex, state, conflict, state === 'conflicting'];
    });
    expect(
      explained.blocks.map(({ blockId, ...block }) => [
        ...[blockId, block.whiteFlagIndex, block.ledgerInclusionState, block.conflictReason ?? 0],
        block.explanation !== undefined,
      ]),
    ).toEqual(due);
    for (const { payload, ledgerInclusionState } of explained.blocks)
      seen.add(`${payload} ${ledgerInclusionState}`);
  }
  for (const kind of ['milestone noTransaction', 'transaction conflicting', 'transaction included'])
    expect(seen).toContain(kind);
});

it('proves each block of an applied milestone, and answers for it again', async () => {
  for (const index of [2, 5, 50, LEDGER_INDEX]) {
    const milestone = readMilestone(milestoneAt(network, index)!.payload);
    for (const { id, bytes, referenced } of coneOf(network, index)) {
      const file = await read<BlockProof>(`/api/edge/v1/blocks/${id}/proof`);
      const parsed = parseBlock(bytes);
      if (!parsed.ok) throw new Error(parsed.reason);
      expect(file.milestone).toEqual(milestoneToJson(milestone));
      expect(file.block).toEqual(blockToJson(parsed.parsed.block));
      const leads = (proof: unknown, root: Uint8Array) => verifyPath(proof, fromHex(id), root);
      expect(leads(file.proof, milestone.inclusionMerkleRoot)).toEqual({ ok: true });
      expect(file.appliedProof !== undefined).toBe(referenced!.state === 'included');
      if (file.appliedProof !== undefined)
        expect(leads(file.appliedProof, milestone.appliedMerkleRoot)).toEqual({ ok: true });
    }
    const again = await worker.fetch(WHITE_FLAG, post(JSON.stringify(milestoneToJson(milestone))));
    expect(await again.json()).toEqual({
      inclusionMerkleRoot: toHex(milestone.inclusionMerkleRoot),
      appliedMerkleRoot: toHex(milestone.appliedMerkleRoot),
    });
  }
});

it.each([
  ['whiteflag/71', 404],
  ['whiteflag/4294967295', 404],
  ['whiteflag/4294967296', 400],
  ['whiteflag/-1', 400],
  ['whiteflag/1.0', 400],
  ['whiteflag/0x1', 400],
  ['whiteflag/latest', 400],
  [`blocks/${later}/proof`, 404],
  [`blocks/0x${'00'.repeat(32)}/proof`, 404],
  ['blocks/0x00/proof', 400],
  [`blocks/${later}`, 404],
])('/api/edge/v1/%s is %i', (path, status) =>
  expectError(worker.fetch, `/api/edge/v1/${path}`, status),
);

it(`${BAD_REQUESTS} random bad requests: never a 500, never a body outside the contract, never a hang`, {
  timeout: 900_000,
}, async () => {
  const options = { numRuns: BAD_REQUESTS, seed: freshRandom().u32() };
  const requests = fc.sample(badRequests(worker.facts), options).values();
  const failures: string[] = [];
  const ask = async () => {
    for (const request of requests) {
      const { path, init } = request;
      const signal = AbortSignal.timeout(10_000);
      try {
        const send = () => worker.fetch(path, { ...init, signal } as RequestInit);
        // workerd closes a connection after it refused a body unread; a client that was just about
        // to use it again asks once more
        const response = await send().catch(send);
        await checkAnswer(request, response);
      } catch (error) {
        failures.push(
          `${init.method} ${path.slice(0, 200)} ${JSON.stringify(init.headers)} ${error}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, ask));
  expect(failures).toEqual([]);
});
