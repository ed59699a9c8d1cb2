/**
 * The contract (docs/contract.md) over real HTTP, against the built Worker with a ledger of a
 * recorded network.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { verifyPath } from '../../src/stardust/proof/proof.ts';
import { badRequests, checkAnswer } from '../support/http/bad-requests.ts';
import {
  checkRow,
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

/** What is read of answers, which are held against openapi.json as a whole. */
interface ExplainedMilestone {
  blocks: { blockId: string; ledgerInclusionState: string }[];
}
interface BlockProof {
  milestone: { inclusionMerkleRoot: string; appliedMerkleRoot: string };
  proof: unknown;
  appliedProof?: unknown;
}

const BAD_REQUESTS = Number(process.env.BAD_REQUESTS ?? 1000);

const LEDGER_INDEX = 70;
let worker: RunningWorker;

beforeAll(async () => {
  worker = await runWorker('network-a', LEDGER_INDEX);
}, 120_000);
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

it('explains and proves an applied milestone, and answers for it again', async () => {
  const read = async <T>(path: string) => (await (await worker.fetch(path)).json()) as T;
  for (const index of [5, LEDGER_INDEX]) {
    const { blocks } = await read<ExplainedMilestone>(`/api/edge/v1/whiteflag/${index}`);
    for (const { blockId, ledgerInclusionState } of blocks) {
      const { milestone, proof, appliedProof } = await read<BlockProof>(
        `/api/edge/v1/blocks/${blockId}/proof`,
      );
      const { inclusionMerkleRoot, appliedMerkleRoot } = milestone;
      expect(verifyPath(proof, fromHex(blockId), fromHex(inclusionMerkleRoot))).toEqual({
        ok: true,
      });
      expect(appliedProof !== undefined).toBe(ledgerInclusionState === 'included');
      if (appliedProof !== undefined) {
        expect(verifyPath(appliedProof, fromHex(blockId), fromHex(appliedMerkleRoot))).toEqual({
          ok: true,
        });
      }
      const again = await worker.fetch(WHITE_FLAG, post(JSON.stringify(milestone)));
      expect(await again.json()).toEqual({ inclusionMerkleRoot, appliedMerkleRoot });
    }
  }
});

it(`${BAD_REQUESTS} random bad requests: never a 500, never a body outside the contract, never a hang`, {
  timeout: 180_000,
}, async () => {
  const requests = fc.sample(badRequests(worker.facts), BAD_REQUESTS).values();
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
