/** POST /api/edge/v1/whiteflag at the border: statuses, headers, and the shape of the answer. */
import { describe, expect, it } from 'vitest';
import type { JudgedBlock, RefusalReason, WhiteFlagRequest } from '../../../src/node/edge-node.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { checkRow, post } from '../../support/http/contract.ts';
import { facts, fetchFrom, OpenCache } from '../../support/http/stub-node.ts';

const PATH = '/api/edge/v1/whiteflag';
const good = post(JSON.stringify(facts.whiteFlag));
const id = (byte: string) => byte.repeat(32);

const blocks: JudgedBlock[] = [
  {
    blockId: id('a1'),
    payload: 'taggedData',
    reason: undefined,
    transactionId: undefined,
    decided: undefined,
  },
  {
    blockId: id('a2'),
    payload: 'transaction',
    reason: 0,
    transactionId: id('b2'),
    decided: undefined,
  },
  {
    blockId: id('a3'),
    payload: 'transaction',
    reason: 2,
    transactionId: id('b3'),
    decided: { rule: 'L-1', input: { input: 1, outputId: `${id('c3')}0100`, spentBy: id('a2') } },
  },
  {
    blockId: id('a4'),
    payload: 'transaction',
    reason: 9,
    transactionId: id('b4'),
    decided: { rule: 'S2.8', input: { input: 0, outputId: `${id('c4')}0000`, spentBy: undefined } },
  },
  {
    blockId: id('a5'),
    payload: 'transaction',
    reason: 11,
    transactionId: id('b5'),
    decided: { rule: 'S3', output: { output: 2, outputId: `${id('b5')}0200` } },
  },
  {
    blockId: id('a6'),
    payload: 'transaction',
    reason: 4,
    transactionId: id('b6'),
    decided: { rule: 'S4.1' },
  },
];

function fetchWith(asked: WhiteFlagRequest[] = [], cache = new OpenCache()) {
  return fetchFrom({
    cache,
    node: {
      explainWhiteFlag: async (request) => {
        asked.push(request);
        return {
          ok: true,
          inclusionMerkleRoot: fromHex(facts.roots.inclusionMerkleRoot),
          appliedMerkleRoot: fromHex(facts.roots.appliedMerkleRoot),
          blocks,
        };
      },
    },
  });
}

it('tells verdict, reason, rule, and input or output of every block', async () => {
  const asked: WhiteFlagRequest[] = [];
  const cache = new OpenCache();
  const response = await fetchWith(asked, cache)(PATH, good);
  expect(response.headers.get('x-ledger-index')).toBe(String(facts.ledgerIndex));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({
    index: facts.whiteFlag.index,
    timestamp: facts.whiteFlag.timestamp,
    ...facts.roots,
    blocks: [
      {
        blockId: `0x${id('a1')}`,
        whiteFlagIndex: 0,
        payload: 'taggedData',
        ledgerInclusionState: 'noTransaction',
      },
      {
        blockId: `0x${id('a2')}`,
        whiteFlagIndex: 1,
        payload: 'transaction',
        ledgerInclusionState: 'included',
        transactionId: `0x${id('b2')}`,
      },
      {
        blockId: `0x${id('a3')}`,
        whiteFlagIndex: 2,
        payload: 'transaction',
        ledgerInclusionState: 'conflicting',
        conflictReason: 2,
        explanation: 'an input was spent earlier in this milestone',
        transactionId: `0x${id('b3')}`,
        rule: 'L-1',
        decidingInput: { input: 1, outputId: `0x${id('c3')}0100`, spentBy: `0x${id('a2')}` },
      },
      {
        blockId: `0x${id('a4')}`,
        whiteFlagIndex: 3,
        payload: 'transaction',
        ledgerInclusionState: 'conflicting',
        conflictReason: 9,
        explanation: 'an unlock is not the one that its input needs',
        transactionId: `0x${id('b4')}`,
        rule: 'S2.8',
        decidingInput: { input: 0, outputId: `0x${id('c4')}0000` },
      },
      {
        blockId: `0x${id('a5')}`,
        whiteFlagIndex: 4,
        payload: 'transaction',
        ledgerInclusionState: 'conflicting',
        conflictReason: 11,
        explanation: 'a sender is not unlocked',
        transactionId: `0x${id('b5')}`,
        rule: 'S3',
        decidingOutput: { output: 2, outputId: `0x${id('b5')}0200` },
      },
      {
        blockId: `0x${id('a6')}`,
        whiteFlagIndex: 5,
        payload: 'transaction',
        ledgerInclusionState: 'conflicting',
        conflictReason: 4,
        explanation: 'inputs and outputs differ in base tokens',
        transactionId: `0x${id('b6')}`,
        rule: 'S4.1',
      },
    ],
  });
  expect(asked.map(({ index }) => index)).toEqual([facts.whiteFlag.index]);
  expect(cache.kept.size).toBe(0);
});

describe('refusals are those of the white flag', () => {
  it.each<[RefusalReason, 400 | 404 | 500]>([
    ['impossible', 400],
    ['unknown', 404],
    ['failed', 500],
  ])('%s: %i', async (reason, status) => {
    const fetch = fetchFrom({
      node: { explainWhiteFlag: async () => ({ ok: false, reason, detail: 'because' }) },
    });
    const headers = {
      'x-error-detail': 'because',
      'x-ledger-index': status === 404 ? String(facts.ledgerIndex) : null,
    };
    await checkRow(fetch, { name: '', path: PATH, init: good, status, headers });
  });

  it('a bad body, another method, too many', async () => {
    const fetch = fetchWith();
    await checkRow(fetch, { name: '', path: PATH, init: post('{}'), status: 400 });
    await checkRow(fetch, { name: '', path: PATH, status: 405 });
    const limited = fetchFrom({
      settings: { whiteFlagLimit: { limit: async () => ({ success: false }) } },
    });
    await checkRow(limited, { name: '', path: PATH, init: good, status: 429 });
  });
});
