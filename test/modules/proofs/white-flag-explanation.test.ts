/** POST /api/edge/v1/whiteflag at the border: statuses, headers, and the shape of the answer. */

import { describe, expect, it, vi } from 'vitest';
import { jsonAnswer } from '../../../src/http/answer.ts';
import { createApp } from '../../../src/http/app.ts';
import type { Route } from '../../../src/http/route.ts';
import { NO_LEDGER } from '../../../src/ledger/core/head.ts';
import type { JudgedBlock } from '../../../src/modules/proofs/explain-white-flag.ts';
import { proofs } from '../../../src/modules/proofs/module.ts';
import { whiteFlagExplanationRoutes } from '../../../src/modules/proofs/routes/white-flag-explanation.ts';
import type { RefusalReason, WhiteFlagRequest } from '../../../src/node/compute-white-flag.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import type { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { defaultSettings } from '../../support/default-settings.ts';
import { expectError, post } from '../../support/http/contract.ts';
import { facts, fetchFrom } from '../../support/http/stub-node.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { countingOverlaps } from '../../support/ledger/overlapping-reads.ts';

const PATH = '/api/edge/v1/whiteflag';
const good = post(JSON.stringify(facts.whiteFlag));
const id = (byte: string) => byte.repeat(32);

const tx = (n: number) => id(`b${n}`);
const outputOf = (transaction: string, index: number) => `${transaction}0${index}00`;

/** Verdicts, each with what is told of it besides ID and place. */
const JUDGED: readonly [Omit<JudgedBlock, 'blockId'>, told: object][] = [
  [
    { payload: 'taggedData', reason: undefined, transactionId: undefined, decided: undefined },
    { payload: 'taggedData', ledgerInclusionState: 'noTransaction' },
  ],
  [
    { payload: 'transaction', reason: 0, transactionId: tx(2), decided: undefined },
    { ...transaction(2), ledgerInclusionState: 'included' },
  ],
  [
    conflict(2, 3, {
      rule: 'L-1',
      input: { input: 1, outputId: outputOf(id('c3'), 1), spentBy: id('a2') },
    }),
    {
      ...conflicting(3, 2, 'an input was spent earlier in this milestone', 'L-1'),
      decidingInput: { input: 1, outputId: `0x${id('c3')}0100`, spentBy: `0x${id('a2')}` },
    },
  ],
  [
    conflict(9, 4, {
      rule: 'S2.8',
      input: { input: 0, outputId: outputOf(id('c4'), 0), spentBy: undefined },
    }),
    {
      ...conflicting(4, 9, 'an unlock is not the one that its input needs', 'S2.8'),
      decidingInput: { input: 0, outputId: `0x${id('c4')}0000` },
    },
  ],
  [
    conflict(11, 5, { rule: 'S3', output: { output: 2, outputId: outputOf(tx(5), 2) } }),
    {
      ...conflicting(5, 11, 'a sender is not unlocked', 'S3'),
      decidingOutput: { output: 2, outputId: `0x${tx(5)}0200` },
    },
  ],
  [
    conflict(4, 6, { rule: 'S4.1' }),
    conflicting(6, 4, 'inputs and outputs differ in base tokens', 'S4.1'),
  ],
];

function conflict(reason: ConflictReason, n: number, decided: JudgedBlock['decided']) {
  return { payload: 'transaction', reason, transactionId: tx(n), decided } as const;
}

function transaction(n: number) {
  return { payload: 'transaction', transactionId: `0x${tx(n)}` };
}

function conflicting(n: number, conflictReason: number, explanation: string, rule: string) {
  const told = { ...transaction(n), ledgerInclusionState: 'conflicting' };
  return { ...told, conflictReason, explanation, rule };
}

const blocks = JUDGED.map(([judged], i): JudgedBlock => ({ blockId: id(`a${i + 1}`), ...judged }));

/** A node that answers so to each proposal, whatever is computed of it. */
function answering(answer: object, asked: WhiteFlagRequest[] = []): Partial<EdgeNode> {
  const answerProposal = async (request: WhiteFlagRequest) => {
    asked.push(request);
    return answer;
  };
  return { answerProposal } as unknown as Partial<EdgeNode>;
}

function fetchWith(asked: WhiteFlagRequest[] = []) {
  const { inclusionMerkleRoot, appliedMerkleRoot } = facts.roots;
  const explanation = {
    ok: true,
    inclusionMerkleRoot: fromHex(inclusionMerkleRoot),
    appliedMerkleRoot: fromHex(appliedMerkleRoot),
    blocks,
  };
  return fetchFrom({ node: answering(explanation, asked) });
}

it('tells verdict, reason, rule, and input or output of every block', async () => {
  const asked: WhiteFlagRequest[] = [];
  const response = await fetchWith(asked)(PATH, good);
  expect(response.headers.get('x-ledger-index')).toBe(String(facts.ledgerIndex));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({
    index: facts.whiteFlag.index,
    timestamp: facts.whiteFlag.timestamp,
    ...facts.roots,
    blocks: JUDGED.map(([, told], whiteFlagIndex) => {
      return { blockId: `0x${id(`a${whiteFlagIndex + 1}`)}`, whiteFlagIndex, ...told };
    }),
  });
  expect(asked.map(({ index }) => index)).toEqual([facts.whiteFlag.index]);
});

describe('refusals are those of the white flag', () => {
  it.each<[RefusalReason, 400 | 404 | 500]>([
    ['impossible', 400],
    ['unknown', 404],
    ['failed', 500],
  ])('%s: %i', async (reason, status) => {
    const fetch = fetchFrom({ node: answering({ ok: false, reason, detail: 'because' }) });
    const headers = {
      'x-error-detail': 'because',
      'x-ledger-index': status === 404 ? String(facts.ledgerIndex) : null,
    };
    await expectError(fetch, PATH, status, good, headers);
  });

  it('a bad body, another method, too many', async () => {
    const fetch = fetchWith();
    await expectError(fetch, PATH, 400, post('{}'));
    const float = JSON.stringify(facts.whiteFlag).replace(/"index":\d+/, '$&.0');
    await expectError(fetch, PATH, 400, post(float));
    await expectError(fetch, PATH, 405);
    const limited = fetchFrom({
      settings: { scanLimit: { limit: async () => ({ success: false }) } },
    });
    await expectError(limited, PATH, 429, good);
  });
});

const rules = { keys: { keys: [], threshold: 1 }, verify: async () => false };

it('has the one place of explanations for its own reads, and not while it waits', async () => {
  const { db, most } = countingOverlaps(await openMemory());
  const { promise: follower, resolve: caughtUp } = Promise.withResolvers<void>();
  const answerProposal: EdgeNode['answerProposal'] = async (asked, client, compute) => {
    if (client.startsWith('192.')) await follower;
    return compute(db, asked, { rules });
  };
  const fetch = fetchFrom({ node: { answerProposal }, settings: { oneIsolate: true } });
  const ask = async (address: string) => {
    const response = await fetch(PATH, { ...good, headers: { 'cf-connecting-ip': address } });
    return [response.status, response.headers.get('x-error-detail')];
  };
  const waiting = [ask('192.0.2.1'), ask('192.0.2.2')];
  expect(await ask('198.51.100.1')).toEqual([500, NO_LEDGER]);
  caughtUp();
  expect(await Promise.all(waiting)).toEqual([
    [500, NO_LEDGER],
    [500, NO_LEDGER],
  ]);
  expect(most()).toBe(1);
});

it('goes on in its place though the client has gone, so that the place is free in time', async () => {
  const { promise: explained, resolve: end } = Promise.withResolvers<void>();
  const answerProposal: EdgeNode['answerProposal'] = async (asked, _client, compute, inPlace) => {
    await inPlace!(() => explained);
    return compute(await openMemory(), asked, { rules });
  };
  const settings = { ...defaultSettings({ ASSETS: {} }), oneIsolate: true };
  const node = { answerProposal } as unknown as EdgeNode;
  const app = createApp({ settings, node, modules: [proofs] });
  const kept: Promise<unknown>[] = [];
  const ctx = { waitUntil: (work: Promise<unknown>) => kept.push(work) };
  const answer = app.fetch(new Request(`http://edge.example${PATH}`, good), ctx as never);
  await vi.waitFor(() => expect(kept).toHaveLength(1));
  end();
  expect((await answer).status).toBe(500);
  // that of the explanation
  expect(kept).toHaveLength(2);
  await Promise.all(kept);
});

it('leaves the place of scans, whose rate limit it has, to these', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const list: Route = {
    method: 'GET',
    path: '/api/core/v2/milestones/by-index/:index/utxo-changes',
    limit: 'scanLimit',
    handle: async () => jsonAnswer({ index: 7, consumedOutputs: [], createdOutputs: [] }),
  };
  const { inclusionMerkleRoot, appliedMerkleRoot } = facts.roots;
  const answer = { index: 17_340, timestamp: 0, blocks: [] };
  const explanation: Route = {
    ...whiteFlagExplanationRoutes.explainWhiteFlag,
    async handle() {
      await promise;
      return jsonAnswer({ ...answer, inclusionMerkleRoot, appliedMerkleRoot });
    },
  };
  const modules = [{ name: 'both', routes: { explanation, list } }];
  const fetch = fetchFrom({ settings: { oneIsolate: true }, modules });
  const explained = fetch(PATH, { method: 'POST' });
  expect((await fetch('/api/core/v2/milestones/by-index/1/utxo-changes')).status).toBe(200);
  resolve();
  expect((await explained).status).toBe(200);
});
